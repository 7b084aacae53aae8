"""`untwin relabel`: a list of corrected labels for a model that is there."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from untwin._wording import format_count
from untwin.cli.class_changes import user_name
from untwin.cli.options import force_option, reading_options, running_options
from untwin.cli.output import name_next, progress, put, put_json

if TYPE_CHECKING:
    from untwin.data.corrections import Correction
    from untwin.data.read import ReadOptions
    from untwin.model import UntwinClassifier


@click.command()
@click.argument("model")
@click.argument("corrections")
@click.option("--id", "id_", metavar="COL", help="The column of the ids.  [default: id]")
@click.option("--label", metavar="COL", help="The column of the labels that are right.  [default: label]")
@click.option("--author", metavar="NAME", help="Who decides, where the column author is empty or absent.")
@force_option
@reading_options
@running_options
def relabel(
    model: str,
    corrections: str,
    read: ReadOptions,
    *,
    id_: str | None,
    label: str | None,
    author: str | None,
    force: bool,
    strict: bool,
    as_json: bool,
) -> int:
    """Give training rows of MODEL the labels in CORRECTIONS, a table with columns id and label.

    It may also have author and note, which the log MODEL.events keeps. Lines with an empty label, or with the label
    that the row has, change nothing. Former names of classes stand for what they are now. CORRECTIONS is not written.
    """
    from untwin.cli.classes import changed_model
    from untwin.data.corrections import read_corrections
    from untwin.model.history.naming import names_of

    with progress(), changed_model(model, force=force) as loaded:
        now = dict(zip(names_of(loaded.ids_), names_of(loaded.state_.y), strict=True))
        wanted = read_corrections(corrections, now, read, id_column=id_ or "id", label_column=label or "label")
        record = _relabel(loaded, wanted, author or user_name())
    if as_json:
        put_json({"model": model, **record})
    else:
        put(f"{corrections}: {format_count(record['n_changed'], 'label')} changed")
        if record["report"] is not None:
            put(record["told"])
    name_next(["classes", model, "log"], ["report", model])
    return 0


def _relabel(model: UntwinClassifier, corrections: list[Correction], author: str) -> dict[str, Any]:
    """Give rows other labels, and return what that did."""
    from untwin.model.history.naming import label_of, labels_of, names_of

    known = model.state_
    place = {name: number for number, name in enumerate(names_of(known.ids))}
    names, current = model.taxonomy_.heir, names_of(known.y)
    wanted: list[tuple[Correction, int, str]] = []
    for one in corrections:
        number, name = place[one.id], _name_now(model, one, names)
        if name != current[number]:
            label_of(name, model.classes_)  # refused here, if it is no label of this model
            wanted.append((one, number, name))
    told: dict[str, Any] = {"n_changed": len(wanted), "report": None, "told": ""}
    if not wanted:
        return told
    report = model.relabel(
        known.ids[[number for _, number, _ in wanted]],
        labels_of([name for _, _, name in wanted], model.classes_),
        author=[one.author or author for one, _, _ in wanted],
        notes=[one.note for one, _, _ in wanted],
    )
    return told | {"report": asdict(report), "told": str(report)}


def _name_now(model: UntwinClassifier, one: Correction, heir: Any) -> str:
    """Return what a label is called now; a label that no class has had is a new class."""
    from untwin._errors import InputError

    taxonomy, name = model.taxonomy_, one.label
    if name in taxonomy.by_name or not taxonomy.knows(name):
        return name
    found: str | None = heir(name)
    if found is None:
        hint = "Name the class that is right now: see `untwin classes MODEL`."
        message = f"{one.place}: {name!r} is retired, and no one class has its place."
        raise InputError(message, code="retired-class", hint=hint)
    return found
