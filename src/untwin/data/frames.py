"""Frames of any library as Polars columns, read by role; whatever cannot be read is refused with its column and row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin.data.guess import ColumnUse, as_numbers, guess_feature, guess_id, guess_split
from untwin.data.read.table import Places, RawTable, empty_as_null

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from untwin._types import Floats

LABEL = "\0label"  # what the labels are called beside the columns of X while roles are guessed
A_DAY = {"ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}


def as_frame(X: Any) -> pl.DataFrame:
    """Return a frame (Polars, pandas, Arrow, whatever narwhals knows) or a dict of arrays as a Polars frame.

    >>> as_frame({"age": np.array([31, 44]), "vector": np.eye(2)}).schema
    Schema([('age', Int64), ('vector', Array(Float64, shape=(2,)))])
    """
    if isinstance(X, Mapping):
        columns = [_from_array(name, cells) for name, cells in X.items()]
    else:
        columns = [_from_column(column) for column in _native_columns(X)]
    lengths = {column.name: len(column) for column in columns}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"X must have columns of one length. Got {lengths} instead.")
    frame = pl.DataFrame(columns)
    if frame.height == 0:
        raise ValueError("X must have at least one row. Got a frame without rows instead.")
    return frame


def _native_columns(X: Any) -> Any:
    wanted = "a frame with named columns (Polars, pandas, Arrow) or a dict of arrays"
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError:
        raise ValueError(f"X must be {wanted}. Got {type(X).__name__} instead.") from None
    if not all(isinstance(name, str) for name in frame.columns):
        raise ValueError(f"X must be {wanted}, the names strings. Got {frame.columns[:5]} instead.")
    return frame.iter_columns()


def _from_array(name: str, cells: Any) -> pl.Series:
    plain = isinstance(cells, np.ndarray) and cells.dtype != object
    return pl.Series(name, cells) if plain else _from_objects(name, cells)


def _from_column(column: nw.Series[Any]) -> pl.Series:
    """Return a column as Polars; by way of its cells where the fast way needs a package that is not there."""
    try:
        return column.to_polars()
    except (ImportError, ValueError, TypeError):
        missing = column.is_null().to_list()
        cells = (None if gone else cell for gone, cell in zip(missing, column.to_list(), strict=True))
        return _from_objects(column.name, cells)


def _from_objects(name: str, cells: Iterable[Any]) -> pl.Series:
    """Return Python objects as a column; NaN is missing, and numbers among strings are strings."""
    present = [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in cells]
    return pl.Series(name, present, strict=False)


def text_cells(column: pl.Series) -> pl.Series:
    """Return texts; a missing one is empty.

    >>> text_cells(pl.Series("title", ["Wool", None])).to_list()
    ['Wool', '']
    """
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
        raise _wrong(column, "texts", f"a column of {column.dtype}", "Name it in numeric or nominal.")
    return column.cast(pl.String).fill_null("")


def numeric_cells(column: pl.Series) -> pl.DataFrame:
    """Return numbers, as a frame of one column that keeps its name; missing ones are null.

    >>> numeric_cells(pl.Series("age", ["31.5", " 44", None]))["age"].to_list()
    [31.5, 44.0, None]
    """
    kind = column.dtype
    if kind in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        column = empty_as_null(column.to_frame()).to_series()
        numbers = as_numbers(column)
    elif kind.is_temporal():
        numbers = days(column)
    elif kind.is_numeric() or kind in (pl.Boolean, pl.Null):
        numbers = column.cast(pl.Float64)
    else:
        raise _wrong(column, "numbers", f"a column of {kind}", "Name it in text or nominal, or turn it into numbers.")
    wrong = (column.is_not_null() & (numbers.is_null() | numbers.is_infinite())).arg_true()
    if len(wrong):
        row = int(wrong[0])
        hint = "Leave a cell empty if its value is unknown, or name the column in nominal."
        raise _wrong(column, "finite numbers", f"{column[row]!r} in row {row + 1}", hint)
    return numbers.fill_nan(None).to_frame()


def days(column: pl.Series) -> pl.Series:
    """Return dates and times as days since 1970, durations and times of the day as days.

    >>> days(pl.Series("day", ["1970-01-02", None]).str.to_date()).to_list()
    [1.0, None]
    """
    if column.dtype == pl.Date:
        return column.to_physical().cast(pl.Float64)
    unit = getattr(column.dtype, "time_unit", "ns")  # a time of the day has nanoseconds
    return column.to_physical().cast(pl.Float64) / A_DAY[unit]


def nominal_cells(column: pl.Series) -> pl.Series:
    """Return names as strings, whole numbers without decimals whatever their type; missing ones are null.

    >>> nominal_cells(pl.Series("floor", [1.0, 2.5, None, float("nan")])).to_list()
    ['1', '2.5', None, None]
    """
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise _wrong(column, "names or numbers", f"a column of {column.dtype}", "Leave it out.")
    if column.dtype.is_float():
        return column.fill_nan(None).cast(pl.String).str.strip_suffix(".0")
    return empty_as_null(column.cast(pl.String).to_frame()).to_series()


def dense_cells(column: pl.Series) -> Floats:
    """Return a column of vectors as a matrix.

    >>> dense_cells(pl.Series("vector", [[1, 2], [3, 4]])).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    hint = "Give every row a list of numbers, all of one length."
    if not is_dense(column):
        raise _wrong(column, "vectors", f"a column of {column.dtype}", hint)
    vectors = column.cast(pl.List(pl.Float64))
    odd = (vectors.list.len() != vectors.list.len()[0]).fill_null(value=True).arg_true()
    if len(odd):
        row = int(odd[0])
        raise _wrong(column, "vectors of one length", f"{str(vectors[[row]].to_list()[0])[:60]} in row {row + 1}", hint)
    matrix = vectors.explode(empty_as_null=False).to_numpy().astype(np.float64).reshape(len(vectors), -1)
    if not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise _wrong(column, "vectors of finite numbers", f"a missing or infinite number in row {row + 1}", hint)
    return matrix


