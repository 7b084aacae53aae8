"""The matrix A = [X | Y F] as something that can be multiplied, on all cores, without ever forming Y F.

Glossary
--------
X        n x m  documents x terms, CSR or dense.
Y        n x C  membership of documents in classes, sparse.
F        C x r  factor of a class kernel K = F F', sparse.
A        n x (m + r) = [X | Y F].
U, V     dense blocks of a few columns with n, and m + r, rows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import cpu_count
from scipy.sparse import csr_array, issparse

from untwin._compat import as_dense

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin._types import Array

WORTH_A_THREAD = 200_000  # stored numbers; for fewer, starting a thread costs more than it saves


class Blocks:
    """A = [X | Y F]: `times(V)` is A V, `transposed_times(U)` is A' U, `gram()` the smaller of A A' and A' A.

    Parameters
    ----------
    X : sparse or dense array of shape (n, m)
    Y : sparse array of shape (n, C), optional
    F : sparse array of shape (C, r), optional

    Examples
    --------
    >>> A = Blocks(np.eye(2), csr_array([[1.0], [1.0]]), csr_array([[3.0]]))
    >>> A.times(np.eye(3))
    array([[1., 0., 3.],
           [0., 1., 3.]])
    >>> A.gram()
    array([[10.,  9.],
           [ 9., 10.]])
    >>> A.energy()
    20.0
    """

    def __init__(self, X: Any, Y: Any = None, F: Any = None) -> None:
        sparse: bool = issparse(X)
        self.dtype = X.dtype
        self.X = csr_array(X) if sparse else X
        self.Y = csr_array((X.shape[0], 0) if Y is None else Y, dtype=X.dtype)
        self.F = csr_array((self.Y.shape[1], 0) if F is None else F, dtype=X.dtype)
        # A second copy of X, by columns: gathering rows is faster than scattering them, and can be shared out.
        self.X_transposed = csr_array(self.X.T) if sparse else X.T
        self.Y_transposed = csr_array(self.Y.T)
        self.n_terms = X.shape[1]
        self.shape = (X.shape[0], X.shape[1] + self.F.shape[1])

    def times(self, V: Array) -> Array:
        """Return A V."""
        result = product(self.X, V[: self.n_terms])
        if self.F.shape[1]:
            result += self.Y @ (self.F @ V[self.n_terms :])
        return result

    def transposed_times(self, U: Array) -> Array:
        """Return A' U."""
        result = np.empty((self.shape[1], U.shape[1]), np.result_type(self.dtype, U.dtype))
        product(self.X_transposed, U, out=result[: self.n_terms])
        result[self.n_terms :] = self.F.T @ (self.Y_transposed @ U)
        return result

    def gram(self) -> Array:
        """Return A A' or A' A, whichever is smaller, as a dense matrix."""
        X, Y, F = self.X, self.Y, self.F
        if self.shape[0] <= self.shape[1]:
            rows: Array = as_dense(X @ X.T) + (Y @ (F @ F.T) @ Y.T).toarray()
            return rows
        across = as_dense(self.X_transposed @ Y) @ F
        sprinkled = (F.T @ (self.Y_transposed @ Y) @ F).toarray()
        return np.block([[as_dense(self.X_transposed @ X), across], [across.T, sprinkled]])

    def energy(self) -> float:
        """Return the sum of the squares of all numbers in A."""
        sprinkled = (self.Y_transposed @ self.Y).multiply(self.F @ self.F.T).sum()
        return squared_length(self.X) + float(sprinkled)


def product(matrix: Any, block: Array, out: Array | None = None) -> Array:
    """Return `matrix @ block` for a sparse or dense matrix and a dense block, computed on all cores; into `out`.

    BLAS does that by itself for a dense matrix; SciPy's sparse product runs on one core, but lets go of the GIL.
    """
    sparse: bool = issparse(matrix)
    if not sparse:
        return np.matmul(matrix, block, out=out)
    block = np.ascontiguousarray(block)  # several times as fast as columns
    parts = list(_row_parts(matrix))
    if out is None:
        out = np.empty((matrix.shape[0], block.shape[1]), np.result_type(matrix.dtype, block.dtype))
    if len(parts) < 2:
        out[:] = matrix @ block
        return out

    def fill(part: tuple[slice, csr_array]) -> None:
        rows, values = part
        out[rows] = values @ block

    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(fill, parts))
    return out


def squared_length(matrix: Any) -> float:
    """Return the sum of the squares of a sparse or dense matrix."""
    sparse: bool = issparse(matrix)
    numbers = matrix.data if sparse else np.asarray(matrix)
    return float(np.vdot(numbers, numbers))


def slices(n: int, size: int) -> list[slice]:
    """Return slices of `size` of n rows (at least one), the last with what is left.

    >>> slices(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, size)
    return [slice(start, start + step) for start in range(0, n, step)]


def _row_parts(matrix: csr_array) -> Iterator[tuple[slice, csr_array]]:
    """Yield runs of rows with about as many stored numbers each, one run a core; no number is copied."""
    n_parts = min(cpu_count(), max(1, matrix.nnz // WORTH_A_THREAD))
    shares = np.linspace(0, matrix.nnz, n_parts + 1)[1:-1]
    cuts = [0, *np.searchsorted(matrix.indptr, shares).tolist(), matrix.shape[0]]
    for start, stop in pairwise(cuts):
        first, last = matrix.indptr[start], matrix.indptr[stop]
        rows = (matrix.data[first:last], matrix.indices[first:last], matrix.indptr[start : stop + 1] - first)
        yield slice(start, stop), csr_array(rows, shape=(stop - start, matrix.shape[1]))
