"""`VectorAnswerer`: rows of a matrix to calibrated log-probabilities, by linear layers in whole numbers.

Each row becomes whole numbers with one scale, as precise as sums of products that float64 holds exactly allow: BLAS may
add them in any order and in blocks of any size, and one row gets the bits that a million get.

Glossary
--------
n rows, m columns, C classes, L layers, K = L * C (see `LinearLayers`)
weights       m x K   whole numbers, of 8, 16 or 32 bits
column_scale  m       powers of two that columns are multiplied with before their row is rounded, so that what counts
                      little is rounded most; 0: no class has a weight there
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.layers import AT_ONCE, LinearLayers
from untwin.answer.rows import MatrixRows, rows_to_answer, to_whole

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats, Floats32

EXACT_BITS = 53  # whole numbers up to 2**53 are exact in double precision
MOST_NUMBERS = 1 << 20  # of dense rows that are converted at a time


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class VectorAnswerer(LinearLayers):
    """All that answers about rows of a matrix need."""

    weights: Array
    column_scale: Array

    def log_proba(self, X: Any) -> tuple[Floats32, Flags]:
        """Return log-probabilities of rows, dense or CSR; none is without evidence, which only texts can be."""
        n_rows, n_columns = X.shape
        log_p = np.empty((n_rows, self.n_classes), dtype=np.float32)
        at_once = max(1, min(AT_ONCE, MOST_NUMBERS // max(n_columns, 1)))
        for start in range(0, n_rows, at_once):
            part = X if n_rows <= at_once else X[start : start + at_once]
            log_p[start : start + at_once] = self._answer(rows_to_answer(part))
        return log_p, np.zeros(n_rows, dtype=np.bool_)

    @property
    def n_columns(self) -> int:
        """How many numbers a row has."""
        return len(self.weights)

    @cached_property
    def _multiplied(self) -> Floats:
        """The weights as numbers that can be multiplied fast; they are whole all the same."""
        return self.weights.astype(np.float64)

    @cached_property
    def _row_bits(self) -> int:
        """How large whole numbers of rows may be so that sums of their products with weights are exact."""
        largest = int(np.abs(self._multiplied).max(initial=0.0))
        return exact_bits(self.n_columns) - largest.bit_length()

    @cached_property
    def _sums_rows(self) -> bool:
        return bool(self.by_length.any() or self.offset.any())

    def _answer(self, rows: MatrixRows) -> Floats32:
        numbers, unit = to_whole(rows, rows.values * rows.of_columns(self.column_scale), self._row_bits)
        products = rows.product(numbers, self._multiplied) * unit[:, np.newaxis]
        units, lengths = self._totals(rows) if self._sums_rows else (np.zeros(len(products)), None)
        with np.errstate(over="ignore"):  # what is so much less likely has probability 0
            return self.log_proba_of_products(products, units, lengths, sparse=False)

    def _totals(self, rows: MatrixRows) -> tuple[Floats, Floats]:
        """Return the sum and the length of each row, 1 for a row of zeros; squares are summed exactly, too."""
        numbers, unit = to_whole(rows, rows.values, exact_bits(self.n_columns) // 2)
        lengths = np.sqrt(rows.sums(numbers * numbers)) * unit
        return rows.sums(numbers) * unit, np.where(lengths > 0, lengths, 1.0)


def exact_bits(n_columns: int) -> int:
    """Return the bits that products of two whole numbers may have so that sums of so many of them are exact.

    >>> exact_bits(384)
    44
    """
    return EXACT_BITS - max(n_columns - 1, 0).bit_length()