def is_dense(column: pl.Series) -> bool:
    """Tell whether a column holds lists of numbers."""
    inner = getattr(column.dtype, "inner", None)
    return isinstance(column.dtype, pl.List | pl.Array) and inner is not None and inner.is_numeric()


def _wrong(column: pl.Series, wanted: str, found: str, hint: str) -> InputError:
    return InputError(f"Column {column.name!r} must hold {wanted}. Got {found} instead.", code="bad-column", hint=hint)


def guess_uses(frame: pl.DataFrame, labels: ArrayLike | None) -> list[ColumnUse]:
    """Return what each column can be used for and why: the guesses of `untwin check`, and lists of numbers as dense.

    >>> frame = pl.DataFrame({"body": ["no signal here", "low battery"], "price": [3, 4]})
    >>> [(use.name, use.role) for use in guess_uses(frame, None)]
    [('body', 'text'), ('price', 'numeric')]
    """
    nested = [column.name for column in frame if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object)]
    label = np.zeros(frame.height) if labels is None else np.asarray(labels)
    dates = [column.name for column in frame if column.dtype.is_temporal()]
    plain = frame.drop(nested).with_columns(days(frame[name]) for name in dates)
    cells = [*map(nominal_cells, plain), pl.Series(LABEL, label.astype(str))]
    raw = RawTable(pl.DataFrame(cells), Places("X", np.arange(1, frame.height + 1)), "frame")
    uses = {name: _nested_use(frame[name]) for name in nested}
    for guess in (guess_id, guess_split):
        use = guess(raw, uses)
        if use is not None:
            uses[use.name] = use
    found = [uses.get(name) or guess_feature(raw, name, LABEL) for name in frame.columns]
    return [replace(use, reason=f"dates as days: {use.reason}") if use.name in dates else use for use in found]


def _nested_use(column: pl.Series) -> ColumnUse:
    if is_dense(column):
        return ColumnUse(column.name, "dense", "lists of numbers")
    return ColumnUse(column.name, "unused", f"holds {column.dtype}", "nested")
