"""`untwin add`: more documents, words and classes for a model that is there."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untwin._wording import format_count
from untwin.cli.options import common_options, force_option, input_options, say_idle
from untwin.cli.output import collect_warnings, name_next, progress, put, put_json, say_notes

if TYPE_CHECKING:
    from untwin._types import Array
    from untwin.cli.loaded_model import LoadedModel
    from untwin.cli.options import Input


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--again", is_flag=True, help="Learn the rows even if exactly these have been added before.")
@force_option
@input_options
@common_options
def add(
    model: str, data: str, given: Input, *, again: bool, force: bool, seed: int, strict: bool, as_json: bool
) -> int:
    """Teach MODEL the labelled rows of DATA.

    The choice between candidates is not repeated. Before the rows are learnt they are answered, which says how the
    world has drifted since the fit. The model is replaced when the new one is complete. Rows that have been added
    before are not learnt again: an interrupted call can be repeated.
    """
    say_idle("group", "parent", "seed")
    with progress(), collect_warnings() as warned:
        record = add_rows(model, data, given, again=again, force=force)
    say_notes(record["notes"])
    code = int(strict and bool(warned or record["notes"]))
    if as_json:
        put_json(record, ok=code == 0)
    else:
        _show(record)
    name_next(["info", model], ["predict", model, "NEW_DATA"])
    return code


def add_rows(folder: str, data: str, given: Input, *, again: bool = False, force: bool = False) -> dict[str, Any]:
    """Read the rows, learn them, save; return what was learnt and how the rows differ from those of the fit.

    Nobody else writes to the model meanwhile.
    """
    from untwin._errors import InputError
    from untwin.cli.loaded_model import load_model_for
    from untwin.cli.model_files import changing, report_of, require_report_place, write_report_again
    from untwin.data.digest import digest_of

    place = Path(folder)
    with changing(place):
        require_report_place(report_of(place), force=force)
        loaded = load_model_for(folder, given.roles)
        before = _earlier_additions(loaded.about, folder)
        table = given.load_for(loaded.columns.here, data)
        train, _ = table.parts()
        if not train.frame.height:
            message = f"{table.places.name}, column {table.roles.split!r}: all rows are marked as test."
            raise InputError(message, code="no-rows", hint="Mark rows to learn otherwise, or remove the column.")
        rows, labels = loaded.columns.rows(train.frame), train.y
        names = train.places.marks_beside({str(name) for name in loaded.model.state_.ids.tolist()})
        noted = {"source": table.places.name, "n_rows": len(labels), "sha256": digest_of(rows, labels)}
        known = not again and any(entry.get("sha256") == noted["sha256"] for entry in before)
        if known:
            texts = loaded.model.state_.documents is not None
            done = {"n_rows": len(labels), "report": write_report_again(loaded.model, place, texts=texts)}
        else:
            loaded.about["added"] = [*before, noted]
            done = _learn(loaded, place, (rows, labels, names), table.places.name)
    record = {"model": folder, "source": table.places.name, "notes": [asdict(note) for note in table.notes], **done}
    return record | {"added_before": known, "rows": len(loaded.model.ids_), "classes": len(loaded.model.classes_)}


def _earlier_additions(about: dict[str, Any], folder: str) -> list[dict[str, Any]]:
    """Return what the model notes about earlier calls, which a stranger may have written."""
    from untwin.store import ModelRefused

    before = about.get("added", [])
    if not isinstance(before, list) or not all(isinstance(entry, dict) for entry in before):
        message = f"{folder}: what was added before is not what `untwin add` writes."
        raise ModelRefused(message, code="model-damaged", hint="Take a fresh copy of the model, or fit it again.")
    return before


def _learn(loaded: LoadedModel, folder: Path, new: tuple[Any, Array, list[str]], source: str) -> dict[str, Any]:
    """Learn new rows with their labels and names, and save the model with its report."""
    from untwin.cli.input_errors import as_input_errors
    from untwin.cli.model_files import save_once

    model, (rows, labels, names) = loaded.model, new
    with as_input_errors(source):
        drift = asdict(model.drift(rows, labels))
        learnt = asdict(model.add(rows, labels, ids=names))
    drift |= {"accuracy": learnt["accuracy_before"]}
    texts = model.state_.documents is not None
    with save_once(model, folder, loaded.about, texts=texts) as save_with_report:
        model.measure()
        report = save_with_report()
    return {**learnt, "drift": drift, "report": report}


def _show(record: dict[str, Any]) -> None:
    if record["added_before"]:
        put(f"{record['source']}: exactly these {record['n_rows']:,} rows have been added before; nothing is learnt")
        put(f"The report is written again: {record['report']} (--again would learn the rows once more)")
        return
    drift, expected = record["drift"], record["drift"]["accuracy_expected"]
    learnt, rows = (format_count(record[name], "row", "rows") for name in ("n_rows", "rows"))
    put(f"{record['source']}: {learnt} learnt; {rows}, {format_count(record['classes'], 'class', 'classes')}")
    if record["n_learnt_before"]:
        put(f"{record['n_learnt_before']:,} of them had been learnt before; they do not count as evidence")
    beside = "" if expected is None else f" ({expected:.4f} was expected)"
    accuracy = "" if drift["accuracy"] is None else f"accuracy {drift['accuracy']:.4f}{beside}, "
    put(f"Before they were learnt: {accuracy}{drift['without_evidence']:.1%} without a known word")
    put(f"Classes occur in other shares than before: {drift['class_shares']:.1%} of the rows would have to move")
    put(f"New classes: {', '.join(map(str, record['new_classes'])) or 'none'}; new terms: {record['n_new_terms']:,}")
    anew = ", ".join(record["refitted"])
    put(f"Trained anew on all rows: {anew}" if anew else "Learnt on; nothing had to be trained anew")
