"""Check the user's rows and labels, and convert them: texts, a frame or a matrix, and one label for each row."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import type_of_target

from untwin._compat import require_classes
from untwin._errors import InputError
from untwin._forks import require_polars
from untwin._labels import require_distinct
from untwin.data.frames import is_dense
from untwin.represent.incremental import stack_matrices

if TYPE_CHECKING:
    from untwin._types import Array


def kind_of(X: Any) -> str:
    """Return "texts", "frame" or "matrix"; raise ValueError for one string or for no rows.

    >>> kind_of(["a text", "another"]), kind_of({"price": [1, 2]}), kind_of([[1.0, 2.0]])
    ('texts', 'frame', 'matrix')
    """
    if isinstance(X, str | bytes):
        raise ValueError("X must be a list of texts. Got one string instead; give a list of texts, if only of one.")
    if issparse(X):
        return "matrix"
    if isinstance(X, Mapping):
        return "frame"
    if hasattr(X, "columns"):  # numbered columns are those of a matrix
        return "frame" if all(isinstance(name, str) for name in X.columns) else "matrix"
    cells = X if isinstance(X, list | tuple) or _is_series(X) else np.asarray(X)
    if isinstance(cells, np.ndarray) and cells.ndim != 1:
        return "matrix"
    if not len(cells):
        raise ValueError("X must hold at least one row. Got no rows instead.")
    if _is_series(cells):
        return "texts"
    first = next((cell for cell in cells if not _is_missing(cell)), "")
    return "texts" if isinstance(first, str) else "matrix"


def require_threads(kind: str) -> None:
    """Raise if this process was forked after Polars started its threads, since texts and frames would wait for ever."""
    if kind != "matrix":
        require_polars()


def as_texts(X: Any) -> list[str]:
    """Return texts as a list; raise ValueError with the row of a cell that is no text."""
    texts = list(X.to_list() if _is_series(X) else X)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"X must hold texts, all of them strings. Got {text!r} in row {row} instead; write '' if it is missing."
            )
    return texts


def as_one_text(documents: Any) -> list[str]:
    """Return documents as one readable string each: a row of a frame is its cells after their columns' names.

    Empty cells are left out. The cell of an only column stands alone.

    >>> as_one_text(pl.DataFrame({"name": ["ape", None], "legs": [2, 4]}))
    ['name: ape | legs: 2', 'legs: 4']
    """
    if isinstance(documents, pl.DataFrame):
        cells = documents.select(
            (f"{column.name}: " + _readable(column)).alias(column.name) if documents.width > 1 else _readable(column)
            for column in documents
        )
        return (
            cells.select(pl.concat_str(pl.all(), separator=" | ", ignore_nulls=True).fill_null(""))
            .to_series()
            .to_list()
        )
    return list(documents)


def in_words(row: Any) -> str:
    """Return a row as text.

    >>> in_words(pl.DataFrame({"age": [31.0], "job": ["cook"]}))
    'age: 31.0; job: cook'
    """
    if isinstance(row, pl.DataFrame):
        return "; ".join(f"{name}: {cell}" for name, cell in row.row(0, named=True).items() if cell not in (None, ""))
    return str(row[0]) if isinstance(row, list) else str(row)


def _readable(column: pl.Series) -> pl.Series:
    """Return cells as strings; vectors as their numbers.

    >>> _readable(pl.Series([[0.5, 1.0], None])).to_list()
    ['0.5, 1.0', None]
    """
    if is_dense(column):
        return column.cast(pl.List(pl.String)).list.join(", ")
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        cells = [None if cell is None else str(cell) for cell in column.to_list()]
        return pl.Series(column.name, cells, dtype=pl.String)
    return column.cast(pl.String)


def as_labels(y: Any) -> Array:
    """Return the labels as an array; `y` may be a list, an array, a pandas or Polars Series, a Categorical.

    >>> as_labels(pl.Series(["b", "a"], dtype=pl.Categorical)).tolist()
    ['b', 'a']
    """
    if y is None:
        raise ValueError("This UntwinClassifier estimator requires y to be passed, but the target y is None.")
    if isinstance(y, str | bytes):
        raise ValueError("y must hold one label for each row. Got one string instead; give a list of labels.")
    if not issparse(y):
        _require_present(y)
        require_distinct(y)
    y = np.asarray(y) if _is_series(y) else y
    if issparse(y) or type_of_target(y, input_name="y").startswith("multilabel"):
        raise ValueError(
            "y must name one class for each row. Got several labels a row instead; use KNNClassifier, or one "
            "UntwinClassifier for each label."
        )
    labels = np.asarray(column_or_1d(y, warn=True))
    _require_savable(labels)
    require_classes(labels)
    return labels.astype(np.int64) if labels.dtype.kind == "u" else labels


def _require_savable(labels: Array) -> None:
    """Raise InputError for labels of a type that a model cannot be saved with."""
    if labels.dtype.kind not in "biufUO":
        what = f"y must hold strings, whole numbers or truth values. Got {labels.dtype} instead"
        raise InputError(f"{what}.", code="label-kind", hint="Turn them into strings, such as y.astype(str).")
    if labels.dtype.kind == "u" and labels.size and labels.max() > np.iinfo(np.int64).max:
        message = f"y must hold whole numbers of 64 bits with a sign. Got {labels.max()} instead."
        raise InputError(message, code="label-kind", hint="Turn them into strings, such as y.astype(str).")


def _require_present(y: Any) -> None:
    """Raise ValueError for a missing label; checked before NumPy converts it into a name or a number."""
    cells = y if isinstance(y, list | tuple) else y.to_list() if _is_series(y) else np.asarray(y).ravel().tolist()
    missing = next((row for row, label in enumerate(cells) if _is_missing(label)), None)
    if missing is not None:
        reason = f"Got a missing label in row {missing} instead; drop the rows without one."
        raise ValueError(f"y must name the class of each row. {reason}")
    assert_all_finite(np.asarray(y), input_name="y")


def _is_missing(cell: Any) -> bool:
    """Tell whether a cell is None, NaN or what pandas writes for them."""
    if isinstance(cell, float | np.floating):
        return isnan(cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def stack_rows(parts: list[Any]) -> Any:
    """Return the parts stacked row by row; matrices in the format of the first."""
    first = parts[0]
    if isinstance(first, list):
        return [text for part in parts for text in part]
    if isinstance(first, pl.DataFrame):
        return pl.concat([part.select(first.columns) for part in parts], how="vertical_relaxed")
    return stack_matrices(parts)


def _is_series(values: Any) -> bool:
    if isinstance(values, list | tuple | np.ndarray):  # narwhals takes its time
        return False
    return isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series)
