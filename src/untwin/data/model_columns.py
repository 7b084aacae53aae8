"""Columns of a fitted model: as its fit called them, and as the tables at hand call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from untwin.data.columns import ColumnRoles, require_named
from untwin.data.load import typed_features

if TYPE_CHECKING:
    import polars as pl

    from untwin.data.read import RawTable


@dataclass(frozen=True, slots=True)
class ModelColumns:
    """Which columns a model reads, by the names of the fit and by those of the tables at hand.

    read      columns of the frames that the model reads, in its order; None if it reads texts
    fitted    roles, by the names of the fit
    here      the same roles, by the names of the tables at hand
    named     what the user has named now: a table must have these columns

    >>> import polars as pl
    >>> columns = ModelColumns(None, ColumnRoles(text=("body",)), ColumnRoles(text=("mail",)), ColumnRoles())
    >>> columns.rows(pl.DataFrame({"mail": ["no signal", "low battery"], "day": [1, 2]}))
    ['no signal', 'low battery']
    """

    read: list[str] | None
    fitted: ColumnRoles
    here: ColumnRoles
    named: ColumnRoles

    def rows(self, frame: pl.DataFrame) -> list[str] | pl.DataFrame:
        """Return the rows of a typed table as the model takes them."""
        features = frame.select(self.here.features)
        features.columns = list(self.fitted.features)
        return self.fitted.rows_of(features) if self.read is None else features.select(self.read)

    def rows_of_table(self, table: RawTable) -> list[str] | pl.DataFrame:
        """Return the rows of a table as the model takes them; it must have the columns that the user has named."""
        require_named(table, self.named)
        return self.rows(typed_features(table, self.here))
