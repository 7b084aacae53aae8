"""The history of a model: the taxonomy it was trained with, and which events of its owner's log it includes.

`ClassHistory` is saved with the model. Events that were made in memory wait in `UnsavedEvents` and are written to the
log beside the model when that is saved: first the events, then the model that says it includes them. So an interrupted
save leaves a model that is behind its log, never one that knows more.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from untwin._compat import is_sparse
from untwin._errors import InputError, UntwinError
from untwin._plain import plain
from untwin.model.history.naming import names_of
from untwin.taxonomy import Taxonomy
from untwin.taxonomy.documents import taxonomy_lines, taxonomy_of_lines
from untwin.taxonomy.events import Event, EventLog, NewEvent, RowNote
from untwin.taxonomy.ledger import Ledger, start_payload
from untwin.taxonomy.limits import time_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from untwin.model.history.mixin import HistoryMixin
    from untwin.model.state import FittedState


@dataclass(frozen=True)
class ClassHistory:
    """The taxonomy of a model as lines of JSON, the id of the log that it belongs to, the last event it includes."""

    lines: list[str]
    log: str = ""
    sequence: int = 0

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> ClassHistory:
        """Return a history that begins with a taxonomy."""
        made = cls(taxonomy_lines(taxonomy))
        vars(made)["taxonomy"] = taxonomy
        return made

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy as a value."""
        return taxonomy_of_lines(self.lines)

    def with_taxonomy(self, taxonomy: Taxonomy) -> ClassHistory:
        """Return the history with another taxonomy."""
        return replace(ClassHistory.of(taxonomy), log=self.log, sequence=self.sequence)


@dataclass(frozen=True)
class UnsavedEvents:
    """Events that no log holds yet, and the taxonomy before the first of them."""

    base: Taxonomy
    events: tuple[NewEvent, ...] = ()

    def and_also(self, events: Iterable[NewEvent]) -> UnsavedEvents:
        """Return them with more events, which have been made now."""
        made = [event if event.at else event._replace(at=time_now()) for event in events]
        return replace(self, events=(*self.events, *made))


def events_path(folder: str | Path) -> Path:
    """Return where the log of a model stands: beside its folder.

    >>> events_path("models/tickets/").as_posix()
    'models/tickets.events'
    """
    place = Path(folder)
    named = place if place.name not in ("", "..") else place.resolve()
    return named.with_name(f"{named.name}.events")


def begin(taxonomy: Taxonomy) -> NewEvent:
    """Return the event that a log begins with."""
    return NewEvent("log.start", start_payload(taxonomy))


def all_events(model: HistoryMixin) -> tuple[list[Event], Taxonomy]:
    """Return the events that a model includes, unsaved ones last, and the taxonomy before the first."""
    history, unsaved = model.class_history_, model.unsaved_events_
    log = own_log(model)
    events = [] if log is None else [event for event in log.read() if event.sequence <= history.sequence]
    if history.sequence and not events and not unsaved.events:
        hint = "Load the model from the folder that the log stands beside."
        raise UntwinError("The log of events of this model is not here.", code="no-events", hint=hint)
    last = history.sequence
    new = [
        Event(last + place, event.kind, event.at, event.author, event.payload)
        for place, event in enumerate(unsaved.events, 1)
    ]
    return [*events, *new], unsaved.base if not events else Taxonomy()


def own_log(model: HistoryMixin) -> EventLog | None:
    """Return the log that a model belongs to, beside a folder that it was read from or saved to; None without one."""
    for folder in vars(model).get("_seen_in", {}):
        log = EventLog(events_path(folder))
        if model.class_history_.log and log.id == model.class_history_.log:
            return log
    return None


def notes_of_event(model: HistoryMixin, sequence: int) -> Sequence[RowNote]:
    """Return what is known of the rows of an event, saved or not."""
    log, history = own_log(model), model.class_history_
    if sequence <= history.sequence:
        return [] if log is None else log.row_notes(sequence).get(sequence, [])
    return model.unsaved_events_.events[sequence - history.sequence - 1].rows


def write_events(log: EventLog, history: ClassHistory, unsaved: UnsavedEvents, facts: dict[str, Any]) -> ClassHistory:
    """Add what no log holds yet to a log, and return the history of a model that includes it all.

    Raise UntwinError if the log has events that the model does not include, or is that of another model.
    """
    events, before = list(unsaved.events), 0
    if log.exists():
        before = require_included(log, history)
    if events[0].kind != "log.start" and (not before or log.id != history.log):
        events.insert(0, begin(unsaved.base))
    shift = before + len(events) - len(unsaved.events) - history.sequence
    events = [_renumbered(event, history.sequence, shift) for event in events]
    events.append(NewEvent("model.update", {"includes": before + len(events), **facts}))
    last = log.append_all(events, after=before)
    return replace(history, log=log.id, sequence=last)


