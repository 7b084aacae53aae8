"""`KnownTerms`: the terms of vocabularies counted in many texts, as `TextCounts` counts them, several times as fast.

Texts are cleaned by Polars, block by block; compiled loops look the terms up (`known_runs.py`). What a character of a
word is, and what white space is, is asked of Polars, too: once for each character that occurs.
"""

from __future__ import annotations

import secrets
from dataclasses import astuple
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
import Stemmer

from untwin.answer.fixed_point import CountedRows
from untwin.data import known_runs as runs
from untwin.data.symbols import SPACE
from untwin.data.texts import cleaner, on_all_cores, text_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from untwin._types import Array
    from untwin.answer.counting import Vocabulary

N_POINTS = 0x110000
MOST_WORDS = 1 << 18  # whose symbols are remembered from block to block


class _Block(NamedTuple):
    """Some cleaned texts: all together, as code points, and where each begins."""

    text: str
    points: Array
    starts: Array


class KnownTerms:
    """Counts the terms of vocabularies in many texts, on all cores.

    >>> from untwin.answer.counting import Vocabulary
    >>> from untwin.answer.terms import TermReader
    >>> words = Vocabulary(TermReader("word", 1, 2), ["red", "red bus"], np.array([0, 1]))
    >>> letters = Vocabulary(TermReader("char_wb", 3, 3), ["red", "bus"], np.array([2, 3]))
    >>> starts, columns, counts = KnownTerms((words, letters)).count(["A red bus is red.", "Buses"])
    >>> starts.tolist(), columns.tolist(), counts.tolist()
    ([0, 4, 5], [0, 1, 2, 3, 3], [2, 1, 2, 1, 1])
    """

    def __init__(self, vocabularies: Sequence[Vocabulary]) -> None:
        self.vocabularies = vocabularies

    def count(self, texts: list[str]) -> CountedRows:
        """Return the counts of the terms that the vocabularies have."""
        counted = on_all_cores(self._count_block, text_blocks(texts))
        if len(counted) == 1:
            return counted[0]
        ends = np.cumsum([0, *(len(rows.columns) for rows in counted)])
        starts = [
            np.zeros(1, dtype=np.int64),
            *(rows.starts[1:] + end for rows, end in zip(counted, ends, strict=False)),
        ]
        parts = list(zip(*counted, strict=True)) or [(), (), ()]
        columns, counts = (np.concatenate([np.empty(0, dtype=np.int64), *part]) for part in parts[1:])
        return CountedRows(np.concatenate(starts), columns, counts)

    @cached_property
    def _counters(self) -> list[_Words | _Characters]:
        width = 1 + max((int(one.columns.max(initial=-1)) for one in self.vocabularies), default=-1)
        return [
            _Words(one, width) if one.reader.analyzer == "word" else _Characters(one, width)
            for one in self.vocabularies
        ]

    @cached_property
    def _kinds(self) -> Array:
        return np.zeros(N_POINTS, dtype=np.uint8)

    def _count_block(self, texts: pl.Series) -> CountedRows:
        cleaned = cleaner(lowercase=True, strip_accents=None)(texts)
        text = "".join(cleaned.to_list())
        starts = np.cumsum([0, *cleaned.str.len_chars().to_list()], dtype=np.int64)
        block = _Block(text, _points([text]), starts)
        self._look_at(block.points)
        first, *others = (counter.count(block, self._kinds) for counter in self._counters)
        for other in others:
            first = CountedRows(*runs.join_counts(first, other))
        return first

    def _look_at(self, points: Array) -> None:
        """Ask what characters are that have not occurred so far."""
        new = points[self._kinds[points] == runs.UNSEEN]
        if not len(new):
            return
        new = np.unique(new)
        characters = pl.Series(list(map(chr, new.tolist())), dtype=pl.String)
        in_words, space = (characters.str.contains(f"^{pattern}$").to_numpy() for pattern in (r"\w", SPACE))
        self._kinds[new] = np.select([in_words, space], [runs.IN_WORDS, runs.SPACE], runs.OTHER)


