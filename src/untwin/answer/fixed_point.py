"""Weights of terms and scores of classes in whole numbers: sums do not depend on the order of their parts.

So a few texts, asked about one by one with NumPy, get the bits that a million texts get from compiled loops.

Glossary
--------
starts, columns, counts   CSR rows: how often which terms are in which text
idf       m        inverse document frequency, times ONE; 0: the term is not used
block_of  m        the block of each term: each block of a row is brought to length one
values             weight of a term in a text, times UNIT: (1 + ln count) * idf, divided by the length of the block
W         m x K    weights of all classes of all layers, int8 or int16, CSR with a row for each term
scale     K        what 1 of W stands for
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from untwin._types import Array

ONE = 1 << 10
UNIT = 1 << 14
SHIFT = 6  # bits of the product of count and idf that are dropped, so that squares of many terms fit
MOST_COUNTED = 4096  # a term that occurs more often counts as this many
LOGARITHMS = np.concatenate([[0], np.rint((1 + np.log(np.arange(1, MOST_COUNTED + 1))) * ONE)]).astype(np.int64)


class CountedRows(NamedTuple):
    """Texts as counts of terms, CSR."""

    starts: Array
    columns: Array
    counts: Array


def row_of_entries(rows: CountedRows) -> Array:
    """Return the row of each entry."""
    return np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))


def weigh(rows: CountedRows, idf: Array, block_of: Array, n_blocks: int) -> Array:
    """Return the value of each entry, int64; 0 where its term is not used."""
    raw = (LOGARITHMS[np.minimum(rows.counts, MOST_COUNTED)] * idf[rows.columns]) >> SHIFT
    block = row_of_entries(rows) * n_blocks + block_of[rows.columns]
    n_rows = len(rows.starts) - 1
    squares = np.bincount(block, weights=(raw * raw).astype(np.float64), minlength=n_rows * n_blocks)  # exact
    lengths = np.sqrt(squares)[block]
    values = np.divide(raw * UNIT, lengths, out=np.zeros(len(raw)), where=lengths > 0)
    return np.asarray(np.rint(values), dtype=np.int64)


class PackedWeights(NamedTuple):
    """W as CSR: where the weights of a term start, their columns, and the weights."""

    starts: Array
    columns: Array
    weights: Array
    n_columns: int

    def products(self, rows: Array, terms: Array, values: Array, n_rows: int) -> Array:
        """Return rows times W (n x K) in whole numbers, as float64, which holds them exactly.

        A row is given by its entries: the row, the term and the value of each, in any order.
        """
        first = self.starts[terms]
        n_weights = self.starts[terms + 1] - first
        places = np.repeat(first - (np.cumsum(n_weights) - n_weights), n_weights) + np.arange(n_weights.sum())
        cells = np.repeat(rows * self.n_columns, n_weights) + self.columns[places]
        parts = np.repeat(values, n_weights) * self.weights[places]
        sums = np.bincount(cells, weights=parts.astype(np.float64), minlength=n_rows * self.n_columns)
        return sums.reshape(n_rows, self.n_columns)


def quantise(W: Any, largest: int) -> tuple[Array, Array]:
    """Return whole numbers up to `largest` for weights W (m x K, dense), and what 1 stands for in each column.

    >>> numbers, scale = quantise(np.array([[0.5], [-1.0]]), 127)
    >>> numbers.ravel().tolist(), (numbers * scale).round(2).ravel().tolist()
    ([64, -127], [0.5, -1.0])
    """
    scale = np.abs(W).max(axis=0, initial=0.0).astype(np.float64) / largest
    scale[scale == 0] = 1.0
    return np.rint(W / scale).astype(np.min_scalar_type(-largest)), scale
