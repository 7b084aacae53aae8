"""Polars columns as plain arrays or strings, and back.

A column is {"name", "dtype", "cells", "valid"}: its dtype as a short list such as ["Int64"] or ["Duration", "us"]; its
cells as an array (times as numbers) or a list of strings, with any value where a cell is missing; and which cells
are there (None: all).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from untwin.store.refusal import require

_NUMBERS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "Boolean")
_STRINGS = ("String", "Categorical")
_TIMES = {"Date": pl.Int32, "Time": pl.Int64, "Datetime": pl.Int64, "Duration": pl.Int64}


class UnknownColumn(Exception):  # noqa: N818  (it says what happened)
    """A column of a dtype that cannot be saved."""


def column_state(column: pl.Series) -> dict[str, Any]:
    """Return a column as plain values.

    >>> column_state(pl.Series("floor", [1, None]))
    {'name': 'floor', 'dtype': ['Int64'], 'cells': array([1, 0]), 'valid': array([ True, False])}
    """
    dtype, cells = _plain(column)
    valid = None if column.null_count() == 0 else column.is_not_null().to_numpy()
    return {"name": column.name, "dtype": dtype, "cells": cells, "valid": valid}


def column_of(state: dict[str, Any]) -> pl.Series:
    """Return the column of plain values that a stranger may have written."""
    name, dtype, cells, valid = (state[key] for key in ("name", "dtype", "cells", "valid"))
    column = _polars(name, dtype, cells)
    if valid is None:
        return column
    require(valid.dtype == bool and valid.shape == (len(column),), f"Column {name} must say which cells are there")
    return pl.select(pl.when(pl.Series(valid)).then(column)).to_series().alias(name)


def _plain(column: pl.Series) -> tuple[list[Any], Any]:
    dtype = column.dtype
    kind = str(dtype.base_type())
    if kind in _STRINGS:
        return [kind], column.cast(pl.String).fill_null("").to_list()
    if isinstance(dtype, pl.Enum):
        return [kind, dtype.categories.to_list()], column.cast(pl.String).fill_null(dtype.categories[0]).to_list()
    if kind in _NUMBERS:
        return [kind], _fill_missing(column)
    if kind in _TIMES:
        details = [getattr(dtype, key) for key in ("time_unit", "time_zone") if hasattr(dtype, key)]
        return [kind, *details], _fill_missing(column.to_physical())
    if kind == "Null":
        return [kind], np.zeros(len(column), dtype=np.int8)
    inner = getattr(dtype, "inner", None)
    if kind in ("List", "Array") and inner is not None and inner.is_numeric() and column.null_count() == 0:
        vectors = column.cast(pl.List(inner))
        lengths = vectors.list.len().unique()
        flat = vectors.explode(empty_as_null=False)
        if len(lengths) == 1 and flat.null_count() == 0:
            return [kind], flat.to_numpy().reshape(len(column), lengths[0])
    raise UnknownColumn


def _fill_missing(column: pl.Series) -> Any:
    return column.fill_null(False if column.dtype == pl.Boolean else 0).to_numpy()


def _polars(name: str, dtype: list[Any], cells: Any) -> pl.Series:
    kind, *details = dtype
    if kind == "Enum":
        return pl.Series(name, cells, dtype=pl.Enum(details[0]))
    if kind in _STRINGS:
        return pl.Series(name, cells, dtype=pl.String).cast(getattr(pl, kind))
    if kind in _TIMES:
        return pl.Series(name, cells, dtype=_TIMES[kind]).cast(getattr(pl, kind)(*details))
    if kind == "Null":
        return pl.Series(name, [None] * len(cells), dtype=pl.Null)
    require(kind in (*_NUMBERS, "List", "Array"), f"The dtype of column {name} must be one that is saved")
    column = pl.Series(name, cells)
    return column.arr.to_list() if kind == "List" else column
