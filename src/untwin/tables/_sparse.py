"""Helpers of both tables: safe division, equal cells, cells moved to other rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from untwin._types import Array, Floats, Indices


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Return the quotient, zero where the denominator is zero.

    >>> ratio([1, 2], [4, 0]).tolist()
    [0.25, 0.0]
    """
    above, below = np.broadcast_arrays(np.asarray(numerator, float), np.asarray(denominator, float))
    quotient: Floats = np.divide(above, below, out=np.zeros(above.shape), where=below != 0)
    return quotient


def same_cells(a: csr_array, b: csr_array) -> bool:
    """Tell whether two canonical matrices are equal."""
    parts = (a.data, b.data), (a.indices, b.indices), (a.indptr, b.indptr)
    return a.shape == b.shape and all(np.array_equal(mine, theirs) for mine, theirs in parts)


def cell_rows(matrix: csr_array) -> Indices:
    """Return the row of every stored cell (`matrix.indices` are the columns)."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def move_cells(matrix: csr_array, shape: tuple[int, int], rows: Array, columns: Array | None = None) -> csr_array:
    """Return a matrix of `shape` whose row `rows[i]` and column `columns[j]` were i and j; cells that meet add up.

    >>> move_cells(csr_array([[1, 2], [3, 4]]), (2, 2), np.array([0, 0])).toarray().tolist()
    [[4, 6], [0, 0]]
    """
    to_columns = matrix.indices if columns is None else columns[matrix.indices]
    return csr_array((matrix.data, (rows[cell_rows(matrix)], to_columns)), shape=shape)
