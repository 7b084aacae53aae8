"""Tables of decisions about rows: id, label, and perhaps author and note."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from untwin._errors import InputError
from untwin.data.formulas import undo_guard_of_table
from untwin.data.read import read_table

if TYPE_CHECKING:
    from pathlib import Path

    from untwin.data.read import RawTable, ReadOptions


class RowDecision(NamedTuple):
    """What a line of a table says of a row; `place` is where it says so."""

    place: str
    id: str
    label: str
    author: str
    note: str


def read_decisions(
    path: str | Path, needed: tuple[str, ...], options: ReadOptions | None = None, **columns: str
) -> list[RowDecision]:
    """Return the decisions in a table, which must have the `needed` columns; `columns` are called otherwise there."""
    raw = undo_guard_of_table(read_table(path, options=options) if options else read_table(path))
    names = {part: columns.get(part) or part for part in ("id", "label", "author", "note")}
    for part in needed:
        _require_column(raw, names[part], part)
    empty = [""] * raw.frame.height
    cells = {
        part: [cell or "" for cell in raw.frame[name].to_list()] if name in raw.frame.columns else empty
        for part, name in names.items()
    }
    decisions = [
        RowDecision(raw.places.say(number), *found)
        for number, found in enumerate(zip(*(cells[part] for part in names), strict=True))
    ]
    _require_ids(decisions)
    return decisions


def _require_column(raw: RawTable, name: str, part: str) -> None:
    if name not in raw.frame.columns:
        message = f"{raw.name}: there is no column {name!r}. Columns: {raw.column_list()}."
        raise InputError(message, code="missing-column", hint=f"Rename the column, or name yours with --{part}.")
    raw.require_usable(name)


def _require_ids(decisions: list[RowDecision]) -> None:
    seen: dict[str, str] = {}
    for decision in decisions:
        if not decision.id:
            hint = "Give the id of the row, as findings and explanations call it."
            raise InputError(f"{decision.place}: the id is empty.", code="empty-id", hint=hint)
        first = seen.setdefault(decision.id, decision.place)
        if first != decision.place:
            message = f"{decision.place}: row {decision.id!r} has been decided before ({first})."
            raise InputError(message, code="repeated-id", hint="Keep one of the two lines.")
