"""`untwin check`: what a table holds and what is odd about it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from untwin._wording import cut, format_count
from untwin.cli.hints import fit_hint
from untwin.cli.options import common_options, input_options
from untwin.cli.output import name_next, progress, put, put_json, put_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin.cli.options import Input
    from untwin.data.inspect import TableFinding
    from untwin.data.load import Table

_SHOWN = 5
_WIDEST = 200  # characters of a label or a reason


@click.command()
@click.argument("data")
@input_options
@common_options
def check(data: str, given: Input, *, seed: int, strict: bool, as_json: bool) -> int:
    """Look at DATA before a long run.

    DATA is a CSV, TSV, JSONL or Parquet file (the text formats also gzipped), a folder with a sub-folder a class, or -
    for standard input. Exit code 1 means that the data can be read but is wrong.
    """
    with progress():
        from untwin.data.inspect import inspect

        table = given.load(data)
        findings = inspect(table)
    code = verdict(findings, strict=strict)
    if as_json:
        put_json(describe(table, findings), ok=code == 0)
    else:
        _show(describe(table, findings))
    name_next(fit_hint(data, given))
    return code


def verdict(findings: Sequence[TableFinding], *, strict: bool) -> int:
    """Return the exit code that the findings deserve."""
    failing = {"error", "warning"} if strict else {"error"}
    return int(any(finding.severity in failing for finding in findings))


def describe(table: Table, findings: Sequence[TableFinding]) -> dict[str, Any]:
    """Return all that `check` says, as one record."""
    counts = table.class_counts()
    return {
        "source": table.places.name,
        "format": table.format,
        "rows": table.frame.height,
        "columns": [{**asdict(use), "empty": table.empty[use.name]} for use in table.columns],
        "label": table.roles.label,
        "classes": counts.height,
        "largest": counts.row(0, named=True),
        "smallest": counts.row(-1, named=True),
        "findings": [asdict(finding) for finding in findings],
    }


def _show(record: dict[str, Any]) -> None:
    put(f"{record['source']} ({record['format']}): {_size(record)}")
    for size in ("largest", "smallest"):
        put(f"{size} class: {cut(record[size]['class'], _WIDEST)} ({record[size]['count']:,})")
    put()
    put_table(["column", "used as", "why"], [[use["name"], use["role"], use["reason"]] for use in record["columns"]])
    put()
    for finding in record["findings"]:
        _show_finding(finding)
    if not record["findings"]:
        put("Nothing odd found.")


def _size(record: dict[str, Any]) -> str:
    return f"{format_count(record['rows'], 'row')}, {format_count(record['classes'], 'class', 'classes')}"


def _show_finding(finding: dict[str, Any]) -> None:
    put(f"{finding['severity']} [{finding['code']}] {finding['title']}")
    for example in finding["evidence"][:_SHOWN]:
        put("    " + "; ".join(f"{key}: {_list_values(value)}" for key, value in example.items()))
    if len(finding["evidence"]) > _SHOWN:
        put("    ... (--json lists more)")
    put(f"  {finding['advice']}")


def _list_values(value: object) -> str:
    """Return values as they are, spaces too (these may be what sets two labels apart), cut to fit a line."""
    if isinstance(value, list):
        return ", ".join(cut(repr(item), _WIDEST) for item in value)
    return cut(str(value), _WIDEST)
