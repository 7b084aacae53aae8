"""`untwin explain`: why one document is answered as it is, drawn in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from untwin._wording import options_as_flags
from untwin.cli.options import column_flag_of, common_options, reading_options
from untwin.cli.output import bar, collect_warnings, name_next, progress, put, put_json, put_table, shorten

if TYPE_CHECKING:
    from untwin.data.read import ReadOptions

SHOWN_TEXT = 50


@click.command()
@click.argument("model")
@click.argument("data", required=False)
@click.option("--text", metavar="TEXT", help="The document itself.")
@click.option("--row", metavar="JSON", help="A row of a table, as one JSON object with the columns of the fit.")
@click.option(
    "--id",
    "row_id",
    metavar="ID",
    help="A row of DATA by its id, or by its number if it has none; without DATA, a training row as findings call it.",
)
@click.option("--text-column", multiple=True, metavar="COL", help="A column of texts of DATA, if not that of the fit.")
@click.option("--numeric-column", multiple=True, metavar="COL", help="A column of numbers of DATA.")
@click.option("--nominal-column", multiple=True, metavar="COL", help="A column of names or codes of DATA.")
@click.option("--id-column", metavar="COL", help="The column of DATA that --id is looked for in.")
@click.option("--top", type=click.IntRange(min=1), default=5, show_default=True, metavar="K", help="How much to show.")
@reading_options
@common_options
def explain(
    model: str,
    data: str | None,
    *,
    read: ReadOptions,
    top: int,
    seed: int,
    strict: bool,
    as_json: bool,
    text: str | None,
    row: str | None,
    row_id: str | None,
    **columns: Any,
) -> int:
    """Say why MODEL answers a document as it does: likely classes, terms for and against them, similar training rows.

    Name the document by exactly one of --text, --row and --id; the options that end in -column say how the columns of
    DATA are called, if not as in the fit.
    """
    if sum(value is not None for value in (text, row, row_id)) != 1 or (data is not None and row_id is None):
        raise click.UsageError("Name one document: --text TEXT, --row JSON, --id ID, or DATA and --id ID.")
    with progress(), collect_warnings() as warned:
        record = explain_row(model, data, read, columns, text=text, row=row, row_id=row_id, top=top)
    (put_json if as_json else show_explanation)(record)
    name_next(["predict", model, "NEW_DATA"], ["info", model])
    return int(strict and bool(warned))


def explain_row(
    folder: str,
    data: str | None,
    read: ReadOptions,
    columns: dict[str, Any],
    *,
    text: str | None,
    row: str | None,
    row_id: str | None,
    top: int,
) -> dict[str, Any]:
    """Find the document, ask the model, and return all there is to show as one record."""
    from untwin.cli.documents import find_row_to_explain
    from untwin.cli.explanations import explanation_record
    from untwin.cli.input_errors import as_input_errors
    from untwin.cli.loaded_model import load_reasons_for
    from untwin.data.columns import ColumnRoles

    named = ColumnRoles(**{option.removesuffix("_column"): column for option, column in columns.items()})
    with options_as_flags(column_flag_of):
        loaded = load_reasons_for(folder, named)
        rows, name = find_row_to_explain(loaded, data, read, text=text, row=row, row_id=row_id)
    with as_input_errors(data or "the document"):
        return {"model": folder, **explanation_record(loaded.model, rows, top, itself=name)}


def show_explanation(record: dict[str, Any]) -> None:
    """Print an explanation."""
    put(f"{shorten(record['document'], 100)}")
    put()
    put(f"is {record['label']}{' (unsure: do not rely on it)' if record['unsure'] else ''}")
    if record["own_label"] is not None:
        same = "as it is answered" if record["own_label"] == record["label"] else f"not {record['label']}"
        put(f"It is a training row labelled {record['own_label']}, {same}.")
    if record["no_evidence"]:
        put("The text holds no known word: the answer is the commonest class, and nothing speaks for it.")
    lines = [
        [line["class"], f"{line['probability']:.3f}", bar(line["probability"])] for line in record["probabilities"]
    ]
    put_table(["class", "likely", ""], lines)
    _show_evidence(record["evidence"])
    if record["neighbours"]:
        put()
        put("Similar training rows:")
        near = [
            [f"{line['similarity']:.3f}", line["label"], line["row"], *_describe_neighbour(line)]
            for line in record["neighbours"]
        ]
        put_table(["similar", "class", "row", "text", "terms in common"], near)


def _show_evidence(sides: list[dict[str, Any]]) -> None:
    largest = max((term["log_odds"] for side in sides for term in side["terms"]), default=1.0)
    for side in sides:
        put()
        put(f"Terms that speak for {side['class']}:")
        lines = [[term["term"], f"{term['log_odds']:.3f}", bar(term["log_odds"] / largest)] for term in side["terms"]]
        put_table(["term", "log-odds", ""], lines)


def _describe_neighbour(neighbour: dict[str, Any]) -> tuple[str, str]:
    document = neighbour["document"]
    terms = ", ".join(term["term"] for term in neighbour["terms"])
    return "(not kept)" if document is None else shorten(document, SHOWN_TEXT), terms