class _Characters:
    """Counts runs of characters, inside words or across them."""

    def __init__(self, vocabulary: Vocabulary, width: int) -> None:
        self.width, self.inside = width, vocabulary.reader.analyzer == "char_wb"
        self.tree = _tree(vocabulary, list(map(len, vocabulary.terms)), _points, whole_if_short=self.inside)

    def count(self, block: _Block, kinds: Array) -> CountedRows:
        """Return the counts of a block."""
        cut = runs.cut_at_spaces if self.inside else runs.join_spaces
        return CountedRows(*runs.count_runs(self.tree, *cut(block.points, block.starts, kinds), self.width))


class _Words:
    """Counts runs of words, or of their stems."""

    def __init__(self, vocabulary: Vocabulary, width: int) -> None:
        self.width, self.stemmer = width, vocabulary.reader.stemmer
        self.symbols: dict[str, int] = {}
        lengths = [term.count(" ") + 1 for term in vocabulary.terms]
        self.tree = _tree(vocabulary, lengths, self._spell, whole_if_short=False)
        self.known: dict[str, int] = {}

    def count(self, block: _Block, kinds: Array) -> CountedRows:
        """Return the counts of a block."""
        first, last, bounds = runs.find_words(block.points, block.starts, kinds)
        numbers, spelled = runs.number_words(block.points, first, last, self.tree.factor)
        text, cuts = block.text, zip(first[spelled].tolist(), last[spelled].tolist(), strict=True)
        symbols = self._symbols_of([text[begin:end] for begin, end in cuts])
        per_row = np.ones(len(bounds) - 1, dtype=np.int64)
        return CountedRows(*runs.count_runs(self.tree, symbols[numbers], bounds, per_row, self.width))

    def _spell(self, terms: list[str]) -> Array:
        symbols = self.symbols
        words = (symbols.setdefault(word, len(symbols)) for term in terms for word in term.split(" "))
        return np.fromiter(words, dtype=np.int32)

    def _symbols_of(self, words: list[str]) -> Array:
        """Return the number of each word, or of its stem; -1 for words of no term."""
        if len(self.known) > MOST_WORDS:
            self.known = {}
        known = self.known  # words are only added, so that threads may share it
        new = [word for word in words if word not in known]
        stems = new if self.stemmer is None else Stemmer.Stemmer(self.stemmer, 0).stemWords(new)
        known.update((word, self.symbols.get(stem, -1)) for word, stem in zip(new, stems, strict=True))
        return np.fromiter(map(known.__getitem__, words), dtype=np.int32, count=len(words))


def _points(texts: list[str]) -> Array:
    """Return the code points of texts, one text after the other."""
    return np.frombuffer("".join(texts).encode("utf-32-le"), dtype=np.int32)


def _tree(
    vocabulary: Vocabulary, lengths: list[int], spell: Callable[[list[str]], Array], *, whole_if_short: bool
) -> runs.RunTree:
    """Return a tree of the terms that can be found; `lengths` are those of all, in symbols."""
    (_, shortest, longest, _), terms = astuple(vocabulary.reader), vocabulary.terms
    least = 1 if whole_if_short else shortest
    found = [place for place, length in enumerate(lengths) if least <= length <= longest]
    symbols, columns = spell([terms[place] for place in found]), vocabulary.columns[found]
    bounds = np.cumsum([0, *(lengths[place] for place in found)], dtype=np.int64)
    taken = len(symbols)
    for _ in range(2):  # only then is known how many terms begin alike
        room = 1 << max(4, (2 * taken).bit_length())
        arrays = np.full(room, runs.FREE, dtype=np.int64), np.full(room, runs.FREE, dtype=np.int64)
        tree = runs.RunTree(*arrays, secrets.randbits(62) | 1, shortest, longest, whole_if_short)
        taken = runs.put_runs(tree, symbols, bounds, columns)
    return tree
