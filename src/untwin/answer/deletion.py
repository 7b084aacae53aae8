"""Rows without one of their words or cells: a text loses a word wherever it is, a table's cell becomes missing.

How the log-odds of two classes change then is evidence that holds whatever the model is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.terms import clean, word_spans

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from untwin._types import Array, Floats

MOST = 1000  # deletions of one row: beyond them the smallest cells, or the last words, stay
LEAST_LOG = -50.0  # of a class that is ruled out


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


def without_each_cell(
    row: Mapping[str, Any], columns: Iterable[str], texts: Collection[str]
) -> tuple[list[str], dict[str, list[Any]]]:
    """Return the cells of some columns of a row, words of those that hold `texts`, and a table with a row without each.

    >>> without_each_cell({"age": 31, "note": "red bus"}, ["age", "note"], ["note"])
    (['age=31', 'red', 'bus'], {'age': [None, 31, 31], 'note': ['red bus', ' bus', 'red ']})
    """
    names, changes = list[str](), list[tuple[str, Any]]()
    for column in columns:
        words, cells = without_each_word(row[column] or "") if column in texts else _without_cell(column, row[column])
        names += words
        changes += [(column, cell) for cell in cells]
    table = {column: [cell] * len(changes) for column, cell in row.items()}
    for place, (column, cell) in enumerate(changes):
        table[column][place] = cell
    return names, table


def log_odds_of(log_p: Array, first: int, second: int) -> Floats:
    """Return the log-odds of two classes.

    >>> log_odds_of(np.log(np.array([[0.6, 0.3, 0.1]])), 0, 1).round(3).tolist()
    [0.693]
    """
    kept = np.maximum(log_p[:, [first, second]].astype(np.float64), LEAST_LOG)
    return np.asarray(kept[:, 0] - kept[:, 1])


def _without_cell(column: str, cell: Any) -> tuple[list[str], list[Any]]:
    """Return what a cell is called, and a missing one; a vector of zeros instead of a vector, nothing of no cell."""
    if cell is None:
        return [], []
    return ([column], [[0] * len(cell)]) if isinstance(cell, list) else ([f"{column}={cell}"], [None])


def _cut(text: str, places: list[tuple[int, int]]) -> str:
    ends = [0, *(last for _, last in places)]
    starts = [*(first for first, _ in places), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
