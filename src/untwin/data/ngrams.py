"""Symbols to counted n-grams, one length after the other; no n-gram is ever a string until it is distinct.

An n-gram is the pair (the (n-1)-gram before, its last symbol). Every distinct pair gets a number, so the strings of a
million positions are one array of numbers, and only distinct n-grams are ever spelled out.

The n-grams inside words are counted once for each distinct word; the words of a text then stand for their n-grams.

key     uint64 or uint32, two numbers side by side: (prefix, symbol), (row, gram) or (key, place); sorting keys sorts
        pairs. NumPy sorts values many times as fast as it finds the order of values
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from untwin.data.symbols import join_ranges, number_runs
from untwin.data.texts import on_all_cores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from untwin._types import Array, Flags, Integers
    from untwin.data.symbols import SymbolBlock, Symbols


@dataclass(frozen=True, slots=True)
class Level:
    """The n-grams of one length: what they are made of, and how often each occurs in each row of each block."""

    prefixes: NDArray[np.uint32]
    symbols: NDArray[np.uint32]
    cells: list[GramCounts]

    def matrix(self, columns: NDArray[np.integer], shape: tuple[int, int], dtype: Any) -> csr_array:
        """Return the counts with gram g in column `columns[g]`; grams of column -1 are left out."""
        all_wanted = columns.size == 0 or columns.min() >= 0
        parts = self.cells if all_wanted else [part.only(columns >= 0) for part in self.cells]
        return _stack(parts, columns, shape, dtype)


@dataclass(frozen=True, slots=True)
class GramCounts:
    """Sparse counts of a block, row by row: the distinct grams of each row, and how often."""

    per_row: Integers
    grams: NDArray[np.uint32]
    counts: NDArray[np.int32]

    def only(self, wanted: Flags) -> GramCounts:
        """Keep the cells of `wanted` grams."""
        keep = wanted[self.grams]
        per_row = np.bincount(number_runs(self.per_row)[keep], minlength=len(self.per_row))
        return GramCounts(per_row, self.grams[keep], self.counts[keep])


@dataclass(frozen=True, slots=True)
class _Windows:
    """All windows of one length in a block: where they start (a slice: everywhere), and which n-gram they show."""

    starts: NDArray[np.int32] | slice
    grams: NDArray[np.uint32]


def count_ngrams(symbols: Symbols, shortest: int, longest: int, *, short_texts: bool = False) -> list[Level]:
    """Count the n-grams of `shortest` to `longest` symbols; lengths below `shortest` come back with empty cells.

    With `short_texts` a text shorter than `shortest` counts once as a whole.
    """
    blocks = symbols.blocks
    every = np.arange(len(symbols.names), dtype=np.uint32)
    windows = [_Windows(slice(None), block.codes) for block in blocks]
    levels = [Level(every, every, _count_windows(1, blocks, windows, shortest, short_texts=short_texts))]
    bits = len(every).bit_length()
    for length in range(2, longest + 1):
        windows, prefixes, ends = _longer(blocks, windows, length, bits)
        cells = _count_windows(length, blocks, windows, shortest, short_texts=short_texts)
        levels.append(Level(prefixes, ends, cells))
    return levels


def spell_out(levels: list[Level], names: pl.Series, separator: str) -> list[pl.Series]:
    """Return the n-grams of every level as strings."""
    texts = [names]
    for level in levels[1:]:
        parts = [texts[-1].gather(level.prefixes), names.gather(level.symbols)]
        texts.append(pl.select(pl.concat_str(parts, separator=separator)).to_series())
    return texts


def count_inside(blocks: list[SymbolBlock], inside: csr_array, dtype: Any) -> csr_array:
    """Return how often each n-gram occurs in each text, when row w of `inside` counts the n-grams of word w.

    This is (texts x words) @ (words x n-grams). Repeating the n-grams of each word and sorting them is faster than
    SciPy's product, which leaves rows unsorted; beside the result, only the n-grams of a few blocks are in memory.
    """
    grams = np.repeat(inside.indices.astype(np.uint32), inside.data)
    sizes = inside.sum(axis=1)
    starts = np.cumsum(sizes) - sizes

    def count(block: SymbolBlock) -> GramCounts:
        repeats = sizes[block.codes]
        row_of = np.repeat(number_runs(block.lengths), repeats)
        return _count_grams(row_of, grams[join_ranges(starts[block.codes], repeats)], len(block.lengths))

    cells = on_all_cores(count, blocks)
    shape = (sum(len(block.lengths) for block in blocks), inside.shape[1])
    return _stack(cells, np.arange(inside.shape[1]), shape, dtype)


def _stack(parts: list[GramCounts], columns: NDArray[np.integer], shape: tuple[int, int], dtype: Any) -> csr_array:
    """Put the blocks one below the other, gram g in column `columns[g]`."""
    ends = np.cumsum(np.concatenate([[0], *(part.per_row for part in parts)]))
    kind = np.int64 if ends[-1] > np.iinfo(np.int32).max else np.int32
    columns = columns.astype(kind)
    indices, counts = np.empty(ends[-1], kind), np.empty(ends[-1], dtype)
    filled = 0
    for part in parts:
        place = slice(filled, filled + len(part.grams))
        indices[place], counts[place] = columns[part.grams], part.counts
        filled = place.stop
    result = csr_array((counts, indices, ends.astype(kind)), shape=shape)
    result.sum_duplicates()
    return result


def _longer(
    blocks: list[SymbolBlock], windows: list[_Windows], length: int, bits: int
) -> tuple[list[_Windows], NDArray[np.uint32], NDArray[np.uint32]]:
    """Grow every window by one symbol (of `bits` bits) and number the distinct n-grams over all blocks."""

    def grow(pair: tuple[SymbolBlock, _Windows]) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.uint32]]:
        block, shown = pair
        runs = number_runs(block.lengths)
        starts = np.arange(len(runs), dtype=np.int32)[shown.starts]
        fits = starts < len(runs) - (length - 1)
        starts = starts[fits]
        fits[fits] = inside = runs[starts] == runs[starts + (length - 1)]
        starts = starts[inside]
        return starts, *_number(_join_pairs(shown.grams[fits], block.codes[starts + (length - 1)], bits))

    grown = on_all_cores(grow, zip(blocks, windows, strict=True))
    keys, places = _number(np.concatenate([distinct for _, distinct, _ in grown] or [np.empty(0, np.uint64)]))
    ends = np.cumsum([len(distinct) for _, distinct, _ in grown])
    longer = [
        _Windows(starts, places[end - len(distinct) : end][grams])
        for (starts, distinct, grams), end in zip(grown, ends, strict=True)
    ]
    return longer, *_split_pairs(keys, bits)


def _count_windows(
    length: int, blocks: list[SymbolBlock], windows: list[_Windows], shortest: int, *, short_texts: bool
) -> list[GramCounts]:
    """Count the windows of one length: all of them, or below `shortest` only those that are a whole short text."""

    def count(pair: tuple[SymbolBlock, _Windows]) -> GramCounts:
        block, shown = pair
        row_of = number_runs(block.lengths)[shown.starts]
        if length >= shortest:
            return _count_grams(row_of, shown.grams, len(block.lengths))
        whole = (block.lengths == length)[row_of] & short_texts
        return _count_grams(row_of[whole], shown.grams[whole], len(block.lengths))

    return on_all_cores(count, zip(blocks, windows, strict=True))


def _count_grams(rows: NDArray[np.int32], grams: NDArray[np.uint32], n_rows: int) -> GramCounts:
    bits = int(grams.max(initial=0)).bit_length()
    fits = (n_rows << bits) >> 32 == 0  # 32-bit keys are sorted several times as fast as 64-bit ones
    keys = np.sort(_join_pairs(rows, grams, bits, np.uint32) if fits else _join_pairs(rows, grams))
    firsts = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
    counts = np.diff(firsts, append=len(keys)).astype(np.int32)
    distinct_rows, distinct_grams = _split_pairs(keys[firsts], bits if fits else 32)
    return GramCounts(np.bincount(distinct_rows, minlength=n_rows), distinct_grams, counts)


def _number(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Return the distinct keys, sorted, and for each key its number among them."""
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > 64:  # key and place do not fit side by side
        distinct, places = np.unique(keys, return_inverse=True)
        return distinct, places.astype(np.uint32)
    pairs = _join_pairs(keys, np.arange(len(keys), dtype=np.uint64), bits)
    pairs.sort()
    order = pairs & np.uint64((1 << bits) - 1)
    pairs >>= np.uint64(bits)
    is_new = np.diff(pairs, prepend=~pairs[:1]) != 0
    numbers = np.empty(len(keys), dtype=np.uint32)
    numbers[order] = np.cumsum(is_new, dtype=np.uint32) - np.uint32(1)
    return pairs[is_new], numbers


def _join_pairs(high: NDArray[np.integer], low: NDArray[np.integer], bits: int = 32, kind: Any = np.uint64) -> Array:
    keys: Array = high.astype(kind)
    np.left_shift(keys, kind(bits), out=keys)
    np.bitwise_or(keys, low, out=keys)
    return keys


def _split_pairs(keys: Array, bits: int = 32) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    low = keys & keys.dtype.type((1 << bits) - 1)
    return (keys >> keys.dtype.type(bits)).astype(np.uint32), low.astype(np.uint32)
