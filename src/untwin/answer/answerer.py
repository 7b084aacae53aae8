"""`TextAnswerer`: texts to calibrated log-probabilities, by linear layers in whole numbers.

Glossary
--------
n texts, m terms, C classes, L layers
layer            a linear model of all classes, or several that are added up: scores = values * W + units * offset +
                 intercept, divided by the length of the row where `by_length`; softmax makes probabilities of them
units            sum of the values of a text: what naive Bayes multiplies its offset with
second           weights of a second stage (L C x C): it learns from square roots of the probabilities of all layers;
                 without one the scores of all layers are added up
shares   C       log-probabilities of a text without any known term
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.answer.fixed_point import UNIT, CountedRows, PackedWeights, row_of_entries, weigh
from untwin.answer.probabilities import correct_top_class, log_probabilities
from untwin.answer.terms import TermReader, clean, is_known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from untwin._types import Array, Flags, Floats, Floats32

FEW = 64  # texts that are read one by one, without frames and compiled loops
AT_ONCE = 4096  # rows that are scored at a time, so that scores of all layers are never as large as all answers
LEAST_FEATURE = 0.1  # of the square root of a probability: what is less likely than 1 in 100 says nothing


class Vocabulary(NamedTuple):
    """One way to read texts: the reader, and the column of each term."""

    reader: TermReader
    terms: Sequence[str]
    columns: Array


class SecondStage(NamedTuple):
    """Weights of the second stage in whole numbers, what 1 stands for in each column, and intercepts."""

    weights: Array
    scale: Array
    intercept: Array


@dataclass(frozen=True, eq=False, repr=False)
class TextAnswerer:
    """All that answers about texts need. `count_many` counts terms of many texts, on all cores."""

    vocabularies: tuple[Vocabulary, ...]
    idf: Array
    block_of: Array
    weights: PackedWeights
    scale: Array
    offset: Array
    intercept: Array
    by_length: Flags
    second: SecondStage | None
    temperature: float
    slope: float
    shift: float
    shares: Array
    count_many: Callable[[list[str]], CountedRows]

    def log_proba(self, texts: list[str]) -> tuple[Floats32, Flags]:
        """Return log-probabilities of texts, and which of them hold no known term."""
        few = len(texts) <= FEW and all(map(is_known, texts))
        return self.log_proba_of_counts(self._count_few(texts) if few else self.count_many(texts), few=few)

    def log_proba_of_counts(self, rows: CountedRows, *, few: bool) -> tuple[Floats32, Flags]:
        """Return the same of counted texts; `few` of them are scored without compiled loops."""
        n_rows = len(rows.starts) - 1
        log_p = np.empty((n_rows, len(self.shares)), dtype=np.float32)
        for start in range(0, n_rows, AT_ONCE):
            part = _take(rows, start, min(start + AT_ONCE, n_rows))
            log_p[start : start + AT_ONCE] = self._answer(part, compiled=not few)
        mute = np.diff(rows.starts) == 0
        log_p[mute] = self.shares
        return log_p, mute

    def _count_few(self, texts: list[str]) -> CountedRows:
        """Count terms by looking them up, text by text."""
        starts, found = [0], list[tuple[int, int]]()
        for text in map(clean, texts):
            counts: dict[int, int] = {}
            for reader, column_of in self.lookups:
                for term in reader.read(text):
                    column = column_of.get(term)
                    if column is not None:
                        counts[column] = counts.get(column, 0) + 1
            found.extend(counts.items())
            starts.append(len(found))
        pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
        return CountedRows(np.array(starts), pairs[:, 0].copy(), pairs[:, 1].copy())

    @cached_property
    def lookups(self) -> list[tuple[TermReader, dict[str, int]]]:
        """The ways to read texts, each with the columns of its terms."""
        return [
            (reader, dict(zip(terms, columns.tolist(), strict=True))) for reader, terms, columns in self.vocabularies
        ]

    @cached_property
    def _n_blocks(self) -> int:
        return int(self.block_of.max(initial=0)) + 1

    @cached_property
    def _second_weights(self) -> Floats:
        """The weights of the second stage as numbers that can be multiplied fast; they are whole all the same."""
        return self.second.weights.astype(np.float64)  # type: ignore[union-attr]

    def values(self, rows: CountedRows) -> Array:
        """Return the value of each entry of counted texts."""
        return weigh(rows, self.idf, self.block_of, self._n_blocks)

    def lengths(self, rows: CountedRows, values: Array) -> Floats:
        """Return the length of each row: each block that it uses has length one."""
        n_blocks, n_rows = self._n_blocks, len(rows.starts) - 1
        block = row_of_entries(rows) * n_blocks + self.block_of[rows.columns]
        used = np.bincount(block, weights=values, minlength=n_rows * n_blocks)
        return np.asarray(np.sqrt(np.maximum((used.reshape(n_rows, n_blocks) > 0).sum(axis=1), 1)))

    def layer_scores(self, rows: CountedRows, values: Array, *, compiled: bool) -> Floats:
        """Return the scores of all classes by each layer (n x L x C)."""
        n_rows = len(rows.starts) - 1
        products = self._products(rows, values) if compiled else self.weights.products(rows, values)
        layers: Floats = (products * (self.scale / UNIT)).reshape(n_rows, *self.offset.shape)
        if self.by_length.any():
            layers[:, self.by_length] /= self.lengths(rows, values)[:, np.newaxis, np.newaxis]
        units = np.bincount(row_of_entries(rows), weights=values, minlength=n_rows) / UNIT
        layers += units[:, np.newaxis, np.newaxis] * self.offset + self.intercept
        return layers

    def _answer(self, rows: CountedRows, *, compiled: bool) -> Floats32:
        layers = self.layer_scores(rows, self.values(rows), compiled=compiled)
        S = layers.sum(axis=1) if self.second is None else self._second_scores(layers, sparse=compiled)
        return correct_top_class(log_probabilities(S, self.temperature), self.slope, self.shift)

    def _products(self, rows: CountedRows, values: Array) -> Floats:
        from untwin.answer.kernels import integer_products

        return integer_products(rows, values, self.weights).astype(np.float64)

    def _second_scores(self, layers: Floats, *, sparse: bool) -> Floats:
        """Return the scores of the second stage; its sums are of whole numbers, so that their order does not count.

        Most of its features are zero: `sparse` makes use of that, which takes SciPy.
        """
        _, scale, intercept = self.second  # type: ignore[misc]
        log_p = log_probabilities(layers.reshape(-1, layers.shape[2]), 1.0)
        roots = np.where(log_p > 2 * np.log(LEAST_FEATURE), np.rint(np.exp(log_p / 2) * UNIT), 0.0)
        features: Any = roots.reshape(len(layers), -1)
        if sparse:
            from scipy.sparse import csr_array

            features = csr_array(features)
        found: Floats = (features @ self._second_weights) * (scale / UNIT) + intercept
        return found


def _take(rows: CountedRows, first: int, last: int) -> CountedRows:
    """Return some rows; all of them as they are."""
    if first == 0 and last == len(rows.starts) - 1:
        return rows
    start, stop = rows.starts[first], rows.starts[last]
    return CountedRows(rows.starts[first : last + 1] - start, rows.columns[start:stop], rows.counts[start:stop])
