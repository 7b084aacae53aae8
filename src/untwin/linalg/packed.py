"""`Signs`: matrices of -1, 0 and 1 at two bits an entry.

Glossary
--------
signs    p x k    int8, entries -1, 0, 1
bits     p x ceil(k / 4)    uint8: four entries of a row in a byte, the first in the lowest two bits; 0, 1 and 2 stand
                  for 0, 1 and -1
TABLE    256 x 4  what each byte stands for

A product with one vector goes by bytes: 256 possible bytes times four entries are looked up, or summed up, for each
column of bytes. One with many vectors unpacks a block of rows at a time for a matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_array, issparse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from untwin._types import Array

PLACES = np.array([1, 4, 16, 64], dtype=np.uint8)
TABLE = np.array([0, 1, -1, 0], dtype=np.int8)[np.arange(256)[:, None] // PLACES % 4]
UNPACKED_ENTRIES = 1 << 20  # at a time


@dataclass(frozen=True, slots=True, eq=False)
class Signs:
    """A p x k matrix of -1, 0 and 1 at two bits an entry; made by `of`.

    Examples
    --------
    >>> signs = Signs.of(np.array([[1, 0, -1, 0, 1], [0, 0, 1, -1, -1]]))
    >>> signs.shape, signs.bits.nbytes
    ((2, 5), 4)
    >>> signs.times(np.arange(5.0))
    array([ 2., -5.])
    >>> signs.transposed_times(np.array([1.0, 10.0]))
    array([  1.,   0.,   9., -10.,  -9.])
    >>> signs.rows([1]).unpacked()
    array([[ 0,  0,  1, -1, -1]], dtype=int8)
    """

    bits: NDArray[np.uint8]
    width: int

    @classmethod
    def of(cls, signs: Any) -> Self:
        """Return a dense matrix of -1, 0 and 1 in packed form."""
        given = np.asarray(signs)
        padded = np.zeros((len(given), -(-given.shape[1] // 4) * 4), dtype=np.uint8)
        padded[:, : given.shape[1]] = np.where(given < 0, 2, given)
        # Columns of bytes lie together: a product with a vector walks along them.
        bits = np.asfortranarray(padded.reshape(len(given), padded.shape[1] // 4, 4) @ PLACES)
        return cls(bits, given.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.bits), self.width

    def unpacked(self) -> NDArray[np.int8]:
        """Return the matrix as int8."""
        return _entries(TABLE, self.bits)[:, : self.width]

    def rows(self, chosen: Any) -> Signs:
        """Return some of the rows, by numbers or mask."""
        return Signs(np.asfortranarray(self.bits[chosen]), self.width)

    def above(self, below: Signs) -> Signs:
        """Return this matrix with the rows of another below."""
        return Signs(np.asfortranarray(np.concatenate([self.bits, below.bits])), self.width)

    def times(self, V: Array) -> Array:
        """Return the product with V (k, or k x c)."""
        if V.ndim == 2:
            return np.concatenate([block @ V for _, block in self._blocks(V.dtype)])
        padded = np.zeros(4 * self.bits.shape[1], dtype=V.dtype)
        padded[: self.width] = V
        sums = padded.reshape(-1, 4) @ TABLE.T.astype(V.dtype)
        result = np.zeros(len(self.bits), dtype=V.dtype)
        for column, of_byte in zip(self.bits.T, sums, strict=True):
            result += of_byte.take(column)
        return result

    def transposed_times(self, U: Any) -> Array:
        """Return the product of the transposed matrix with U (p, or p x c, which may be sparse)."""
        if U.ndim == 1:
            used, columns = np.flatnonzero(U), np.arange(self.bits.shape[1])  # a document has few of all terms
            byte = self.bits[used] + 256 * columns
            sums = np.bincount(byte.ravel(), np.repeat(U[used], len(columns)), 256 * len(columns))
            return np.asarray(sums.reshape(-1, 256) @ TABLE, dtype=U.dtype).ravel()[: self.width]
        sparse: bool = issparse(U)
        if sparse:
            U = csr_array(U)
            used = np.flatnonzero(np.diff(U.indptr))
            if len(used) < len(self.bits) / 2:  # some documents have few of all terms, too
                return self.rows(used).transposed_times(U[used])
        result = np.zeros((self.width, U.shape[1]), dtype=U.dtype)
        for rows, block in self._blocks(U.dtype):
            result += block.T @ U[rows]
        return result

    def gram(self) -> Array:
        """Return the products of all pairs of columns (k x k)."""
        result = np.zeros((self.width, self.width))
        for _, block in self._blocks(np.float32):
            result += block.T @ block  # whole numbers below 2^24: exact
        return result

    def _blocks(self, dtype: Any) -> Iterator[tuple[slice, Array]]:
        """Yield runs of rows, and what they hold as floats."""
        size = max(1, UNPACKED_ENTRIES // max(1, self.width))
        table = TABLE.astype(dtype)
        for start in range(0, len(self.bits), size):
            rows = slice(start, start + size)
            yield rows, _entries(table, self.bits[rows])[:, : self.width]


def _entries(table: Array, bits: NDArray[np.uint8]) -> Array:
    return table[bits].reshape(len(bits), 4 * bits.shape[1])
