"""Tables of corrected labels, as the owner gives them back: the columns `id` and `label`, perhaps `author` and `note`.

Other columns say nothing here: the table of `untwin findings` has the text and the suggestion beside them. A line
without an id or a label is left alone, and so is one that repeats the label that the row has now: a row that several
findings name has several lines, of which the owner edits one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from untwin._errors import InputError
from untwin._wording import option
from untwin.data.formulas import undo_guard_of_table
from untwin.data.read import ReadOptions, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from untwin.data.read import RawTable

OPTIONAL = ("author", "note")


class Correction(NamedTuple):
    """The label that a row is to have, who says so, why, and where that is written."""

    id: str
    label: str
    author: str = ""
    note: str = ""
    place: str = ""


def read_corrections(
    source: str | Path,
    now: Mapping[str, str],
    options: ReadOptions | None = None,
    *,
    id_column: str = "id",
    label_column: str = "label",
) -> list[Correction]:
    r"""Return the corrections in a table (CSV, TSV, JSON Lines, Parquet), each row once, in order.

    `now` has the present label of every row that can be corrected, by id.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "suspects.csv")
    ...     _ = path.write_text("id,label,text\nT-1,cat,purrs\nT-2,dog,barks\n")
    ...     [one.label for one in read_corrections(path, {"T-1": "dog", "T-2": "dog"})]
    ['cat']
    """
    raw = undo_guard_of_table(read_table(source, options=options))
    for column in (id_column, label_column):
        if column not in raw.frame.columns:
            message = f"{raw.name}: there is no column {column!r}. Columns are {raw.column_list()}."
            hint = f"Name the columns with {option('id')} and {option('label')}; `untwin findings -o` writes both."
            raise InputError(message, code="missing-column", hint=hint)
        raw.require_usable(column)
    others = {name: name for name in OPTIONAL if name in raw.frame.columns and name not in raw.refused}
    table = raw.frame.select(**{"id": id_column, "label": label_column, **others})
    found: dict[str, tuple[Correction, int]] = {}
    for place, cells in enumerate(table.iter_rows(named=True)):
        if not cells["id"] or not cells["label"]:
            continue
        one = Correction(**{name: cell or "" for name, cell in cells.items()}, place=raw.places.say(place))
        if one.id not in now:
            message = f"{one.place}: the model has no training row {one.id!r}."
            hint = "Name rows as findings, explanations and the report of this model do."
            raise InputError(message, code="unknown-id", hint=hint)
        if one.label != now[one.id]:
            _require_one_label(raw, found, one)
            found.setdefault(one.id, (one, place))
    return [one for one, _ in found.values()]


def _require_one_label(raw: RawTable, found: dict[str, tuple[Correction, int]], one: Correction) -> None:
    """Refuse a second label for a row; the same one again is nothing new."""
    before = found.get(one.id)
    if before is not None and before[0].label != one.label:
        message = (
            f"{one.place}: the row {one.id!r} is to be {one.label!r}, "
            f"but {before[0].label!r} by row {raw.places.rows[before[1]]}."
        )
        raise InputError(message, code="two-labels", hint="Keep one of the two lines.")
