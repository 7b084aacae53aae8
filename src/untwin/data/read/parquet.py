"""Parquet: typed cells become the text they would have in a CSV file."""

from __future__ import annotations

import io

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin.data.read.table import Places, RawTable, Refusal, empty_as_null


def read_parquet(data: bytes, name: str) -> RawTable:
    """Return the table in `data`; list, struct and binary columns are shown but refused when used."""
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:  # damaged pages can panic
        reason = str(error).splitlines()[0]
        hint = "The file is damaged, cut off, or not Parquet: write or copy it again."
        raise InputError(f"{name}: cannot be read as Parquet: {reason}.", code="parquet", hint=hint) from None
    columns, refused = [], {}
    for column in frame:
        text = as_text(column)
        if text is None:
            text = pl.Series(column.name, map(str, column.to_list()), dtype=pl.String)
            hint = "Write it as plain text (one value a cell), or name another column."
            refused[column.name] = Refusal("nested-column", f"holds values of type {column.dtype}", hint)
        columns.append(text)
    places = Places(name, np.arange(1, frame.height + 1))
    return RawTable(empty_as_null(pl.DataFrame(columns)), places, "parquet", refused=refused)


def as_text(column: pl.Series) -> pl.Series | None:
    """Return the column as text, or None if its values are not single pieces of text."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        return None
    try:  # binary columns of old writers are often text
        return column.cast(pl.String)
    except pl.exceptions.PolarsError:
        return None
