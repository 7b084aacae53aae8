"""A table of right and given classes, read and audited."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from untwin._errors import InputError
from untwin._wording import option
from untwin.cli.input_errors import as_input_errors
from untwin.cli.known_tree import known_parents
from untwin.cli.model_files import require_report_place
from untwin.cli.options import let_interrupt_reading
from untwin.data.answer_tables import answers_in, require_column
from untwin.data.columns import ColumnRoles
from untwin.data.load import labelled_for_model, read_as_meant
from untwin.data.read.source import STDIN
from untwin.model.auditing import audit
from untwin.model.features.inputs import as_one_text
from untwin.report import write_report
from untwin.report.views import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from untwin.data.load import Table
    from untwin.data.read import RawTable, ReadOptions
    from untwin.model.auditing import Audit


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Which columns hold what."""

    truth: str
    predicted: str
    text: tuple[str, ...] = ()
    id: str | None = None
    parent: str | None = None
    score_prefix: str | None = None
    annotator: tuple[str, ...] = ()
    classes: str | None = None
    missing_label: Literal["error", "drop"] = "error"

    def named(self) -> Iterator[tuple[str, str]]:
        """Yield all columns that were named, each with the option that names it."""
        for name in ("truth", "predicted", "id", "parent", "text", "annotator"):
            columns = getattr(self, name)
            yield from ((column, name) for column in ((columns,) if isinstance(columns, str) else columns or ()))

    def require_in(self, raw: RawTable) -> None:
        """Refuse a table that lacks a column that was named, and one that is named for two things that differ."""
        options: dict[str, str] = {}
        for column, name in self.named():
            require_column(raw, column, name)
            if name not in ("predicted", "annotator") and options.setdefault(column, name) != name:
                message = f"Column {column!r} is named by {option(options[column])} and by {option(name)}."
                raise InputError(message, code="two-roles", hint="Give each column one role.")

    def scores_in(self, raw: RawTable) -> dict[str, str]:
        """Return the columns of scores, by class."""
        if self.score_prefix is None:
            return {}
        others = {column for column, _ in self.named()}
        found = [name for name in raw.frame.columns if name.startswith(self.score_prefix) and name not in others]
        scores = {name.removeprefix(self.score_prefix): name for name in found}
        if not scores:
            message = f"{raw.name}: no column begins with {self.score_prefix!r}. Columns: {raw.column_list()}."
            raise InputError(message, code="missing-column", hint="Name the beginning with --score-prefix.")
        return scores


@dataclass(frozen=True, slots=True)
class AuditedTable:
    """What an audit found, as JSON keeps it, and what was left out while reading."""

    record: dict[str, Any]
    notes: Sequence[dict[str, Any]]


def audit_table(
    source: str, options: AuditOptions, read: ReadOptions, page: Path | None, *, force: bool, texts: bool
) -> AuditedTable:
    """Read a table, audit its answers, and write the report, if a page is named; `texts`: quote them."""
    let_interrupt_reading()
    if page is not None:
        require_report_place(page, force=force)
    raw = read_as_meant(source, read)
    options.require_in(raw)
    found, notes = _audit(raw, options)
    if not texts:
        found = replace(found, findings_=[one.without_texts() for one in found.findings_])
    if page is not None:
        write_report(Report.of(found, texts=texts), page)
    return AuditedTable(found.to_dict(), notes)


def page_beside(source: str) -> Path | None:
    """Return where the report of a table stands by default; none of standard input.

    >>> page_beside("answers/gpt.csv.gz").as_posix(), page_beside("-")
    ('answers/gpt.audit.html', None)
    """
    if source == STDIN:
        return None
    path = Path(source)
    return path.with_name(f"{path.name.split('.')[0] or path.name}.audit.html")


def _audit(raw: RawTable, options: AuditOptions) -> tuple[Audit, list[dict[str, Any]]]:
    scores, text = options.scores_in(raw), tuple(dict.fromkeys(options.text))
    roles = ColumnRoles(
        text=text,
        numeric=tuple(scores.values()),
        label=options.truth,
        parent=options.parent,
        id=options.id,
    )
    table = labelled_for_model(raw, roles, missing_label=options.missing_label)
    kept = np.flatnonzero(np.isin(raw.places.rows, table.places.rows))
    frame = table.frame
    with as_input_errors(raw.name):
        found = audit(
            table.y,
            answers_in(raw, options.predicted, "predicted")[kept],
            ids=np.array(table.places.marks()),
            texts=as_one_text(frame.select(text)) if text else None,
            scores={name: frame[column].to_numpy() for name, column in scores.items()} if scores else None,
            classes=None if options.classes is None else listed_classes(Path(options.classes)),
            parents=known_parents(frame, roles),
            annotators={name: answers_in(raw, name, "annotator")[kept] for name in options.annotator} or None,
            units=_repeated(table, options),
        )
    return replace(found, about_={"command": sys.argv[1:]}), [asdict(note) for note in table.notes]


def _repeated(table: Table, options: AuditOptions) -> list[str] | None:
    """Return the ids if some of them are repeated: then rows of one id are repeated answers."""
    if options.id is None:
        return None
    ids = table.frame[options.id].fill_null("")
    return ids.to_list() if ids.filter(ids != "").is_duplicated().any() else None


def listed_classes(path: Path) -> list[str]:
    """Return the classes that a file lists, one a line; blank lines do not count."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: must be UTF-8 text.", code="not-utf-8", hint="Write one class a line.") from None
    names = list(dict.fromkeys(line for line in lines if line.strip()))
    if not names:
        raise InputError(f"{path}: holds no class.", code="no-classes", hint="Write one class a line.")
    return names
