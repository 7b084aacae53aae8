"""`untwin remove`: training rows leave a model, and with --erase everything that is beside it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from untwin.cli.class_changes import user_name
from untwin.cli.options import force_option, reading_options, running_options
from untwin.cli.output import name_next, progress, put, put_json

if TYPE_CHECKING:
    from untwin.cli.decisions import RowDecision
    from untwin.data.read import ReadOptions
    from untwin.model import UntwinClassifier


@click.command()
@click.argument("model")
@click.argument("ids")
@click.option("--id", "id_", metavar="COL", help="The column of the ids.  [default: id]")
@click.option("--erase", is_flag=True, help="Take their texts out of the model and the log for good.")
@click.option("--author", metavar="NAME", help="Who decides.  [default: the user of this machine]")
@force_option
@reading_options
@running_options
def remove(
    model: str,
    ids: str,
    read: ReadOptions,
    *,
    id_: str | None,
    erase: bool,
    author: str | None,
    force: bool,
    strict: bool,
    as_json: bool,
) -> int:
    """Remove the training rows of MODEL that IDS names, a table with a column id.

    The log MODEL.events keeps what was in them, so that `untwin classes MODEL undo` brings them back. With --erase it
    keeps their ids only, what it knew of their texts is erased, and the model is fitted anew to the other rows.
    """
    from untwin.cli.classes import changed_model
    from untwin.cli.decisions import read_decisions
    from untwin.model.history.journal import events_path
    from untwin.taxonomy.events import EventLog

    decisions = read_decisions(ids, ("id",), read, id=id_ or "id")
    who = author or user_name()
    with progress(), changed_model(model, force=force) as loaded:
        report = _remove(loaded, decisions, who, erase=erase)
    log = EventLog(events_path(model))
    if erase and log.exists():
        log.erase([decision.id for decision in decisions], who)
    if as_json:
        put_json({"model": model, "erased": erase, **asdict(report)})
    else:
        put(f"{report}; {len(loaded.ids_):,} rows are left")
    name_next(["classes", model, "log"], ["report", model])
    return 0


def _remove(model: UntwinClassifier, decisions: list[RowDecision], author: str, *, erase: bool) -> Any:
    """Remove rows; those that a call with --erase names may have been removed before."""
    from untwin._errors import InputError
    from untwin.model.history.carrying import nothing_learnt
    from untwin.model.history.naming import names_of

    place = {name: number for number, name in enumerate(names_of(model.state_.ids))}
    unknown = [decision for decision in decisions if decision.id not in place]
    if unknown and not erase:
        hint = "Use the ids that findings, explanations and `untwin classes MODEL export` use."
        message = f"{unknown[0].place}: the model has no row {unknown[0].id!r}."
        raise InputError(message, code="unknown-id", hint=hint)
    numbers = [place[decision.id] for decision in decisions if decision.id in place]
    if not numbers:
        return nothing_learnt()
    return model.remove(model.state_.ids[numbers], author=author, erase=erase)
