"""Compiled loops of term weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin._compiled import Rows, compiled

if TYPE_CHECKING:
    from untwin._types import Array


@compiled
def weigh_counts(rows: Rows, idf: Array, block_of: Array, n_blocks: int) -> tuple[Array, Array, Array]:
    """Return starts, terms and weights of counted rows, without terms of weight 0; each block of a row has length 1."""
    starts, terms, weights = np.zeros_like(rows.starts), np.empty_like(rows.terms), np.empty_like(rows.values)
    squares, end = np.empty(n_blocks), 0
    for row in range(len(starts) - 1):
        squares[:] = 0.0
        for place in range(rows.starts[row], rows.starts[row + 1]):
            term, count = rows.terms[place], rows.values[place]
            if count > 0 and idf[term] > 0:
                weight = idf[term] if count == 1 else (1 + np.log(count)) * idf[term]
                terms[end], weights[end] = term, weight
                squares[block_of[term]] += weight * weight
                end += 1
        for place in range(starts[row], end):
            weights[place] /= np.sqrt(squares[block_of[terms[place]]])
        starts[row + 1] = end
    return starts, terms[:end].copy(), weights[:end].copy()


@compiled
def block_lengths(counts: Rows, idf: Array, block_of: Array, n_blocks: int) -> Array:
    """Return the length of each block of each row, weighted as above, times the root of the number of its blocks."""
    lengths = np.zeros((len(counts.starts) - 1, n_blocks), dtype=np.float32)
    squares = np.empty(n_blocks)
    for row in range(len(lengths)):
        squares[:] = 0.0
        for place in range(counts.starts[row], counts.starts[row + 1]):
            term, count = counts.terms[place], counts.values[place]
            if count > 0 and idf[term] > 0:
                weight = idf[term] if count == 1 else (1 + np.log(count)) * idf[term]
                squares[block_of[term]] += weight * weight
        lengths[row] = np.sqrt(squares * (squares > 0).sum())
    return lengths


@compiled
def block_cosines(counts: Rows, some: Array, lengths: Array, block_of: Array, asked: tuple[Array, Array]) -> Array:
    """Return the cosines of some counted rows, which have these block lengths, with a row of length one.

    `asked`: the terms of this row, and its weights, already multiplied by the weights of these terms in counted rows.
    They are looked up in a small hash table, which stays in the cache of the processor.
    """
    terms, weights = asked
    last = 1023
    while last < 4 * len(terms):
        last = 2 * last + 1
    slots = np.full(last + 1, -1, dtype=np.int32)
    for place in range(len(terms)):
        slot = terms[place] & last
        while slots[slot] >= 0:
            slot = (slot + 1) & last
        slots[slot] = place
    cosines = np.zeros(len(some))
    for place in range(len(some)):
        row = some[place]
        for entry in range(counts.starts[row], counts.starts[row + 1]):
            term = counts.terms[entry]
            slot = term & last
            while slots[slot] >= 0 and terms[slots[slot]] != term:
                slot = (slot + 1) & last
            found, count = slots[slot], counts.values[entry]
            if found >= 0 and count > 0:
                weight = weights[found] if count == 1 else (1 + np.log(count)) * weights[found]
                cosines[place] += weight / lengths[place, block_of[term]]
    return cosines
