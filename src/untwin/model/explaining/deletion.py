"""Rows without one of their words or cells: a text loses a word wherever it is, a table's cell becomes missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from untwin.answer.terms import clean, word_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array

MOST = 1000  # deletions of one row: beyond them the smallest cells, or the last words, stay
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


def without_each_word(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text, as first spelled, and the text without each.

    >>> without_each_word("Red bus, red tram")
    (['Red', 'bus', 'tram'], [' bus,  tram', 'Red , red tram', 'Red bus, red '])
    """
    cleaned = clean(text)
    text = text if len(text) == len(cleaned) else cleaned
    spans: dict[str, list[tuple[int, int]]] = {}
    for first, last in word_spans(cleaned):
        spans.setdefault(cleaned[first:last], []).append((first, last))
    found = list(spans.values())[:MOST]
    return [text[slice(*places[0])] for places in found], [_cut(text, places) for places in found]


def _cut(text: str, places: list[tuple[int, int]]) -> str:
    ends = [0, *(last for _, last in places)]
    starts = [*(first for first, _ in places), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def _frames(row: pl.DataFrame, columns: Sequence[str], texts: Sequence[str]) -> tuple[list[str], pl.DataFrame]:
    """Return the cells and words of a row, and a frame with a row without each."""
    names, column_of, cells = list[str](), list[str](), list[Any]()
    for column in columns:
        cell = row[column][0]
        if column in texts:
            words, changed = without_each_word(cell or "")
        elif cell is None:
            continue
        else:
            words, changed = _cell(row[column])
        names += words
        cells += changed
        column_of += [column] * len(words)
    n_rows = len(names)
    made = row[np.zeros(n_rows, dtype=np.intp)]
    for column in dict.fromkeys(column_of):
        kept = row[column].to_list()[0]
        values = [cells[place] if column_of[place] == column else kept for place in range(n_rows)]
        made = made.with_columns(pl.Series(column, values, dtype=row[column].dtype))
    return names, made


def _cell(cell: pl.Series) -> tuple[list[str], list[Any]]:
    """Return what a cell is called, and a missing one; a vector of zeros instead of a vector."""
    (value,) = cell.to_list()
    return ([cell.name], [[0] * len(value)]) if cell.dtype.is_nested() else ([f"{cell.name}={value}"], [None])


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
