"""`untwin add`: more documents, words and classes for a model that is there."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untwin._wording import counted
from untwin.cli.options import common_options, input_options, say_idle
from untwin.cli.output import name_next, progress, put, put_json, say_notes, warnings_said

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from untwin.cli.opened import Opened
    from untwin.cli.options import Input
    from untwin.data.load import Table
    from untwin.model import UntwinClassifier


@click.command()
@click.argument("model")
@click.argument("data")
@input_options
@common_options
def add(model: str, data: str, given: Input, *, seed: int, strict: bool, as_json: bool) -> int:
    """Teach MODEL the labelled rows of DATA.

    The choice between candidates is not repeated. Before the rows are learnt they are answered, which says how the
    world has drifted since the fit. The model is replaced when the new one is complete.
    """
    say_idle("group", "parent", "seed")
    with progress(), warnings_said() as warned:
        record = added(model, data, given)
    say_notes(record["notes"])
    code = int(strict and bool(warned or record["notes"]))
    if as_json:
        put_json(record, ok=code == 0)
    else:
        _show(record)
    name_next(f"info {model}", f"predict {model} NEW_DATA")
    return code


def added(folder: str, data: str, given: Input) -> dict[str, Any]:
    """Read the rows, learn them, save; return what was learnt and how the rows differ from those of the fit."""
    from untwin._errors import InputError
    from untwin.cli.blame import blaming
    from untwin.cli.fitting import labels_of, parts
    from untwin.cli.opened import open_model
    from untwin.cli.saved import save, save_with_report, saying_saved

    opened = open_model(folder, given.roles)
    table = given.load_for(opened.here, data)
    frame, _ = parts(table.frame, opened.here)
    if not frame.height:
        message = f"{table.places.name}, column {opened.here.split!r}: all rows are marked as test."
        raise InputError(message, code="no-rows", hint="Mark rows to learn otherwise, or remove the column.")
    rows, labels = opened.rows(frame), labels_of(frame, opened.here)
    model = opened.model
    with blaming(table.places.name):
        about, drift = opened.about, drifted(model, rows, labels)
        learnt = asdict(model.add(rows, labels, ids=new_names(table, opened)))
    drift |= {"accuracy": learnt["accuracy_before"]}
    notes = [asdict(note) for note in table.notes]
    record = {"model": folder, "source": table.places.name, "notes": notes, **learnt, "drift": drift}
    about |= {"added": [*about.get("added", []), {name: record[name] for name in ("source", "n_rows")}]}
    texts = model.knowledge_.documents is not None
    save(model, Path(folder), about, texts=texts)
    with saying_saved(Path(folder)):
        report = save_with_report(model, Path(folder), about, texts=texts)
    return record | {"rows": len(model.ids_), "classes": len(model.classes_), "report": report}


def new_names(table: Table, opened: Opened) -> list[str]:
    """Return what the rows that are to be learnt are called: by their ids, or as file:row; none as another row."""
    from untwin.cli.fitting import names_of
    from untwin.data.read.table import all_different

    file = Path(table.places.name).name
    places = table.places if table.places.files is None else replace(table.places, files=None)
    by_row = replace(table, places=replace(places, ids=None))
    rows = [f"{file}:{row}" for row in names_of(by_row, opened.here)[0]]
    taken = {str(name) for name in opened.model.ids_.tolist()}
    if table.places.ids is None and table.places.files is None:
        return all_different(rows, taken)
    names = names_of(table, opened.here)[0]
    called = (f"{name} ({row})" if name in taken else name for name, row in zip(names, rows, strict=True))
    return all_different(called, taken)


def drifted(model: UntwinClassifier, rows: Any, labels: NDArray[Any]) -> dict[str, Any]:
    """Return how new rows differ from those of the fit: rows without a known word, shares of the classes."""
    import numpy as np

    from untwin._values import positions

    names = np.union1d(model.knowledge_.y, labels)
    old, new = (
        np.bincount(positions(part, names), minlength=len(names)) / len(part) for part in (model.knowledge_.y, labels)
    )
    return {
        "accuracy_expected": model.scores_.get("accuracy"),
        "without_evidence": float(model.without_evidence(rows).mean()),
        "class_shares": float(abs(old - new).sum() / 2),
    }


def _show(record: dict[str, Any]) -> None:
    drift, expected = record["drift"], record["drift"]["accuracy_expected"]
    learnt, rows = (counted(record[name], "row", "rows") for name in ("n_rows", "rows"))
    put(f"{record['source']}: {learnt} learnt; {rows}, {counted(record['classes'], 'class', 'classes')}")
    if record["n_learnt_before"]:
        put(f"{record['n_learnt_before']:,} of them had been learnt before; they do not count as evidence")
    beside = "" if expected is None else f" ({expected:.4f} was expected)"
    accuracy = "" if drift["accuracy"] is None else f"accuracy {drift['accuracy']:.4f}{beside}, "
    put(f"Before they were learnt: {accuracy}{drift['without_evidence']:.1%} without a known word")
    put(f"Classes occur in other shares than before: {drift['class_shares']:.1%} of the rows would have to move")
    put(f"New classes: {', '.join(map(str, record['new_classes'])) or 'none'}; new terms: {record['n_new_terms']:,}")
    anew = ", ".join(record["refitted"])
    put(f"Trained anew on all rows: {anew}" if anew else "Learnt on; nothing had to be trained anew")
