"""Texts as sequences of symbols: words or characters, each distinct one a number.

codes    uint32, one for each position of a text, an index into `names`
lengths  int32, how many positions each text has; n-grams never cross from one text into the next
names    the distinct symbols, sorted; shared by all blocks
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import Stemmer

from untwin.data.texts import on_all_cores, text_blocks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from untwin._types import Integers
    from untwin.data.texts import Cleaner

WORDS_OF_TWO_OR_MORE = r"(?u)\b\w\w+\b"
BETWEEN_SPACES = r"\S+"
# What Python takes for white space; Rust leaves four control characters out.
SPACE, NO_SPACE = r"[\s\x1c-\x1f]", r"[^\s\x1c-\x1f]"


@dataclass(frozen=True, slots=True)
class SymbolBlock:
    """The symbols of some consecutive texts."""

    codes: NDArray[np.uint32]
    lengths: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Symbols:
    """The symbols of all texts, in blocks, with the names of the symbols."""

    blocks: list[SymbolBlock]
    names: pl.Series


@dataclass(frozen=True, slots=True)
class Words:
    """Reads texts as words: matches of `pattern`, less `stop_words`, each distinct word stemmed once."""

    pattern: str
    stop_words: Collection[str] = ()
    stemmer: str | None = None
    separator = " "

    def read(self, texts: Iterable[pl.Series], clean: Cleaner) -> Symbols:
        """Tokenise blocks of texts on all cores."""
        pattern = _check_pattern(self.pattern)
        kind = pl.Categories.random()
        memory = pl.Series([""], dtype=pl.Categorical(kind))  # Polars forgets categories that no column refers to

        def tokenize(block: pl.Series) -> tuple[NDArray[np.uint32], NDArray[np.integer]]:
            tokens = clean(block).str.extract_all(pattern)
            words = tokens.explode(empty_as_null=False).cast(memory.dtype)
            return words.to_physical().to_numpy(), tokens.list.len().to_numpy()

        found = on_all_cores(tokenize, texts)
        new_code, names = self._symbols_of(kind.to_series())
        found.reverse()  # each block is let go as soon as it has its new codes
        return Symbols([_keep_words(new_code, *found.pop()) for _ in range(len(found))], names)

    def read_tokens(self, tokens: Symbols) -> Symbols:
        """Return the words of texts that have been cut at spaces already: each distinct token is read once."""
        found = self.read(text_blocks(tokens.names), lambda names: names)
        words = np.concatenate([block.codes for block in found.blocks] or [np.empty(0, np.uint32)])
        sizes = np.concatenate([block.lengths for block in found.blocks] or [np.empty(0, np.int32)])
        starts = np.cumsum(sizes) - sizes

        def spread(block: SymbolBlock) -> SymbolBlock:
            own = sizes[block.codes]
            lengths = np.bincount(number_runs(block.lengths), weights=own, minlength=len(block.lengths))
            return SymbolBlock(words[join_ranges(starts[block.codes], own)], lengths.astype(np.int32))

        return Symbols(on_all_cores(spread, tokens.blocks), found.names)

    def _symbols_of(self, words: pl.Series) -> tuple[NDArray[np.int32], pl.Series]:
        """Return the code of each distinct word (-1: a stop word) and the sorted names behind the codes."""
        if _n_groups(self.pattern):
            words = words.str.extract(self.pattern, 1)
        # Two threads that meet at a new word can leave a number without a word; "" is no word.
        used = ~(words.is_null() | words.is_in(["", *self.stop_words])).to_numpy()
        wanted = words.filter(used)
        if self.stemmer is not None:
            stemmer = Stemmer.Stemmer(self.stemmer, 0)  # no cache: no word comes twice
            wanted = pl.Series(stemmer.stemWords(wanted.to_list()), dtype=pl.String)
        new_code = np.full(len(words), -1, dtype=np.int32)
        names, new_code[used] = rank_names(wanted)
        return new_code, names


@dataclass(frozen=True, slots=True)
class Characters:
    """Reads texts as characters."""

    separator = ""

    def read(self, texts: Iterable[pl.Series], clean: Cleaner) -> Symbols:
        """Take blocks of texts apart on all cores."""

        def split(block: pl.Series) -> SymbolBlock:
            cleaned = clean(block).str.replace_all(f"{SPACE}{{2,}}", " ")
            points = np.frombuffer("".join(cleaned.to_list()).encode("utf-32-le"), dtype=np.uint32)
            return SymbolBlock(points, cleaned.str.len_chars().cast(pl.Int32).to_numpy())

        found = on_all_cores(split, texts)
        used = np.zeros(sys.maxunicode + 1, dtype=bool)
        for block in found:
            used[block.codes] = True
        new_code = np.cumsum(used, dtype=np.uint32) - np.uint32(1)
        blocks = [replace(block, codes=new_code[block.codes]) for block in found]
        return Symbols(blocks, pl.Series(list(map(chr, np.flatnonzero(used).tolist())), dtype=pl.String))


def _check_pattern(pattern: str) -> str:
    """Return the pattern that finds the same words as `pattern`, fast; refuse what cannot be run faithfully."""
    if pattern == WORDS_OF_TWO_OR_MORE:
        # A greedy match ends at the border of the word by itself, and Rust is slow at Unicode borders.
        return r"\w\w+"
    pattern = re.sub(r"\\(.)", lambda escape: {"s": SPACE, "S": NO_SPACE}.get(escape[1], escape[0]), pattern)
    try:
        found = pl.Series(["", "ab cd"]).str.extract_all(pattern)
    except pl.exceptions.ComputeError as error:
        raise ValueError(_why_refused(pattern, str(error))) from None
    if _n_groups(pattern) > 1:
        raise ValueError(f"token_pattern must have at most one capturing group. Got {pattern!r} instead.")
    if "" in found.explode(empty_as_null=False).to_list():
        raise ValueError(f"token_pattern must not match the empty string. Got {pattern!r} instead.")
    return pattern


def _n_groups(pattern: str) -> int:
    return len(pl.Series([""]).str.extract_groups(pattern).struct.fields)


def _why_refused(pattern: str, message: str) -> str:
    """Turn the drawing of a regular-expression error into a sentence that names the construct."""
    lines = message.splitlines()
    carets = next((line for line in lines if line.strip() and not line.strip(" ^")), "")
    reason = next((line.removeprefix("error: ") for line in lines if line.startswith("error: ")), "it is not valid")
    start = carets.find("^") - 4
    construct = pattern[start : start + carets.count("^")] if start >= 0 else pattern
    return f"token_pattern must be a regular expression that Rust can run. Got {construct!r} in {pattern!r}: {reason}."


def rank_names(names: pl.Series) -> tuple[pl.Series, Integers]:
    """Return the distinct names, sorted, and for each name its place among them.

    >>> distinct, places = rank_names(pl.Series(["b", "a", "b"]))
    >>> distinct.to_list(), places.tolist()
    (['a', 'b'], [1, 0, 1])
    """
    order = names.arg_sort().to_numpy()
    ordered = names.gather(order)
    is_new = (ordered != ordered.shift(1)).fill_null(value=True).to_numpy()
    places = np.empty(len(names), dtype=np.int64)
    places[order] = np.cumsum(is_new) - 1
    return ordered.filter(is_new), places


def number_runs(lengths: NDArray[np.integer]) -> NDArray[np.int32]:
    """Return for each position the number of the run it lies in.

    >>> number_runs(np.array([2, 0, 1])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)


def join_ranges(starts: Integers, sizes: Integers) -> Integers:
    """Return the numbers `start`, `start` + 1, ... of each range, one range after the other.

    >>> join_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    numbers = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    numbers += np.arange(len(numbers))
    return numbers


def _keep_words(new_code: NDArray[np.int32], words: NDArray[np.uint32], lengths: NDArray[np.integer]) -> SymbolBlock:
    """Return the block of the words that are wanted, under their new codes."""
    codes = new_code[words]
    kept = codes >= 0
    if not kept.all():
        lengths = np.bincount(number_runs(lengths)[kept], minlength=len(lengths))
        codes = codes[kept]
    return SymbolBlock(codes.view(np.uint32), lengths.astype(np.int32))
