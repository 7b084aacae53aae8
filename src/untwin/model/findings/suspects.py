"""The rows behind findings as one table, whole texts and all: for the owner to read, edit and give back.

One line for each row of each record; a record that names no training row (a group of classes, unlabelled rows) has one
line without an id. The column `label` is the one to edit: `untwin relabel` reads `id`, `label`, `author` and `note`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin._values import positions
from untwin._wording import close_match
from untwin.model.findings.identity import SUBJECTS, record_id, subject_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from untwin._types import Indices
    from untwin.model.findings.evidence import Evidence
    from untwin.model.findings.finding import Finding

SCHEMA = {
    "id": pl.String,
    "label": pl.String,
    "suggested": pl.String,
    "belief": pl.Float64,
    "text": pl.String,
    "place": pl.Int64,
    "author": pl.String,
    "note": pl.String,
    "finding": pl.String,
    "about": pl.String,
}
ROWS = {
    "label-error": ("row",),
    "conflicting-text": ("rows",),
    "split-leak": ("training rows",),
    "split-class": ("some of one", "some of other"),
}
CLASSES = {"twins": ("a", "b"), "also-see": ("a", "b"), "indistinguishable-classes": ("classes",)}


def require_codes(codes: Collection[str]) -> None:
    """Raise InputError for a code that no finding has."""
    for code in codes:
        if code not in SUBJECTS:
            meant = close_match(code, list(SUBJECTS))
            hint = f"Did you mean {meant!r}?" if meant else f"Findings are {', '.join(SUBJECTS)}."
            raise InputError(f"There is no finding {code!r}.", code="unknown-finding", hint=hint)


def suspects(evidence: Evidence, findings: Sequence[Finding]) -> pl.DataFrame:
    """Return the rows of all records; see the module.

    `suggested` is the class that fits better, where it is another one than the label, and `belief` how likely it is.
    `place` is the number of the row among those learnt, from 1.
    """
    ids = [str(name) for name in evidence.ids_of(np.arange(len(evidence.answers.rows)))]
    place_of = {name: place for place, name in enumerate(ids)}
    lines: list[tuple[Any, ...]] = []
    for finding in findings:
        for record in finding.evidence:
            about = record_id(finding.code, record), subject_of(finding.code, record)
            rows = _rows(evidence, finding.code, record, place_of)
            suggested, belief = _suggested(evidence, finding.code, record, rows)
            label = evidence.answers.y[rows].tolist()
            for n, row in enumerate(rows.tolist()):
                text = None if evidence.texts is None else evidence.texts[row]
                where = int(evidence.answers.rows[row]) + 1
                lines.append((ids[row], label[n], suggested[n], belief[n], text, where, None, None, *about))
            if not len(rows):
                lines.append((*[None] * 8, *about))
    return _frame(lines)


def _frame(lines: list[tuple[Any, ...]]) -> pl.DataFrame:
    columns = zip(*lines, strict=True) if lines else ([] for _ in SCHEMA)
    return pl.DataFrame(
        {
            name: [None if cell is None else _text(cell) if kind == pl.String else cell for cell in column]
            for (name, kind), column in zip(SCHEMA.items(), columns, strict=True)
        },
        schema=SCHEMA,
    )


def _text(cell: Any) -> str:
    """Return a cell as text that every format can hold: of a broken character its replacement."""
    return str(cell).encode("utf-8", "replace").decode()


def _rows(evidence: Evidence, code: str, record: Mapping[str, Any], place_of: Mapping[str, int]) -> Indices:
    """Return the rows that a record is about, by their places among those of the evidence."""
    answers = evidence.answers
    if code in ROWS:
        named = [record[key] for key in ROWS[code]]
        names = [name for part in named for name in (part if isinstance(part, list | tuple) else [part])]
        places = [place_of[str(name)] for name in names if str(name) in place_of]
        return np.array(places, dtype=np.intp)
    if code in CLASSES:
        named = [record[key] for key in CLASSES[code]]
        classes = [name for part in named for name in (part if isinstance(part, list | tuple) else [part])]
        among = positions(np.array(classes, dtype=answers.classes.dtype), answers.classes)
        confused = answers.held & np.isin(answers.true, among) & np.isin(answers.said, among)
        return np.flatnonzero(confused & (answers.true != answers.said))
    if code == "tiny-class":
        return np.flatnonzero(answers.y == record["class"])
    return np.array([], dtype=np.intp)


def _suggested(
    evidence: Evidence, code: str, record: Mapping[str, Any], rows: Indices
) -> tuple[list[Any], list[float | None]]:
    """Return the class that fits each row better than its label, and how likely it is; None where none does."""
    if code == "label-error":
        return [record["rather"]] * len(rows), [record["belief in other"]] * len(rows)
    answers = evidence.answers
    other = answers.held[rows] & (answers.said[rows] != answers.true[rows])
    said, sure = answers.predicted[rows].tolist(), answers.confidence[rows].tolist()
    return (
        [one if differs else None for one, differs in zip(said, other, strict=True)],
        [one if differs else None for one, differs in zip(sure, other, strict=True)],
    )
