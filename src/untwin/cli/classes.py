"""`untwin classes`: the classes of a model with their history; list them, change them, undo, hand them on."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untwin.cli.class_changes import CHANGE_COMMANDS, author_options, change_of, user_name
from untwin.cli.options import force_option, running_options
from untwin.cli.output import name_next, progress, put, put_json, put_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin.model import UntwinClassifier
    from untwin.model.records import UpdateReport
    from untwin.taxonomy import Taxonomy
    from untwin.taxonomy.classes import ClassEntry

SHOWN_UNMATCHED = 10


@click.group(invoke_without_command=True)
@click.argument("model")
@click.pass_context
def classes(context: click.Context, model: str) -> int:
    """Show and change the classes of MODEL, with their history.

    Changes are made in the model at once and kept, with author, time and reason, in the log MODEL.events beside it. The
    table that the model was fitted to is never written.
    """
    context.obj = model
    return 0 if context.invoked_subcommand else int(context.invoke(list_classes, strict=False, as_json=False))


@classes.command("list")
@running_options
@click.pass_obj
def list_classes(model: str, *, strict: bool, as_json: bool) -> int:
    """List the classes: id, name, rows, and what became of former ones; as JSON, the taxonomy itself."""
    from untwin.taxonomy import taxonomy_to_json

    loaded = _load(model)
    taxonomy, sizes = loaded.taxonomy_, _sizes(loaded)
    if as_json:
        put_json({"model": model, "rows": sizes, "taxonomy": taxonomy_to_json(taxonomy)})
    else:
        names = {entry.id: entry.name for entry in taxonomy.classes}
        rows = [
            [entry.id, entry.name, sizes.get(entry.name, 0) if not entry.retired else "", _became(entry, names)]
            for entry in taxonomy.classes
        ]
        put_table(["id", "class", "rows", ""], rows)
        for a, b in taxonomy.links:
            put(f"{names[a]}: see also {names[b]}")
    name_next(["classes", model, "preview", "merge", "A", "B", "--into", "A"])
    return 0


@classes.command()
@running_options
@click.pass_obj
def tree(model: str, *, strict: bool, as_json: bool) -> int:
    """Draw the classes below their parents, with their definitions."""
    loaded = _load(model)
    taxonomy, sizes = loaded.taxonomy_, _sizes(loaded)
    if as_json:
        put_json({"model": model, "tree": _branch(taxonomy, None, sizes)})
    else:
        _draw(_branch(taxonomy, None, sizes), 0)
    return 0


@classes.command()
@running_options
@click.pass_obj
def log(model: str, *, strict: bool, as_json: bool) -> int:
    """Show the log of events: what was decided, by whom, when and why."""
    from untwin.model.history.journal import events_path
    from untwin.taxonomy.events import EventLog

    events = EventLog(events_path(model)).read()
    included = _load(model).class_history_.sequence
    if as_json:
        put_json({"model": model, "included": included, "events": [event._asdict() for event in events]})
        return 0
    rows = [[event.sequence, event.at, event.author, event.kind, _told(event.payload)] for event in events]
    put_table(["", "time", "author", "event", ""], rows)
    put(f"The model includes events up to {included}.")
    return 0


@classes.command(context_settings={"ignore_unknown_options": True})
@click.argument("change", nargs=-1, type=click.UNPROCESSED, required=True)
@running_options
@click.pass_obj
def preview(model: str, change: tuple[str, ...], *, strict: bool, as_json: bool) -> int:
    """Say what a change would do: CHANGE is rename, merge, split, ..., with its words. Nothing is changed."""
    command = CHANGE_COMMANDS.get(change[0])
    if command is None:
        raise click.UsageError(f"There is no change {change[0]!r}. There are {', '.join(map(str, CHANGE_COMMANDS))}.")
    with command.make_context(change[0], list(change[1:])) as context:
        values = dict(context.params)
    found = _load(model).preview(change_of(change[0], values))
    if as_json or values["as_json"]:
        put_json({"model": model, "preview": asdict(found)})
    else:
        put(str(found))
        for a, b in found.links:
            put(f"link: {a}, {b}")
    return 0


def change_classes(name: str, values: dict[str, Any]) -> int:
    """Make a change of the classes of a model, and say what it did."""
    model, change = click.get_current_context().obj, change_of(name, values)
    with progress(), changed_model(model, force=values["force"]) as loaded:
        report = loaded.apply(change, learn=not values["later"])
    _show(model, report, loaded, as_json=values["as_json"])
    return 0


for _command in CHANGE_COMMANDS.values():
    classes.add_command(_command)


@classes.command()
@click.argument("event", type=click.IntRange(min=1), required=False)
@author_options
@force_option
@running_options
@click.pass_obj
def undo(
    model: str, event: int | None, *, author: str | None, because: str, force: bool, strict: bool, as_json: bool
) -> int:
    """Undo the last change or decision, or EVENT, by another one."""
    with progress(), changed_model(model, force=force) as loaded:
        report = loaded.undo(event, author=author or user_name(), reason=because)
    _show(model, report, loaded, as_json=as_json)
    return 0


@classes.command()
@click.option("-o", "--output", metavar="FOLDER", required=True, help="Write here: a new folder, or one that is there.")
@running_options
@click.pass_obj
def export(model: str, *, output: str, strict: bool, as_json: bool) -> int:
    """Write labels.csv, crosswalk.csv and events.jsonl, for other systems to follow."""
    from untwin.cli.class_export import export_classes

    record = {"model": model, **export_classes(_load(model), Path(model), Path(output))}
    if as_json:
        put_json(record)
    else:
        put(f"{output}: {record['rows']:,} labels, digest {record['digest']}; {record['events']:,} events")
    return 0


@classes.command()
@click.argument("events", required=False)
@force_option
@running_options
@click.pass_obj
def replay(model: str, events: str | None, *, force: bool, strict: bool, as_json: bool) -> int:
    """Take in EVENTS that an export has written, or those of the model's own log that it does not include."""
    from untwin.cli.class_export import take_in

    with progress(), changed_model(model, force=force, behind=True) as loaded:
        found = take_in(loaded, Path(model), None if events is None else Path(events))
    if as_json:
        put_json({"model": model, **asdict(found)}, ok=not (strict and found.unmatched))
    else:
        put(f"{found.n_events:,} events; {found.n_relabelled:,} rows relabelled, {found.n_removed:,} removed")
        put(f"labels: {len(loaded.ids_):,}, digest {found.digest}")
        for row, here in list(found.by_digest.items())[:SHOWN_UNMATCHED]:
            put(f"found by its content: {row} is {here}")
        for row in found.unmatched[:SHOWN_UNMATCHED]:
            put(f"not there: {row}")
        left = len(found.unmatched) - SHOWN_UNMATCHED
        if left > 0:
            put(f"... and {left:,} more (--json)")
    return int(strict and bool(found.unmatched))


