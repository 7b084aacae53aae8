"""Rows of any kind without one of their words or cells, as the estimators of a model take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from untwin.answer.deletion import MOST, without_each_cell, without_each_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array

MOST_CELLS = 20_000_000  # numbers in all rows of a dense matrix


def without_each(
    given: Any, used: Sequence[str] | None, texts: Sequence[str] | None, names: Array | None
) -> tuple[list[str], Any]:
    """Return what can be deleted from one row, and the row without each, in the same order.

    `used` and `texts` are the columns of a frame that count, and those that hold texts; `names` those of a matrix.
    """
    if isinstance(given, list):
        return without_each_word(given[0])
    if isinstance(given, pl.DataFrame):
        columns = given.columns if used is None else [name for name in given.columns if name in used]
        return _frames(given, columns, () if texts is None else texts)
    return _matrices(given, names)


def _frames(row: pl.DataFrame, columns: Sequence[str], texts: Sequence[str]) -> tuple[list[str], pl.DataFrame]:
    """Return the cells and words of a row, and a frame with a row without each, its columns of the same types."""
    cells = {column.name: column.to_list()[0] for column in row}
    names, table = without_each_cell(cells, columns, texts)
    return names, pl.DataFrame([pl.Series(name, table[name], dtype=kind) for name, kind in row.schema.items()])


def _matrices(row: Any, names: Array | None) -> tuple[list[str], Any]:
    """Return the largest cells of a row that are not zero, and a matrix with a row without each."""
    cells = csr_array(row)
    most = MOST if not isinstance(row, np.ndarray) else min(MOST, MOST_CELLS // max(row.shape[1], 1))
    order = np.argsort(-np.abs(cells.data), kind="stable")[:most]
    order = np.sort(order[cells.data[order] != 0])
    columns = cells.indices[order]
    called = [f"term {column}" if names is None else str(names[column]) for column in columns.tolist()]
    if isinstance(row, np.ndarray):
        dense = np.repeat(np.asarray(row), len(columns), axis=0)
        dense[np.arange(len(columns)), columns] = 0
        return called, dense
    n_cells = len(cells.data)
    data = np.tile(cells.data, len(columns))
    data[np.arange(len(columns)) * n_cells + order] = 0
    ends = n_cells * np.arange(len(columns) + 1)
    changed = csr_array((data, np.tile(cells.indices, len(columns)), ends), shape=(len(columns), row.shape[1]))
    changed.eliminate_zeros()
    return called, changed
