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
    from untwin.cli.decisions import RowDecision
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
    from untwin.cli.decisions import read_decisions

    decisions = read_decisions(corrections, ("id", "label"), read, id=id_ or "id", label=label or "label")
    with progress(), changed_model(model, force=force) as loaded:
        record = _relabel(loaded, decisions, author or user_name())
    if as_json:
        put_json({"model": model, **record})
    else:
        put(f"{corrections}: {format_count(record['n_changed'], 'label')} changed, {record['n_same']:,} as they were")
        if record["report"] is not None:
            put(record["told"])
    name_next(["classes", model, "log"], ["report", model])
    return 0


def _relabel(model: UntwinClassifier, decisions: list[RowDecision], author: str) -> dict[str, Any]:
    """Give rows other labels, and return what that did."""
    from untwin.model.history.naming import label_of, labels_of, names_of

    known = model.state_
    place = {name: number for number, name in enumerate(names_of(known.ids))}
    names, current = model.taxonomy_.heir, names_of(known.y)
    wanted: list[tuple[RowDecision, int, str]] = []
    for decision in decisions:
        number = place.get(decision.id)
        if number is None:
            raise _unknown(decision)
        name = _name_now(model, decision, names) if decision.label else ""
        if name and name != current[number]:
            label_of(name, model.classes_)  # refused here, if it is no label of this model
            wanted.append((decision, number, name))
    told: dict[str, Any] = {"n_changed": len(wanted), "n_same": len(decisions) - len(wanted)}
    told |= {"report": None, "told": ""}
    if not wanted:
        return told
    report = model.relabel(
        known.ids[[number for _, number, _ in wanted]],
        labels_of([name for _, _, name in wanted], model.classes_),
        author=[decision.author or author for decision, _, _ in wanted],
        notes=[decision.note for decision, _, _ in wanted],
    )
    return told | {"report": asdict(report), "told": str(report)}


def _name_now(model: UntwinClassifier, decision: RowDecision, heir: Any) -> str:
    """Return what a label is called now; a label that no class has had is a new class."""
    from untwin._errors import InputError

    taxonomy, name = model.taxonomy_, decision.label
    if name in taxonomy.by_name or not taxonomy.knows(name):
        return name
    found: str | None = heir(name)
    if found is None:
        hint = "Name the class that is right now: see `untwin classes MODEL`."
        message = f"{decision.place}: {name!r} is retired, and no one class has its place."
        raise InputError(message, code="retired-class", hint=hint)
    return found


def _unknown(decision: RowDecision) -> Exception:
    from untwin._errors import InputError

    hint = "Use the ids that findings, explanations and `untwin classes MODEL export` use."
    return InputError(f"{decision.place}: the model has no row {decision.id!r}.", code="unknown-id", hint=hint)