@contextmanager
def changed_model(folder: str, *, force: bool, behind: bool = False) -> Iterator[UntwinClassifier]:
    """Give a model to change; it is saved with its report when the block ends, and nobody else writes meanwhile.

    `behind`: events that it does not include are what the block takes in.
    """
    from untwin.cli.model_files import changing, report_of, require_report_place, save_once
    from untwin.model.history.journal import events_path, require_included
    from untwin.model.saving.directory import load_model
    from untwin.taxonomy.events import EventLog

    place = Path(folder)
    with changing(place):
        require_report_place(report_of(place), force=force)
        model = load_model(place)
        log = EventLog(events_path(place))
        if log.exists() and not behind:
            require_included(log, model.class_history_)
        yield model
        with save_once(model, place, dict(model.about_), texts=model.state_.documents is not None) as save_with_report:
            model.measure()
            save_with_report()


def _load(model: str) -> UntwinClassifier:
    from untwin.model.saving.directory import load_model

    return load_model(model, explains=False)


def _sizes(model: UntwinClassifier) -> dict[str, int]:
    """Return how many training rows each class has, by name."""
    import numpy as np

    labels, counts = np.unique(model.state_.y, return_counts=True)
    return dict(zip(map(str, labels.tolist()), counts.tolist(), strict=True))


def _became(entry: ClassEntry, names: dict[str, str]) -> str:
    heirs = ", ".join(names[heir.id] for heir in entry.replaced_by)
    told = [f"retired{f', now {heirs}' if heirs else ''}"] if entry.retired else []
    told += [f"formerly {', '.join(former.name for former in entry.former)}"] if entry.former else []
    return "; ".join(told)


def _branch(taxonomy: Taxonomy, parent: str | None, sizes: dict[str, int]) -> list[dict[str, Any]]:
    """Return the active classes below a parent."""
    below: dict[str | None, list[ClassEntry]] = {}
    for entry in taxonomy.active:
        below.setdefault(entry.parent, []).append(entry)

    def branch(one: str | None) -> list[dict[str, Any]]:
        return [
            {"name": entry.name, "rows": sizes.get(entry.name, 0), "definition": entry.definition}
            | {"classes": branch(entry.id)}
            for entry in below.get(one, [])
        ]

    return branch(parent)


def _draw(branch: list[dict[str, Any]], depth: int) -> None:
    for one in branch:
        said = f": {one['definition']}" if one["definition"] else ""
        put(f"{'  ' * depth}{one['name']} ({one['rows']:,}){said}")
        _draw(one["classes"], depth + 1)


def _told(payload: dict[str, Any]) -> str:
    """Return what an event says, on a line."""
    change = payload.get("change", payload)
    hidden = ("kind", "taxonomy", "entries", "rows", "scores", "shares", "labels", "linked", "unlinked")
    parts = []
    for name, value in change.items() if isinstance(change, dict) else ():
        if name not in hidden and value not in ("", None):
            shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            parts.append(f"{name} {shown}")
    return "; ".join(parts)


def _show(folder: str, report: UpdateReport, model: UntwinClassifier, *, as_json: bool) -> None:
    if as_json:
        put_json({"model": folder, "event": model.class_history_.sequence, **asdict(report)})
    else:
        put(str(report))
        put(
            f"{len(model.state_.y):,} rows, {len(model.classes_):,} classes; untwin classes {folder} undo takes it back"
        )
    name_next(["classes", folder, "list"], ["predict", folder, "NEW_DATA"])
