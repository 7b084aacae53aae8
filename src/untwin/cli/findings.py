"""`untwin findings`: what a model found out about its data and labels, as text or as a table to edit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untwin._wording import format_count
from untwin.cli.options import common_options
from untwin.cli.output import name_next, progress, put, put_json, say, shorten

if TYPE_CHECKING:
    import polars as pl

SHOWN = 20  # records of a finding, on the terminal


@click.command()
@click.argument("model")
@click.argument("codes", nargs=-1, metavar="[CODE]...")
@click.option("-o", "--output", metavar="FILE", help="Write the rows here: .csv, .tsv, .jsonl or .parquet.")
@click.option("--raw", is_flag=True, help="Write cells that a spreadsheet takes for formulas as they are.")
@common_options
def findings(
    model: str, codes: tuple[str, ...], output: str | None, *, raw: bool, seed: int, strict: bool, as_json: bool
) -> int:
    """Print the findings of MODEL, all or those with a CODE (label-error, twins, ...), with the id of each record.

    With -o every row that they name is written as a table, with its whole text: edit the column label, and
    `untwin relabel` reads it. What was dismissed is left out.
    """
    with progress():
        record = write_findings(model, codes, output, raw=raw)
    if as_json:
        put_json(record)
    elif output is None:
        _show(record)
    else:
        say(f"untwin: {format_count(record['rows'], 'line', 'lines')} in {output}")
    name_next(["dismiss", model, "FINDING", "--because", "REASON"])
    return 0


def write_findings(folder: str, codes: tuple[str, ...], output: str | None, *, raw: bool) -> dict[str, Any]:
    """Read the findings, write their rows if asked to, and return all there is to say as one record."""
    from untwin.cli.dismissals import dismissals_of
    from untwin.cli.model_files import require_outside
    from untwin.cli.stream.writing import output_format
    from untwin.model.findings.identity import record_id
    from untwin.model.findings.suspects import require_codes, suspects
    from untwin.model.saving import load_model

    require_codes(codes)
    kind = None if output is None else output_format(output, "csv")
    if output is not None:
        require_outside(Path(output), Path(folder))
    model = load_model(Path(folder), answers=False)
    sifted = dismissals_of(Path(folder)).sift(model.findings_)
    found = [one for one in sifted.findings if not codes or one.code in codes]
    told = [
        {"code": one.code, "severity": one.severity, "title": one.title, "advice": one.advice}
        | {"records": [{"id": record_id(one.code, record), **record} for record in one.evidence]}
        for one in found
    ]
    n_rows = 0
    if output is not None and kind is not None:
        frame = suspects(model.evidence_, found)
        n_rows = frame.height
        write_table(frame, output, kind, raw=raw)
    return {"model": folder, "findings": told, "dismissed": len(sifted.dismissed), "output": output, "rows": n_rows}


def write_table(frame: pl.DataFrame, output: str, kind: str, *, raw: bool) -> None:
    """Write a table in a format; a file takes its name when it is complete."""
    from untwin._files import replacing
    from untwin.cli.stream.writing import SEPARATORS
    from untwin.data.formulas import guard

    with replacing(output) as file:
        match kind:
            case "parquet":
                frame.write_parquet(file)
            case "jsonl":
                file.write(frame.write_ndjson().encode())
            case _:
                file.write((frame if raw else guard(frame)).write_csv(separator=SEPARATORS[kind]).encode())


def _show(record: dict[str, Any]) -> None:
    from untwin.model.findings.identity import subject_of

    for one in record["findings"]:
        put(f"{one['severity']} [{one['code']}] {one['title']}")
        put(f"  {one['advice']}")
        for line in one["records"][:SHOWN]:
            put(f"  {line['id']}  {shorten(subject_of(one['code'], line), 100)}")
        left = len(one["records"]) - SHOWN
        if left > 0:
            put(f"  ... and {format_count(left, 'more record', 'more records')} (-o FILE, or --json)")
    if not record["findings"]:
        put("Nothing stands out.")
    if record["dismissed"]:
        put(f"{format_count(record['dismissed'], 'finding is', 'findings are')} dismissed.")
