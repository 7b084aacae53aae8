"""Cells of a frame as a model that only answers takes them; `plain_cells` does the same for a few plain rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin._forks import require_polars
from untwin.answer.layers import FEW
from untwin.answer.plain_cells import read_plain
from untwin.data.frames import as_frame, nominal_cells, numeric_cells, text_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Floats
    from untwin.answer.cells import Cells, NameColumn, TableColumn

PLAIN = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Float64, pl.Boolean, pl.String, pl.Null)  # plain cells in Python


def read_cells(columns: tuple[TableColumn, ...], X: Any) -> Cells:
    """Return the cells of each column of a frame; raise InputError for what is missing or cannot be read."""
    frame = as_table(columns, X)
    if frame.height <= FEW and all(kind in PLAIN for kind in frame.dtypes):
        cells = read_plain(columns, frame.to_dict(as_series=False))
        if cells is not None:
            return cells
    return [READERS[column.role](column, frame[column.name]) for column in columns]


def as_table(columns: Sequence[TableColumn], X: Any) -> pl.DataFrame:
    """Return the columns of a frame that are used; raise InputError for those that are missing."""
    require_polars()
    frame = X if isinstance(X, pl.DataFrame) and X.height else as_frame(X)
    names = [column.name for column in columns]
    absent = [name for name in names if name not in frame.columns]
    if absent:
        message = f"X must have the columns that the model uses. Got none named {absent} instead."
        raise InputError(message, code="missing-column", hint="Rename the columns as they were in fit.")
    return frame.select(names)


def _numbers(column: TableColumn, cells: pl.Series) -> Floats:
    return np.asarray(numeric_cells(cells).to_series().to_numpy(), dtype=np.float64)


def _names(column: NameColumn, cells: pl.Series) -> Array:
    """Return the numbers of the terms of names."""
    names = nominal_cells(cells)
    known: Sequence[str] = list(column.places)
    places = names.cast(pl.Enum(known), strict=False).to_physical().cast(pl.Int64).fill_null(len(known)).to_numpy()
    terms: Array = np.array([*column.places.values(), column.new], dtype=np.int64)[places]
    terms[names.is_null().to_numpy()] = column.missing
    return terms


def _texts(column: TableColumn, cells: pl.Series) -> list[str]:
    return text_cells(cells).to_list()


READERS: dict[str, Any] = {"numeric": _numbers, "nominal": _names, "text": _texts}
