"""The dismissals of a model: events in its owner's log, which is no part of the model.

What is handed on tells nobody what its owner knows already.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_type_hints

from untwin._errors import InputError
from untwin.model.findings.dismissals import Dismissal, Dismissals
from untwin.model.history.journal import events_path
from untwin.taxonomy import Taxonomy
from untwin.taxonomy.events import Event, EventLog, NewEvent
from untwin.taxonomy.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KIND = "finding.dismiss"


def dismissals_of(folder: Path) -> Dismissals:
    """Return what the owner of a model has dismissed, by the names that classes have now."""
    log, ledger = EventLog(events_path(folder)), Ledger.of({}, Taxonomy())
    found: list[tuple[Dismissal, dict[str, str]]] = []
    for event in log.read():
        if event.kind == KIND:
            found.append((_dismissal(log, event), _class_ids(ledger)))
        else:
            ledger.take([event])
        if event.kind == "log.start":  # what was dismissed before is about the classes that it begins with
            found = [(one, _class_ids(ledger)) for one, _ in found]
    names = {entry.id: entry.name for entry in ledger.taxonomy.classes}
    return Dismissals.of([one.renamed({old: names[key] for old, key in ids.items()}) for one, ids in found])


def _class_ids(ledger: Ledger) -> dict[str, str]:
    return {entry.name: entry.id for entry in ledger.taxonomy.classes}


def keep_dismissals(folder: Path, new: Sequence[Dismissal]) -> None:
    """Add dismissals to the log beside a model."""
    events = []
    for one in new:
        payload = asdict(one)
        author, when = payload.pop("author"), payload.pop("when")
        events.append(NewEvent(KIND, payload, author, when))
    EventLog(events_path(folder)).append_all(events)


def _dismissal(log: EventLog, event: Event) -> Dismissal:
    if not _is_dismissal(event.payload):
        message = f"{log.path}: {event} is not what `untwin dismiss` writes."
        raise InputError(message, code="dismissals", hint="Move the log away: nothing is dismissed then.")
    return Dismissal(**event.payload, author=event.author, when=event.at)


def _is_dismissal(content: dict[str, Any]) -> bool:
    """Tell whether an event says what it must of a dismissal, each part of its type."""
    types = {name: kind for name, kind in get_type_hints(Dismissal).items() if name not in ("author", "when")}
    needed = ("finding", "about", "because")
    return set(needed) <= set(content) <= set(types) and all(
        (isinstance(cell, list | None) if name == "subject" else isinstance(cell, types[name]))
        and not isinstance(cell, bool)
        for name, cell in content.items()
    )
