"""Parquet: typed cells become the text they would have in a CSV file."""

from __future__ import annotations

import io

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin.data.read.table import Places, RawTable, Refusal, empty_as_null

DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException)  # damaged pages can panic


def read_parquet(data: bytes, name: str) -> RawTable:
    """Return the table in `data`; list, struct and binary columns are shown but refused when used."""
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except DAMAGED as error:
        raise unreadable(name, error) from None
    return all_text(frame, name)


def unreadable(name: str, error: BaseException) -> InputError:
    """Return what to tell about a file that Polars gave up on."""
    reason = str(error).splitlines()[0]
    hint = "The file is damaged, cut off, or not Parquet: write or copy it again."
    return InputError(f"{name}: cannot be read as Parquet: {reason}.", code="parquet", hint=hint)


def all_text(frame: pl.DataFrame, name: str, first: int = 1) -> RawTable:
    """Return a frame as a table of strings; `first` is the number of its first row."""
    columns, refused = [], {}
    for column in frame:
        text = _as_text(column)
        if text is None:
            text = pl.Series(column.name, map(str, column.to_list()), dtype=pl.String)
            hint = "Write it as plain text (one value a cell), or name another column."
            refused[column.name] = Refusal("nested-column", f"holds values of type {column.dtype}", hint)
        columns.append(text)
    places = Places(name, np.arange(first, first + frame.height))
    return RawTable(empty_as_null(pl.DataFrame(columns)), places, "parquet", refused=refused)


def _as_text(column: pl.Series) -> pl.Series | None:
    """Return the column as text, or None if its values are not single pieces of text."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        return None
    try:  # binary columns of old writers are often text
        return column.cast(pl.String)
    except pl.exceptions.PolarsError:
        return None
