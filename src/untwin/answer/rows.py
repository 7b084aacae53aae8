"""Rows of a matrix, dense or CSR, and rows in whole numbers, whose sums do not depend on the order of their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Indices

LARGEST_SHIFT = 1000  # bits by which small numbers are made larger: more would be no number
LARGEST = float(np.finfo(np.float32).max)


class MatrixRows(Protocol):
    """What answering asks of rows, however they are stored; `values` are the numbers that are stored."""

    @property
    def values(self) -> Floats:
        """The numbers."""

    def of_columns(self, numbers: Array) -> Array:
        """Return for each value, or so that it can be multiplied with them, the number of its column."""

    def of_rows(self, numbers: Array) -> Array:
        """Return the same of its row."""

    def largest(self, values: Floats) -> Floats:
        """Return the largest absolute value of each row."""

    def sums(self, values: Floats) -> Floats:
        """Return the sum of each row."""

    def product(self, values: Floats, W: Floats) -> Floats:
        """Return rows times `W`."""


class DenseRows(NamedTuple):
    """Rows of a dense matrix."""

    values: Floats

    def of_columns(self, numbers: Array) -> Array:
        """Return the numbers, to multiply each row with."""
        return numbers

    def of_rows(self, numbers: Array) -> Array:
        """Return the numbers, to multiply each column with."""
        return numbers[:, np.newaxis]

    def largest(self, values: Floats) -> Floats:
        """Return the largest absolute value of each row."""
        return np.asarray(np.abs(values).max(axis=1, initial=0.0))

    def sums(self, values: Floats) -> Floats:
        """Return the sum of each row."""
        return np.asarray(values.sum(axis=1))

    def product(self, values: Floats, W: Floats) -> Floats:
        """Return rows times `W`."""
        return np.asarray(values @ W)


class SparseRows(NamedTuple):
    """Rows of a CSR matrix."""

    values: Floats
    columns: Indices
    row_of: Indices
    matrix: Any

    def of_columns(self, numbers: Array) -> Array:
        """Return the number of the column of each value."""
        return numbers[self.columns]

    def of_rows(self, numbers: Array) -> Array:
        """Return the number of the row of each value."""
        return numbers[self.row_of]

    def largest(self, values: Floats) -> Floats:
        """Return the largest absolute value of each row."""
        largest = np.zeros(self.matrix.shape[0])
        np.maximum.at(largest, self.row_of, np.abs(values))
        return largest

    def sums(self, values: Floats) -> Floats:
        """Return the sum of each row."""
        return np.asarray(np.bincount(self.row_of, weights=values, minlength=self.matrix.shape[0]), dtype=np.float64)

    def product(self, values: Floats, W: Floats) -> Floats:
        """Return rows times `W`."""
        matrix = self.matrix
        return np.asarray(type(matrix)((values, matrix.indices, matrix.indptr), shape=matrix.shape) @ W)


def rows_to_answer(X: Any) -> MatrixRows:
    """Return rows of a dense or CSR matrix; raise ValueError for a number that is not finite in single precision."""
    if hasattr(X, "indptr"):
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        rows: MatrixRows = SparseRows(X.data.astype(np.float64), X.indices, row_of, X)
    else:
        rows = DenseRows(np.ascontiguousarray(X, dtype=np.float64))
    largest = np.abs(rows.values).max(initial=0.0)
    if not largest <= LARGEST:  # NaN, too
        raise ValueError(f"X must hold numbers up to {LARGEST:.2g}, no infinity and no NaN. Got {largest} instead.")
    return rows


def to_whole(rows: MatrixRows, values: Floats, bits: int) -> tuple[Floats, Floats]:
    """Return values as whole numbers up to 2**bits, and what 1 stands for in each row: a power of two.

    >>> numbers, unit = to_whole(rows := DenseRows(np.array([[0.5, -0.1], [0.0, 0.0]])), rows.values, 10)
    >>> numbers.tolist(), unit.tolist()[0] == 2.0**-10
    ([[512.0, -102.0], [0.0, 0.0]], True)
    """
    shift = np.minimum(bits - np.frexp(rows.largest(values))[1], LARGEST_SHIFT)
    return np.rint(values * rows.of_rows(np.ldexp(1.0, shift))), np.ldexp(1.0, -shift)
