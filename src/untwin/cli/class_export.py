"""The work of `untwin classes export` and `replay`: labels, crosswalk and events in files, and events back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from untwin._errors import InputError
from untwin._files import replacing
from untwin.cli.model_files import require_outside
from untwin.data.formulas import guard
from untwin.model.history.journal import events_path, labels_digest
from untwin.model.history.naming import names_of
from untwin.model.history.replaying import replay_events
from untwin.taxonomy import crosswalk
from untwin.taxonomy.crosswalk import CrosswalkRow
from untwin.taxonomy.events import EventLog
from untwin.taxonomy.exchange import as_new, history_lines, history_of, join_histories, read_history

if TYPE_CHECKING:
    from pathlib import Path

    from untwin.model import UntwinClassifier
    from untwin.model.history.replaying import Replayed
    from untwin.taxonomy.exchange import History


def export_classes(model: UntwinClassifier, folder: Path, output: Path) -> dict[str, Any]:
    """Write the labels of now, the crosswalk and the events; return what was written."""
    output.mkdir(exist_ok=True)
    require_outside(output / "labels.csv", folder)
    log = EventLog(events_path(folder))
    history = history_of(log) if log.exists() else None
    _write_table(output / "labels.csv", _labels(model, history))
    rows = [row._asdict() for row in crosswalk(model.taxonomy_)]
    schema = dict.fromkeys(CrosswalkRow._fields, pl.String) | {"share": pl.Float64}
    _write_table(output / "crosswalk.csv", pl.DataFrame(rows, schema=schema))
    n_events = 0
    if history is not None:
        n_events = len(history.events)
        with replacing(output / "events.jsonl") as file:
            for line in history_lines(history):
                file.write(f"{line}\n".encode())
    return {"output": str(output), "rows": len(model.ids_), "digest": labels_digest(model), "events": n_events}


def take_in(model: UntwinClassifier, folder: Path, path: Path | None) -> Replayed:
    """Take events into a model: those of a file, which its own log then has too, or those of its own log."""
    log = EventLog(events_path(folder))
    if path is not None:
        _add_to(log, read_history(path))
    elif not log.exists():
        hint = "Say which events to take in: untwin classes MODEL replay events.jsonl."
        raise InputError(f"{log.path}: there is no log of events.", code="no-events", hint=hint)
    return replay_events(model, history_of(log))


def _add_to(log: EventLog, history: History) -> None:
    """Let a log go on as a history does; refuse one that disagrees."""
    own = log.read()
    known = join_histories(own, [event for event, _ in history.events])
    if not history.events[known:]:
        return
    if log.exists() and log.id != history.id and not own:
        raise InputError(f"{log.path}: is the log of another model.", code="events-conflict", hint="Move it away.")
    log.append_all(as_new(history.events[known:]), after=len(own), log_id=history.id)


def _labels(model: UntwinClassifier, history: History | None) -> pl.DataFrame:
    """Return the training rows with their labels of now, and who settled these if anybody has since the table."""
    known, authors = model.state_, dict[str, str]()
    for event, _ in [] if history is None else history.events:
        if event.kind == "label.settle":
            authors[str(event.payload.get("row"))] = event.author
    ids = names_of(known.ids)
    frame = pl.DataFrame(
        {"id": ids, "label": names_of(known.y), "author": [authors.get(row, "") for row in ids]},
        schema={"id": pl.String, "label": pl.String, "author": pl.String},
    )
    documents = known.documents
    if isinstance(documents, list):
        return frame.with_columns(pl.Series("text", documents, dtype=pl.String))
    if isinstance(documents, pl.DataFrame):
        return frame.hstack(documents.rename({name: f"{name}_" for name in documents.columns if name in frame.columns}))
    return frame


def _write_table(path: Path, frame: pl.DataFrame) -> None:
    with replacing(path) as file:
        guard(frame).write_csv(file)
