"""`TableAnswerer`: rows of a table to calibrated log-probabilities, by linear layers in whole numbers.

Glossary
--------
n rows, m terms, C classes, L layers, K = L * C (see `LinearLayers`), B columns that are used
weights  m x K   those of the terms, times the factor of their column
factors  B       what the terms of each column count
units    n       sum of the values of a row, each times the factor of its column; `lengths` likewise of their squares
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.cells import Entries
from untwin.answer.fixed_point import UNIT, PackedWeights
from untwin.answer.layers import AT_ONCE, FEW, LinearLayers
from untwin.answer.plain_cells import read_plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Array, Flags, Floats, Floats32
    from untwin.answer.cells import Cells, TableColumn

    ReadFrame = Callable[[tuple[TableColumn, ...], Any], Cells]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TableAnswerer(LinearLayers):
    """All that answers about rows of a table need.

    `names` are the columns of the tables of the fit, `columns` those that are used; `read_frame` reads the cells of any
    frame.
    """

    names: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    factors: Floats
    weights: PackedWeights
    read_frame: ReadFrame

    def log_proba(self, X: Any) -> tuple[Floats32, Flags]:
        """Return log-probabilities of rows: lists of cells by the names of their columns, or a frame.

        None is without evidence, which only texts can be.
        """
        cells = read_plain(self.columns, X) if isinstance(X, dict) else None
        if cells is None:
            cells = self.read_frame(self.columns, X)
        n_rows = len(cells[0])
        log_p = np.empty((n_rows, self.n_classes), dtype=np.float32)
        for start in range(0, n_rows, AT_ONCE):
            part = cells if n_rows <= AT_ONCE else [one[start : start + AT_ONCE] for one in cells]
            log_p[start : start + AT_ONCE] = self._answer(part, few=n_rows <= FEW)
        return log_p, np.zeros(n_rows, dtype=np.bool_)

    def entries(self, cells: Cells) -> Entries:
        """Return the terms of rows by their cells."""
        return Entries.join([column.entries(some) for column, some in zip(self.columns, cells, strict=True)])

    def _answer(self, cells: Cells, *, few: bool) -> Floats32:
        entries, n_rows = self.entries(cells), len(cells[0])
        products = self.weights.products(*entries, n_rows) if few else self._products_of_many(entries, n_rows)
        units = self._totals(entries.values, entries, self.factors, n_rows) if self.offset.any() else np.zeros(n_rows)
        lengths = None
        if self.by_length.any():
            squares = self._totals(entries.values * entries.values, entries, self.factors**2, n_rows)
            lengths = np.where(squares > 0, np.sqrt(squares), UNIT) / UNIT
        return self.log_proba_of_products(products / UNIT, units / UNIT, lengths, sparse=not few)

    def _products_of_many(self, entries: Entries, n_rows: int) -> Floats:
        """Return rows times weights by SciPy: whole numbers, so that the order of their sums does not count."""
        from scipy.sparse import csr_array

        values = entries.values.astype(np.float64)
        rows = csr_array((values, (entries.rows, entries.terms)), shape=(n_rows, len(self.weights.starts) - 1))
        return np.asarray((rows @ self._sparse_weights).toarray())

    @cached_property
    def _sparse_weights(self) -> Any:
        from scipy.sparse import csr_array

        starts, columns, weights, n_columns = self.weights
        parts = weights.astype(np.float64), columns.astype(np.int32), starts
        return csr_array(parts, shape=(len(starts) - 1, n_columns))

    @cached_property
    def _column_of(self) -> Array:
        """The column of the table that each term is of."""
        return np.repeat(np.arange(len(self.columns)), [column.size for column in self.columns])

    def _totals(self, numbers: Array, entries: Entries, factors: Floats, n_rows: int) -> Floats:
        """Return the sum of each row, numbers of a column times its factor.

        Sums of columns are exact; these are added up one after the other, for one row as for many.
        """
        places = entries.rows * len(factors) + self._column_of[entries.terms]
        sums = np.bincount(places, weights=numbers, minlength=n_rows * len(factors)).reshape(n_rows, -1)
        return np.asarray(np.add.accumulate(sums * factors, axis=1)[:, -1])