def require_included(log: EventLog, history: ClassHistory) -> int:
    """Return the number of the last event of a log; raise UntwinError if one from which labels follow is not included.

    What is decided by such a model would rest on less than is known.
    """
    hint = "Take it in with `untwin classes MODEL replay`, or move it away."
    new = log.read(history.sequence if log.id == history.log else 0)
    first = next((event for event in new if event.decides or event.kind == "log.start"), None)
    if log.id != history.log and (first is not None or history.log):
        message = f"{log.path}: holds the history of another model, or one that this model does not include."
        raise UntwinError(message, code="events-conflict", hint=hint)
    if first is not None:
        message = f"{log.path}: has events that the model does not include, the first of them {first}."
        raise UntwinError(message, code="events-conflict", hint=hint)
    return new[-1].sequence if new else history.sequence


def _renumbered(event: NewEvent, included: int, shift: int) -> NewEvent:
    """Return an event that undoes the right one, where unsaved events get other numbers than they were given."""
    if not shift or event.payload.get("undoes", 0) <= included:
        return event
    payload = {**event.payload, "undoes": event.payload["undoes"] + shift}
    if "change" in payload:
        payload["change"] = {**payload["change"], "of": payload["undoes"]}
    return event._replace(payload=payload)


def notes_of_rows(known: FittedState, places: Sequence[int], *, whole: bool) -> list[RowNote]:
    """Return by what to know rows again; `whole`: also what they hold, unless the model keeps counts only."""
    names, rows = names_of(known.ids[list(places)]), known.view.given
    if rows is None:
        return [RowNote(name, "") for name in names]
    contents = [content_of(rows, place) for place in places]
    return [
        RowNote(name, digest_of_content(content), content if whole else None)
        for name, content in zip(names, contents, strict=True)
    ]


def content_of(rows: Any, place: int) -> Any:
    """Return a row as JSON keeps it: a text, the cells of a table by column, the numbers of a matrix.

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> content_of(np.eye(2), 1), content_of(csr_array(np.eye(2)), 1)
    ([0.0, 1.0], {'columns': [1], 'values': [1.0]})
    """
    if isinstance(rows, pl.DataFrame):
        return plain(rows.row(place, named=True))
    if isinstance(rows, list):
        return rows[place]
    if not is_sparse(rows):
        return rows[place].tolist()
    here = slice(rows.indptr[place], rows.indptr[place + 1])
    return {"columns": rows.indices[here].tolist(), "values": rows.data[here].tolist()}


def digest_of_content(content: Any) -> str:
    """Return a digest by which to find a row in another table.

    >>> digest_of_content("my card") == digest_of_content("your card")
    False
    """
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def row_numbers_by_digest(known: FittedState) -> dict[str, list[str]]:
    """Return the ids of training rows by their digests."""
    found: dict[str, list[str]] = {}
    if known.view.given is None:
        return found
    for place, name in enumerate(names_of(known.ids)):
        found.setdefault(digest_of_content(content_of(known.view.given, place)), []).append(name)
    return found


def labels_digest(model: HistoryMixin) -> str:
    """Return a digest of the labels of all training rows by id, whatever their order."""
    known = model.state_
    pairs = sorted(zip(names_of(known.ids), names_of(known.y), strict=True))
    return hashlib.sha256(json.dumps(pairs, ensure_ascii=False).encode()).hexdigest()


def taxonomy_before(events: Sequence[Event], base: Taxonomy, sequence: int) -> tuple[Taxonomy, Taxonomy]:
    """Return the taxonomies before and after an event."""
    ledger = Ledger.of({}, base)
    ledger.take(event for event in events if event.sequence < sequence)
    before = ledger.taxonomy
    ledger.take(event for event in events if event.sequence == sequence)
    return before, ledger.taxonomy


def made_together(events: Sequence[Event], event: Event) -> list[Event]:
    """Return the decisions of one list: those next to an event that were made at the same time."""
    same = [event]
    for earlier in reversed([one for one in events if one.sequence < event.sequence]):
        if (earlier.kind, earlier.at) != (event.kind, event.at) or "undoes" in earlier.payload:
            break
        same.append(earlier)
    return same


def event_to_undo(events: Sequence[Event], of: int | None, undone: set[int]) -> Event:
    """Return the event to undo: the one with a number, or the last that can be and is not an undoing itself."""
    kinds = ("class.", "link.", "label.settle", "row.remove")
    event: Event
    for event in reversed(events):
        wanted = "undoes" not in event.payload if of is None else event.sequence == of
        if wanted and event.kind.startswith(kinds) and event.sequence not in undone:
            return event
    hint = "See the numbers with `untwin classes MODEL log`."
    message = "There is nothing to undo." if of is None else f"Event {of} cannot be undone, or has been."
    raise InputError(message, code="class-change", hint=hint)
