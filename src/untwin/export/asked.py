"""Check what a model that only answers is asked about: a list of texts, a table, or a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin.answer.cells import TableColumn


def as_texts(texts: Any) -> list[str]:
    """Return texts as a list, empty ones for missing ones; raise ValueError for anything else."""
    if isinstance(texts, str):
        raise ValueError("texts must be a list of texts. Got a single text instead.")
    found = ["" if text is None else text for text in texts]
    wrong = next((text for text in found if not isinstance(text, str)), None)
    if wrong is not None:
        raise ValueError(f"texts must be a list of texts. Got one that holds a {type(wrong).__name__} instead.")
    return [str(text) for text in found]


def as_lists(X: Any, columns: Sequence[TableColumn]) -> dict[str, list[Any]]:
    """Return the cells of the columns of a table, as lists."""
    if isinstance(X, dict) and all(type(X.get(column.name)) is list for column in columns):
        return {column.name: X[column.name] for column in columns}
    from untwin.data.table_cells import as_table  # takes Polars, which lists of cells do without

    return as_table(columns, X).to_dict(as_series=False)


def as_matrix(X: Any, n_columns: int) -> Any:
    """Return a dense or CSR matrix of numbers with so many columns; raise ValueError for anything else.

    >>> as_matrix([[1, 2], [3, 4]], 2).shape
    (2, 2)
    """
    if any(isinstance(name, str) for name in getattr(X, "columns", ())):
        raise ValueError("X must be a matrix. Got a table with named columns instead.")
    found = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if found.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers. Got {found.dtype} instead.")
    if found.ndim != 2:
        raise ValueError(f"X must be a matrix, a row for each answer. Got {found.ndim} dimensions instead.")
    if found.shape[1] != n_columns:
        raise ValueError(f"X must have {n_columns} columns, as in fit. Got {found.shape[1]} instead.")
    return found
