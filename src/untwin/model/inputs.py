"""What a user hands over, brought to one of three kinds: texts, a frame, a matrix; and one label for each row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from scipy.sparse import csr_array, issparse, vstack
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def kind_of(X: Any) -> str:
    """Return "texts", "frame" or "matrix".

    >>> kind_of(["a text", "another"]), kind_of({"price": [1, 2]}), kind_of([[1.0, 2.0]])
    ('texts', 'frame', 'matrix')
    """
    if issparse(X):
        return "matrix"
    if isinstance(X, Mapping):
        return "frame"
    if hasattr(X, "columns"):  # numbered columns are those of a matrix
        return "frame" if all(isinstance(name, str) for name in X.columns) else "matrix"
    if _is_series(X):
        return "texts"
    if isinstance(X, list | tuple):
        return "texts" if X and isinstance(X[0], str) else "matrix"
    return "texts" if _is_array_of_texts(X) else "matrix"


def as_texts(X: Any) -> list[str]:
    """Return texts as a list; a cell that is no text is refused with its row."""
    texts = list(X.to_list() if _is_series(X) else X)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"X must hold texts, all of them strings. Got {text!r} in row {row} instead; write '' if it is missing."
            )
    return texts


def as_one_text(documents: Any) -> list[str]:
    """Return documents as a person reads them: a row of a frame is its cells, one after the other.

    >>> as_one_text(pl.DataFrame({"name": ["ape"], "legs": [2]}))
    ['ape | 2']
    """
    if isinstance(documents, pl.DataFrame):
        cells = [pl.col(name).cast(pl.String).fill_null("") for name in documents.columns]
        return documents.select(pl.concat_str(cells, separator=" | ")).to_series().to_list()
    return list(documents)


def as_labels(y: Any) -> Array:
    """Return one class name for each row; a list of names, an array, a pandas or Polars Series, a Categorical.

    >>> as_labels(pl.Series(["b", "a"], dtype=pl.Categorical)).tolist()
    ['b', 'a']
    """
    if y is None:
        raise ValueError("This UntwinClassifier estimator requires y to be passed, but the target y is None.")
    y = np.asarray(y) if _is_series(y) else y
    if not issparse(y):
        _require_present(np.asarray(y))
    if issparse(y) or type_of_target(y, input_name="y").startswith("multilabel"):
        raise ValueError(
            "y must name one class for each row. Got several labels a row instead; use KNNClassifier, or one "
            "UntwinClassifier for each label."
        )
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    return np.asarray(labels)


def _require_present(labels: Array) -> None:
    if labels.dtype == object and any(label is None for label in labels.ravel().tolist()):
        raise ValueError("y must name the class of each row. Got a missing label instead; drop the rows without one.")
    assert_all_finite(labels, input_name="y")


def stacked_rows(parts: list[Any]) -> Any:
    """Return rows of one kind below each other; matrices may be wider than those before them."""
    first = parts[0]
    if isinstance(first, list):
        return [text for part in parts for text in part]
    if isinstance(first, pl.DataFrame):
        return pl.concat([part.select(first.columns) for part in parts], how="vertical_relaxed")
    sparse: bool = issparse(first)
    return csr_array(vstack(parts, format="csr")) if sparse else np.vstack(parts)


def _is_series(values: Any) -> bool:
    return isinstance(nw.from_native(values, series_only=True, pass_through=True), nw.Series)


def _is_array_of_texts(X: Any) -> bool:
    array = np.asarray(X)
    return array.ndim == 1 and array.size > 0 and isinstance(array[0], str)
