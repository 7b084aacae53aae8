"""Blocks of terms: what `TableEncoder` makes of one column, whatever its role.

A block reads its column out of a frame and hands the cells to a transformer: one from outside for texts and numbers,
`NominalValues` and `Vectors` for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from untwin._errors import InputError
from untwin.data.frames import dense_cells, nominal_cells, numeric_cells, text_cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Floats

READERS: dict[str, Callable[[pl.Series], Any]] = {
    "text": text_cells,
    "numeric": numeric_cells,
    "nominal": nominal_cells,
    "dense": dense_cells,
}


@dataclass(slots=True)
class ColumnBlock:
    """One column, its role, and the transformer that turns its cells into terms."""

    column: str
    role: str
    transformer: Any

    def fit_transform(self, frame: pl.DataFrame, y: Any) -> csr_array:
        """Learn the terms of the column and return them."""
        return self._terms(self.transformer.fit_transform, frame, y)

    def transform(self, frame: pl.DataFrame) -> csr_array:
        """Return the terms of the column."""
        return self._terms(self.transformer.transform, frame)

    def names(self, *, prefixed: bool) -> list[str]:
        """Return the names of the terms; texts carry the name of their column only if asked to."""
        names = [str(name) for name in self.transformer.get_feature_names_out()]
        if self.role == "dense" or (self.role == "text" and prefixed):
            return [f"{self.column}: {name}" for name in names]
        return [f"{self.column}={name}" for name in names] if self.role == "nominal" else names

    def _terms(self, work: Callable[..., Any], frame: pl.DataFrame, *labels: Any) -> csr_array:
        """Return what the transformer makes of the cells; what goes wrong there gets the name of the column."""
        cells = READERS[self.role](frame[self.column])
        try:
            return csr_array(work(cells, *labels), dtype=np.float64)
        except ValueError as error:
            raise InputError(f"Column {self.column!r}: {error}", code="bad-column") from error


@dataclass(slots=True, eq=False)
class NominalValues:
    """One term for each value that occurs at least `min_count` times, one for all rarer ones together.

    Missing values have a term of their own if there are any in `fit`; what `fit` has not seen has one as well.

    >>> values = NominalValues(min_count=2)
    >>> values.fit_transform(pl.Series(["red", "red", "blue", None])).toarray().tolist()
    [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    >>> values.get_feature_names_out()
    ['red', '(rare)', '(missing)', '(unseen)']
    """

    min_count: int
    frequent: pl.Series = field(default_factory=pl.Series)
    rare: pl.Series = field(default_factory=pl.Series)
    has_missing: bool = False

    def fit_transform(self, cells: pl.Series, y: Any = None) -> csr_array:
        """Learn the values and return the terms of the cells."""
        counts = cells.drop_nulls().alias("value").value_counts().sort("value")
        self.frequent = counts.filter(pl.col("count") >= self.min_count)["value"]
        self.rare = counts.filter(pl.col("count") < self.min_count)["value"]
        self.has_missing = cells.null_count() > 0
        return self.transform(cells)

    def transform(self, cells: pl.Series) -> csr_array:
        """Return the terms of the cells."""
        known = pl.Enum(pl.concat([self.frequent, self.rare]))
        pool, n_terms = len(self.frequent), len(self.get_feature_names_out())
        places = cells.cast(known, strict=False).to_physical().cast(pl.Int32).clip(upper_bound=pool)
        columns = places.fill_null(n_terms - 1).to_numpy(writable=True)
        if self.has_missing:
            columns[cells.is_null().to_numpy()] = n_terms - 2
        ends = np.arange(len(cells) + 1, dtype=np.int32)
        return csr_array((np.ones(len(cells)), columns, ends), shape=(len(cells), n_terms))

    def get_feature_names_out(self) -> list[str]:
        """Return the values, then what stands for the others."""
        pooled = ["(rare)"] if len(self.rare) else []
        return [*self.frequent.to_list(), *pooled, *(["(missing)"] if self.has_missing else []), "(unseen)"]


@dataclass(slots=True)
class Vectors:
    """Vectors as they are, all as long as those of `fit`."""

    length: int = 0

    def fit_transform(self, cells: Floats, y: Any = None) -> Floats:
        """Learn how long the vectors are."""
        self.length = cells.shape[1]
        return cells

    def transform(self, cells: Floats) -> Floats:
        """Return the vectors."""
        if cells.shape[1] != self.length:
            raise ValueError(f"Vectors must have {self.length} numbers, as in fit. Got {cells.shape[1]} instead.")
        return cells

    def get_feature_names_out(self) -> list[str]:
        """Return the numbers of the components."""
        return [str(number) for number in range(self.length)]
