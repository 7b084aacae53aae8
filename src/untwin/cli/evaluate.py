"""`untwin evaluate`: how a model does on labelled rows that it has not learnt."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untwin._wording import format_count
from untwin.cli.hints import explain_hint
from untwin.cli.options import common_options, force_option, input_options, say_idle
from untwin.cli.output import collect_warnings, name_next, progress, put, put_json, say, say_notes

if TYPE_CHECKING:
    from untwin.cli.options import Input


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", metavar="FILE", help="Where to write the page; default: MODEL.evaluation.html.")
@click.option(
    "--target-error", type=click.FloatRange(0, 1), metavar="SHARE", help="How many of the sure answers may be wrong."
)
@force_option
@click.option("--fail-under", type=click.FloatRange(0, 1), metavar="X", help="Exit with 1 if accuracy is below X.")
@input_options
@common_options
def evaluate(
    model: str,
    data: str,
    given: Input,
    *,
    output: str | None,
    target_error: float | None,
    force: bool,
    fail_under: float | None,
    seed: int,
    strict: bool,
    as_json: bool,
) -> int:
    """Compare the answers of MODEL with the labels of DATA, and write a page about it.

    With --json the page is written only where -o says. Where DATA has the split column of the fit, only its rows marked
    'test' count: the model has learnt the others.
    """
    say_idle("id", "group", "parent", "seed")
    with progress(), collect_warnings() as warned:
        place = page_place(model, output, force=force, as_json=as_json)
        record = evaluate_rows(model, data, given, target_error=target_error)
        if place is not None:
            from untwin.report.evaluation import write_evaluation

            write_evaluation(record, place)
    say_notes(record["notes"])
    passed = fail_under is None or record["accuracy"] >= fail_under
    if record["learnt_rows"]:
        learnt = format_count(record["learnt_rows"], "row is", "rows are")
        say(f"warning: {learnt} among those that the model has learnt: figures are too good.")
    code = int(not passed or (strict and bool(warned or record["notes"] or record["learnt_rows"])))
    if as_json:
        page = None if place is None else str(place)
        put_json({"model": model, "fail_under": fail_under, "page": page, **record}, ok=code == 0)
    else:
        _show(record)
        if place is not None:
            put()
            put(f"Page: {place}")
    if not passed:
        say(f"untwin: accuracy {record['accuracy']:.4f} is below {fail_under}.")
    name_next(explain_hint(model, data, given, given.roles), ["add", model, "DATA"])
    return code


def page_place(model: str, output: str | None, *, force: bool, as_json: bool) -> Path | None:
    """Return where the page goes; None: nowhere, since nobody has asked for it, or the model is where none may be."""
    from untwin.cli.model_files import require_outside, require_report_place

    folder = Path(model)
    named = folder if folder.name not in ("", "..") else folder.resolve()
    place = named.with_name(f"{named.name}.evaluation.html") if output is None else Path(output)
    if output is None and (as_json or not os.access(place.parent, os.W_OK)):
        return None
    require_outside(place, folder)
    require_report_place(place, force=force)
    return place


def evaluate_rows(folder: str, data: str, given: Input, *, target_error: float | None = None) -> dict[str, Any]:
    """Read the rows, answer them, and compare."""
    from untwin._errors import InputError
    from untwin.cli.input_errors import as_input_errors
    from untwin.cli.loaded_model import load_model_for
    from untwin.cli.scoring import scores_on

    loaded = load_model_for(folder, given.roles, explains=False)
    table = given.load_for(loaded.columns.here, data)
    others, test = table.parts()
    if not test.frame.height and table.roles.split in table.frame.columns:
        message = f"{table.places.name}, column {table.roles.split!r}: no row is marked as test."
        raise InputError(message, code="no-test-rows", hint="Mark some, or leave the column out of the file.")
    judged = test if test.frame.height else others
    rows, notes = loaded.columns.rows(judged.frame), [asdict(note) for note in table.notes]
    with as_input_errors(table.places.name):
        learnt = loaded.model.learnt(rows)
        found = {
            "source": table.places.name,
            "notes": notes,
            "learnt_rows": None if learnt is None else int(learnt.sum()),
        }
        return found | scores_on(loaded.model, rows, judged.y, target_error=target_error)


def _show(record: dict[str, Any]) -> None:
    from untwin.cli.scoring import put_classes, put_pairs, put_promises, put_scores

    put(record["source"])
    put_scores(record)
    put()
    put_promises(record)
    put()
    put_pairs(record["confused"])
    put()
    put_classes(record["per_class"])
