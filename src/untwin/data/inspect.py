"""What is odd about a table, before a long run: findings with a stable code, evidence and advice.

error    the data can be read but is wrong: results would mean nothing
warning  results may suffer
note     worth knowing
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from untwin._progress import report
from untwin._wording import format_count, option
from untwin.data.alike import fold_label
from untwin.data.repeats import Groups, Repeats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin.data.load import Table

CheckSeverity = Literal["error", "warning", "note"]

_SEVERITIES: tuple[CheckSeverity, ...] = ("error", "warning", "note")
_ID_LIKE_ROWS = 20  # fewer rows may well have mostly different labels
_UNSPACED_SHARE = 0.1
_MANY_LEAKS = 0.01  # share of the rows from which on a test means nothing; a few hardly change it
_EXAMPLES = 100
_COPIES = "Copies in training and test rows make results look better than they are."
_NOTES = {
    "bad-rows": "Mend them, or go on without them.",
    "missing-label": "Fill them in, or go on without them.",
    "links": "Put the files themselves into the folder if they should count.",
    "binary-files": "Turn them into text files if they should count.",
    "loose-files": "Move them into the sub-folder of their class if they should count.",
}


@dataclass(frozen=True, slots=True)
class TableFinding:
    """One thing found; `count` says how many there are, `evidence` shows some of them.

    >>> TableFinding("constant-column", "note", "1 column is constant.", "Remove it.", 1, ({"column": "site"},)).code
    'constant-column'
    """

    code: str
    severity: CheckSeverity
    title: str
    advice: str
    count: int
    evidence: tuple[dict[str, Any], ...] = ()


def inspect(table: Table) -> tuple[TableFinding, ...]:
    """Return the findings about a table, the worst first."""
    report("looking at the table", 0, 1)
    counts = table.class_counts()
    found = [
        *_reading(table),
        *_columns(table),
        *_empty(table),
        *_ids(table),
        *_sizes(table, counts),
        *_spelling(counts),
    ]
    if table.roles.text:
        found += [*_texts(table), *_repeats(Repeats.of(table), table.frame.height)]
    found += _repeated_rows(table)
    report("looking at the table", 1, 1)
    return tuple(sorted(found, key=lambda finding: _SEVERITIES.index(finding.severity)))


def _reading(table: Table) -> Iterator[TableFinding]:
    for note in table.notes:
        yield TableFinding(note.code, "warning", f"{note.text}.", _NOTES[note.code], note.count)


def _columns(table: Table) -> Iterator[TableFinding]:
    said = defaultdict(list)
    distinct = table.frame.select(table.roles.features).select(pl.all().n_unique()).row(0, named=True)
    for use in table.columns:
        code = "constant" if distinct.get(use.name) == 1 else use.code
        said[code].append({"column": use.name, "reason": use.reason})
    kinds: tuple[tuple[str, CheckSeverity, str, str], ...] = (
        ("constant", "note", "constant or empty", "Such a column says nothing about the classes."),
        (
            "tells-label",
            "note",
            "left out for giving the label away",
            "Name such a column only if it will be known for new documents.",
        ),
        ("almost-numeric", "warning", "left out for cells that are not numbers", "Empty or correct those cells."),
    )
    for code, severity, what, advice in kinds:
        if columns := said.get(code):
            title = f"{format_count(len(columns), 'column is', 'columns are')} {what}."
            yield TableFinding(f"{code}-column", severity, title, advice, len(columns), tuple(columns))


def _empty(table: Table) -> Iterator[TableFinding]:
    """Count empty cells by column; a column without any cell is told as such."""
    rows = table.frame.height
    some = {column: count for column, count in table.empty.items() if 0 < count < rows}
    if some:
        total = sum(some.values())
        where = format_count(len(some), "column")
        title = f"{format_count(total, 'cell is', 'cells are')} empty, in {where} of {len(table.empty):,}."
        advice = "Fill them in where the values are known; an empty cell is no error."
        evidence = tuple({"column": column, "empty": count, "rows": rows} for column, count in some.items())
        yield TableFinding("empty-cells", "note", title, advice, total, evidence)


def _repeated_rows(table: Table) -> Iterator[TableFinding]:
    """Count rows that are equal to an earlier one in all that is used of them, the label included."""
    columns = [*table.roles.features, str(table.roles.label)]
    repeated = table.frame.select(~pl.struct(columns).is_first_distinct()).to_series().arg_true()
    if len(repeated):
        title = (
            f"{format_count(len(repeated), 'row repeats', 'rows repeat')} an earlier row in every column that is used."
        )
        evidence = tuple(
            {"row": table.places.mark(row), "label": table.labels[row]} for row in repeated[:_EXAMPLES].to_list()
        )
        yield TableFinding("repeated-rows", "note", title, _COPIES, len(repeated), evidence)


def _ids(table: Table) -> Iterator[TableFinding]:
    """Ids that several rows have, or none: findings and explanations then name such rows by id and row."""
    if table.roles.id is None:
        return
    ids = table.frame[table.roles.id]
    counts = ids.drop_nulls().value_counts(sort=True).filter(pl.col("count") > 1)
    how = f"give each row an id of its own, or leave {option('id')} out."
    advice = f"Such rows are named by their id and their row: {how}"
    if counts.height:
        title = (
            f"{format_count(counts.height, 'id is', 'ids are')} that of several rows ({counts['count'].sum():,} rows)."
        )
        evidence = tuple({"id": name, "rows": count} for name, count in counts.head(100).rows())
        yield TableFinding("repeated-id", "warning", title, advice, counts.height, evidence)
    if ids.null_count():
        title = f"{format_count(ids.null_count(), 'row has', 'rows have')} no id (column {table.roles.id!r})."
        yield TableFinding("missing-id", "warning", title, advice, ids.null_count())


def _sizes(table: Table, counts: pl.DataFrame) -> Iterator[TableFinding]:
    rows, classes, largest = table.frame.height, counts.height, int(counts["count"][0])
    single = counts.filter(pl.col("count") == 1)["class"].sort()
    label = table.roles.label
    if rows >= _ID_LIKE_ROWS and classes > rows / 2:
        title = f"The label {label!r} looks like an id: {classes:,} different values in {format_count(rows, 'row')}."
        advice = f"Choose the column of the classes with {option('label')}."
        yield TableFinding("id-like-label", "error", title, advice, classes)
    elif largest < 2:
        title = f"No class has two documents (label {label!r})."
        advice = f"Give at least two documents a class, or {option('label')}."
        yield TableFinding("no-repeated-class", "error", title, advice, classes)
    elif len(single):
        title = f"{format_count(len(single), 'class has', 'classes have')} one document only."
        advice = "They cannot be learnt and tested: add documents, merge the classes or drop them."
        yield TableFinding(
            "single-document-class", "warning", title, advice, len(single), _label_examples(single.to_list())
        )


def _label_examples(labels: list[str]) -> tuple[dict[str, Any], ...]:
    return tuple({"label": label} for label in labels)


def _spelling(counts: pl.DataFrame) -> Iterator[TableFinding]:
    """Labels that only differ in how they are written, and labels with spaces at an end."""
    alike: dict[str, list[str]] = defaultdict(list)
    for label in counts["class"].sort():
        alike[fold_label(label)].append(label)
    groups = [labels for labels in alike.values() if len(labels) > 1]
    if groups:
        how = "case, spaces, hyphens, Unicode form or the way a number is written"
        title = f"{format_count(len(groups), 'group of labels differs', 'groups of labels differ')} only in {how}."
        evidence = tuple({"labels": labels} for labels in groups)
        advice = "They count as different classes: spell them alike if they are one."
        yield TableFinding("look-alike-labels", "warning", title, advice, len(groups), evidence)
    edges = counts.filter(pl.col("class") != pl.col("class").str.strip_chars())["class"].sort().to_list()
    if edges:
        title = f"{format_count(len(edges), 'label', 'labels')} with white space at an end."
        advice = "It is kept as part of the label: remove it in the table if it does not belong."
        yield TableFinding("label-spaces", "warning", title, advice, len(edges), _label_examples(edges))


def _of(count: int, rows: int, one: str, many: str) -> str:
    return f"{count:,} of {format_count(rows, 'document')} {one if count == 1 else many}"


def _texts(table: Table) -> Iterator[TableFinding]:
    rows, empty, unspaced = table.frame.height, table.without_words(), table.without_spaces()
    if len(empty):
        title = f"{_of(len(empty), rows, 'has', 'have')} no word (two letters or more) in any text column."
        evidence = tuple({"row": table.places.mark(row)} for row in empty[:_EXAMPLES])
        yield TableFinding("empty-text", "warning", title, "Fill them in or drop them.", len(empty), evidence)
    if unspaced > rows * _UNSPACED_SHARE:
        title = f"{_of(unspaced, rows, 'is', 'are')} in a script without spaces (Chinese, Japanese, Thai, ...)."
        advice = "Words cannot be told apart by spaces there: `untwin fit` counts runs of characters as well."
        yield TableFinding("unspaced-text", "warning", title, advice, unspaced)


def _repeats(repeats: Repeats, rows: int) -> Iterator[TableFinding]:
    leaks = repeats.groups("parts", least=2)
    kinds: tuple[tuple[str, CheckSeverity, Groups, str, str], ...] = (
        (
            "duplicate-text",
            "note",
            repeats.groups("labels", most=1),
            "more than once with the same label",
            _COPIES,
        ),
        (
            "conflicting-text",
            "warning",
            repeats.groups("labels", least=2),
            "with different labels",
            "Label errors, or classes that are twins: decide on one label for each text.",
        ),
        (
            "split-leak",
            "error" if leaks.rows >= _MANY_LEAKS * rows else "warning",
            leaks,
            "in more than one part of the split",
            "The test would ask for what was learnt by heart: keep each text in one part.",
        ),
    )
    for code, severity, groups, how, advice in kinds:
        if groups.count:
            how_many = format_count(groups.count, "text occurs", "texts occur")
            title = f"{how_many} {how} ({format_count(groups.rows, 'row')})."
            yield TableFinding(code, severity, title, advice, groups.count, groups.examples)
