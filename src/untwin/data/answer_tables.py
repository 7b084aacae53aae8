"""Tables of answers, whoever gave them: labels that were said, what was promised of them, and whose rows they are.

An empty cell is an answer that was not given: the empty string, which is no class.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from untwin._errors import InputError
from untwin._wording import close_match, format_count, option
from untwin.data.columns import ColumnRoles, require_named
from untwin.data.guess import ColumnUse, guess_id, guess_label

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import polars as pl

    from untwin._types import Array, Flags, Indices
    from untwin.data.read import RawTable
    from untwin.data.read.table import Places

TRUE, FALSE = ("true", "1", "yes"), ("false", "0", "no", "")
ANSWER = "label"  # how the column of `untwin predict` ends that holds the answer; the others begin with the same prefix


def settle_truth(raw: RawTable, given: ColumnRoles) -> ColumnRoles:
    """Return roles with the column of the labels, and that of the ids if there is one, guessed where not given."""
    require_named(raw, given)
    label = given.label or guess_label(raw, {}).name
    found = None if given.id else guess_id(raw, {label: ColumnUse(label, "label", "")})
    return ColumnRoles(label=label, id=given.id if found is None else found.name, split=given.split)


def require_column(raw: RawTable, name: str, parameter: str) -> pl.Series:
    """Return the cells of a column; refuse a table without it, naming the option that could name another."""
    if name not in raw.frame.columns:
        near = close_match(name, raw.frame.columns)
        hint = f"Is it {near!r} here? " if near is not None else ""
        message = f"{raw.name}: there is no column {name!r}. Columns: {raw.column_list()}."
        raise InputError(message, code="missing-column", hint=f"{hint}Name the column with {option(parameter)}.")
    raw.require_usable(name)
    return raw.frame[name]


def answers_in(raw: RawTable, name: str, parameter: str) -> Array:
    """Return the answers of a column as strings, empty where none was given.

    >>> import polars as pl
    >>> from untwin.data.read.table import Places, RawTable
    >>> raw = RawTable(pl.DataFrame({"said": ["a", None]}), Places("t.csv", np.array([1, 2])), "csv")
    >>> answers_in(raw, "said", "new").tolist()
    ['a', '']
    """
    return np.array(require_column(raw, name, parameter).fill_null("").to_list(), dtype=np.str_)


def unsure_in(raw: RawTable, answer: str) -> Flags | None:
    """Return which answers are unsure, if the column that `untwin predict` writes beside them is there."""
    name = f"{answer.removesuffix(ANSWER)}unsure"
    cells = _beside(raw, answer, "unsure")
    if cells is None:
        return None
    told = cells.fill_null("").str.to_lowercase()
    wrong = ~told.is_in([*TRUE, *FALSE])
    if wrong.any():
        row = int(wrong.arg_true()[0])
        message = f"{raw.places.say(row)}, column {name!r}: must be true or false. Got {cells[row]!r} instead."
        raise InputError(message, code="not-a-flag", hint="Rename the column if it is not that of `untwin predict`.")
    return np.asarray(told.is_in(TRUE).to_numpy())


def sets_in(raw: RawTable, answer: str) -> list[Collection[str]] | None:
    """Return the shortlist of each row, if there is a column of them beside the answers: JSON lists.

    Lists of Parquet come as text that is no JSON, so they are passed over.
    """
    cells = _beside(raw, answer, "shortlist")
    return None if cells is None else [_set(raw, row, cell) for row, cell in enumerate(cells.to_list())]


def rows_answered(raw: RawTable, wanted: Places, id_column: str | None, height: int) -> Indices:
    """Return, for each wanted row, the row of a table of answers that answers it.

    Rows are found by their ids, if both tables have them; else by their place in the file, and then the tables must
    have the same number of rows, `height`.

    >>> import polars as pl
    >>> from untwin.data.read.table import Places, RawTable
    >>> raw = RawTable(pl.DataFrame({"id": ["b", "a"]}), Places("t.csv", np.array([1, 2])), "csv")
    >>> rows_answered(raw, Places("d.csv", np.array([1, 2]), ids=["a", "b"]), "id", 2).tolist()
    [1, 0]
    """
    hint = "Give an answer for every row, in the order of the rows or with a column of ids that both tables have."
    by_id = id_column is not None and id_column in raw.frame.columns and wanted.ids is not None
    if not by_id and raw.frame.height != height:
        message = f"{raw.name} has {format_count(raw.frame.height, 'row')}, and {wanted.name} has {height:,}."
        raise InputError(message, code="other-rows", hint=hint)
    names = raw.frame[str(id_column)].to_list() if by_id else raw.places.rows.tolist()
    asked: Sequence[object] = wanted.marks() if by_id else wanted.rows.tolist()
    place = {name: row for row, name in enumerate(names)}
    if len(place) < len(names):
        message = f"{raw.name}, column {id_column!r}: an id stands in several rows, or is missing."
        raise InputError(message, code="repeated-id", hint=f"Name a column of distinct ids with {option('id')}.")
    missing = [row for row, name in enumerate(asked) if name not in place]
    if missing:
        message = f"{raw.name}: {format_count(len(missing), 'row has', 'rows have')} no answer. The first: "
        raise InputError(f"{message}{wanted.say(missing[0])}.", code="missing-answer", hint=hint)
    return np.array([place[name] for name in asked], dtype=np.intp)


def _beside(raw: RawTable, answer: str, what: str) -> pl.Series | None:
    """Return the cells of a column that `untwin predict` writes beside its answers; None without such a column."""
    name = f"{answer.removesuffix(ANSWER)}{what}"
    readable = name not in raw.refused or raw.format == "jsonl"  # of which lists are JSON as written
    there = answer.endswith(ANSWER) and name in raw.frame.columns and readable
    return raw.frame[name] if there else None


def _set(raw: RawTable, row: int, cell: str | None) -> Collection[str]:
    try:
        found = json.loads(cell or "[]")
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        message = f"{raw.places.say(row)}: the shortlist must be a JSON list of names. Got {cell!r} instead."
        raise InputError(message, code="not-a-set", hint="Rename the column if it is not that of `untwin predict`.")
    return frozenset(found)
