"""Compiled loop of values and scores, for many texts: what `weigh` and `PackedWeights.products` do for a few."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwin._compiled import compiled
from untwin.answer.fixed_point import LOGARITHMS, MOST_COUNTED, SHIFT, UNIT

if TYPE_CHECKING:
    from untwin._types import Array
    from untwin.answer.fixed_point import CountedRows, PackedWeights

MANY_CLASSES = 0.05  # share of the columns in which a term has a weight, from which on it is scored for all of them
MOST_SPREAD = 1 << 24  # numbers that are held for such terms


class SpreadWeights(NamedTuple):
    """Weights of terms that nearly all classes have, zeros among them; `place` of a term in these, -1: it has none."""

    place: Array
    weights: Array

    @classmethod
    def of(cls, packed: PackedWeights) -> SpreadWeights:
        """Return the weights of the terms that have most, as many as may be held."""
        n_weights = np.diff(packed.starts)
        terms = np.argsort(-n_weights, kind="stable")[: MOST_SPREAD // packed.n_columns]
        terms = terms[n_weights[terms] > MANY_CLASSES * packed.n_columns]
        place = np.full(len(n_weights), -1, dtype=np.int32)
        place[terms] = np.arange(len(terms))
        weights = np.zeros((len(terms), packed.n_columns), dtype=packed.weights.dtype)
        spread_weights(packed, terms, weights)
        return cls(place, weights)


@compiled
def spread_weights(packed: PackedWeights, terms: Array, weights: Array) -> None:
    """Write the weights of some terms into rows that hold all columns."""
    for row in range(len(terms)):
        for place in range(packed.starts[terms[row]], packed.starts[terms[row] + 1]):
            weights[row, packed.columns[place]] = packed.weights[place]


class WholeWeights(NamedTuple):
    """All weights of terms."""

    idf: Array
    block_of: Array
    packed: PackedWeights
    spread: SpreadWeights


def score_counts(
    rows: CountedRows, idf: Array, block_of: Array, packed: PackedWeights, spread: SpreadWeights
) -> tuple[Array, Array, Array]:
    """Return rows times packed weights, the sum of the values of each row, and how many blocks have any.

    All numbers are whole, and sums are exact in double precision, so that their order does not count. Where the largest
    sum that there could be fits 32 bits, which takes half of the time, they are added in these.
    """
    most = int(np.diff(rows.starts).max(initial=0))
    n_blocks = int(block_of.max(initial=0)) + 1
    heaviest = np.iinfo(packed.weights.dtype).max
    largest = (n_blocks * UNIT * most**0.5 + most) * heaviest  # by Cauchy and Schwarz, and what rounding adds
    kind = np.int32 if largest < np.iinfo(np.int32).max else np.float64
    sums, values = np.zeros(packed.n_columns, dtype=kind), np.zeros(most, dtype=kind)
    scored: tuple[Array, Array, Array] = _score(rows, WholeWeights(idf, block_of, packed, spread), values, sums)
    return scored


@compiled
def _score(rows: CountedRows, weights: WholeWeights, values: Array, sums: Array) -> tuple[Array, Array, Array]:
    """Return products, sums of values, and numbers of blocks; `values` and `sums` are room for those of a row."""
    packed, spread, block_of = weights.packed, weights.spread, weights.block_of
    n_rows, n_blocks = len(rows.starts) - 1, block_of.max() + 1 if len(block_of) else 1
    products, units, used = np.zeros((n_rows, packed.n_columns)), np.zeros(n_rows), np.zeros(n_rows)
    raws = np.empty(len(values), dtype=np.int64)
    squares, filled = np.empty(n_blocks, dtype=np.int64), np.empty(n_blocks, dtype=np.bool_)
    for row in range(n_rows):
        first = rows.starts[row]
        squares[:], filled[:], sums[:] = 0, False, 0
        for place in range(first, rows.starts[row + 1]):
            term = rows.columns[place]
            raw = (LOGARITHMS[min(rows.counts[place], MOST_COUNTED)] * weights.idf[term]) >> SHIFT
            raws[place - first] = raw
            squares[block_of[term]] += raw * raw
        for place in range(first, rows.starts[row + 1]):
            term, raw = rows.columns[place], raws[place - first]
            if raw == 0:
                continue
            rounded = np.rint((raw * UNIT) / np.sqrt(np.float64(squares[block_of[term]])))
            units[row] += rounded
            filled[block_of[term]] |= rounded > 0
            values[place - first] = rounded
            value, at = values[place - first], spread.place[term]
            if at >= 0:
                for column in range(packed.n_columns):
                    sums[column] += value * spread.weights[at, column]
            else:
                for one in range(packed.starts[term], packed.starts[term + 1]):
                    sums[packed.columns[one]] += value * packed.weights[one]
        for column in range(packed.n_columns):
            products[row, column] = sums[column]
        used[row] = filled.sum()
    return products, units, used
