"""`TextAnswerer`: texts to calibrated log-probabilities, by linear layers in whole numbers.

Glossary
--------
n texts, m terms, C classes, L layers (see `LinearLayers`)
shares   C       log-probabilities of a text without any known term
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from untwin.answer.counting import count_few
from untwin.answer.fixed_point import UNIT, CountedRows, PackedWeights, row_of_entries, weigh
from untwin.answer.layers import AT_ONCE, FEW, LinearLayers
from untwin.answer.predictions import Scored
from untwin.answer.terms import is_known

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Array, Flags, Floats, Floats32
    from untwin.answer.counting import Vocabulary
    from untwin.answer.kernels import SpreadWeights
    from untwin.answer.terms import TermReader


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextAnswerer(LinearLayers):
    """All that answers about texts need. `count_many` counts terms of many texts, on all cores."""

    vocabularies: tuple[Vocabulary, ...]
    idf: Array
    block_of: Array
    weights: PackedWeights
    shares: Array
    count_many: Callable[[list[str]], CountedRows]

    def log_proba(self, texts: list[str]) -> tuple[Floats32, Flags]:
        """Return log-probabilities of texts, and which of them hold no known term."""
        return self.score(texts)[:2]

    def score(self, texts: list[str]) -> Scored:
        """Return the same, and which texts hold no known word."""
        few = len(texts) <= FEW and all(map(is_known, texts))
        return self.score_counts(count_few(texts, self.lookups) if few else self.count_many(texts), few=few)

    def score_counts(self, rows: CountedRows, *, few: bool) -> Scored:
        """Return the same of counted texts."""
        words = np.bincount(row_of_entries(rows), self._is_word[rows.columns], minlength=len(rows.starts) - 1)
        return Scored(*self.log_proba_of_counts(rows, few=few), words == 0)

    def log_proba_of_counts(self, rows: CountedRows, *, few: bool) -> tuple[Floats32, Flags]:
        """Return the same of counted texts; `few` of them are scored without compiled loops."""
        n_rows = len(rows.starts) - 1
        log_p = np.empty((n_rows, self.n_classes), dtype=np.float32)
        for start in range(0, n_rows, AT_ONCE):
            part = _take(rows, start, min(start + AT_ONCE, n_rows))
            log_p[start : start + AT_ONCE] = self._answer(part, compiled=not few)
        mute = np.diff(rows.starts) == 0
        log_p[mute] = self.shares
        return log_p, mute

    @cached_property
    def lookups(self) -> list[tuple[TermReader, dict[str, int]]]:
        """The ways to read texts, each with the columns of its terms."""
        return [vocabulary.lookup() for vocabulary in self.vocabularies]

    @cached_property
    def _is_word(self) -> Floats:
        """1 for each column of a word or several, 0 for runs of characters; all 1 where only these are counted."""
        is_word = np.zeros(len(self.block_of))
        for reader, _, columns in self.vocabularies:
            is_word[columns] = reader.analyzer == "word"
        return is_word if is_word.any() else np.ones(len(is_word))

    @cached_property
    def _n_blocks(self) -> int:
        return int(self.block_of.max(initial=0)) + 1

    def values(self, rows: CountedRows) -> Array:
        """Return the value of each entry of counted texts."""
        return weigh(rows, self.idf, self.block_of, self._n_blocks)

    def lengths(self, rows: CountedRows, values: Array) -> Floats:
        """Return the length of each row: each block that it uses has length one."""
        return np.asarray(np.sqrt(np.maximum(self._used(rows, values), 1)))

    def layer_scores(self, rows: CountedRows) -> Floats:
        """Return the scores of a few texts by each layer (n x L x C)."""
        products, units, used = self._score_few(rows)
        return self.layers_of_products(products / UNIT, units / UNIT, np.sqrt(np.maximum(used, 1)))

    def _answer(self, rows: CountedRows, *, compiled: bool) -> Floats32:
        products, units, used = self._score_many(rows) if compiled else self._score_few(rows)
        lengths = np.sqrt(np.maximum(used, 1)) if self.by_length.any() else None
        return self.log_proba_of_products(products / UNIT, units / UNIT, lengths, sparse=compiled)

    def _score_few(self, rows: CountedRows) -> tuple[Array, Array, Array]:
        """Return products of rows, sums of their values, and how many blocks have any."""
        values = self.values(rows)
        n_rows, row_of = len(rows.starts) - 1, row_of_entries(rows)
        units = np.bincount(row_of, weights=values, minlength=n_rows)
        return self.weights.products(row_of, rows.columns, values, n_rows), units, self._used(rows, values)

    def _used(self, rows: CountedRows, values: Array) -> Array:
        """Return how many blocks each row uses."""
        n_blocks, n_rows = self._n_blocks, len(rows.starts) - 1
        blocks = row_of_entries(rows) * n_blocks + self.block_of[rows.columns]
        used = np.bincount(blocks, weights=values, minlength=n_rows * n_blocks).reshape(n_rows, n_blocks) > 0
        return np.asarray(used.sum(axis=1))

    def _score_many(self, rows: CountedRows) -> tuple[Array, Array, Array]:
        from untwin.answer.kernels import score_counts

        return score_counts(rows, self.idf, self.block_of, self.weights, self._spread)

    @cached_property
    def _spread(self) -> SpreadWeights:
        from untwin.answer.kernels import SpreadWeights

        return SpreadWeights.of(self.weights)


def _take(rows: CountedRows, first: int, last: int) -> CountedRows:
    """Return some rows; all of them as they are."""
    if first == 0 and last == len(rows.starts) - 1:
        return rows
    start, stop = rows.starts[first], rows.starts[last]
    return CountedRows(rows.starts[first : last + 1] - start, rows.columns[start:stop], rows.counts[start:stop])
