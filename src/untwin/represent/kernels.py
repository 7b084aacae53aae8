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
