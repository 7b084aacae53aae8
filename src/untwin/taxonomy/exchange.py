"""A log of events as lines of JSON, to be kept or handed on, and back; and two histories that are to be one.

The first line says what it is; then one line for each event, in order, with what is known of its rows.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from untwin._errors import InputError
from untwin.taxonomy.events import KINDS, LARGEST_PAYLOAD, Event, NewEvent, RowNote
from untwin.taxonomy.limits import require_name, require_text, require_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from untwin.taxonomy.events import EventLog

FORMAT = 1
MOST_EVENTS = 1_000_000
HINT = "Give a file that `untwin classes MODEL export` has written."
_KEYS = ("sequence", "kind", "at", "author", "payload")


class History(NamedTuple):
    """The id of a log, and its events with what is known of their rows."""

    id: str
    events: list[tuple[Event, list[RowNote]]]


def history_of(log: EventLog) -> History:
    """Return all that a log holds."""
    notes = log.row_notes()
    return History(log.id, [(event, notes.get(event.sequence, [])) for event in log.read()])


def history_lines(history: History) -> Iterator[str]:
    """Yield the lines of a file."""
    yield json.dumps({"format": FORMAT, "log": history.id})
    for event, rows in history.events:
        noted = {"rows": [[*row[: 2 if row.content is None else 3]] for row in rows]} if rows else {}
        yield json.dumps({**event._asdict(), **noted}, ensure_ascii=False, sort_keys=True)


def read_history(path: Path) -> History:
    """Return the history in a file, which a stranger may have written; raise InputError, which names the line."""
    events, log_id = list[tuple[Event, list[RowNote]]](), ""
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(iter(lambda: file.readline(LARGEST_PAYLOAD), "")):
                content = _object(line, path, number)
                if number == 0:
                    log_id = _log_id(content, path)
                    continue
                if number > MOST_EVENTS:
                    raise _refused(path, number, f"there must be at most {MOST_EVENTS:,} events")
                events.append(_event(content, path, number))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.", code="events", hint=HINT) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8.", code="events", hint=HINT) from None
    if not log_id:
        raise InputError(f"{path}: is empty.", code="events", hint=HINT)
    return History(log_id, events)


def join_histories(own: Sequence[Event], other: Sequence[Event]) -> int:
    """Return how many events two histories have in common if one goes on where the other ends.

    Raise InputError, which names the first conflict, if they disagree.

    >>> one = Event(1, "label.say", "", "Ada", {"row": "1", "label": "a"})
    >>> join_histories([one], [one, one._replace(sequence=2)])
    1
    """
    for mine, theirs in zip(own, other, strict=False):
        if mine != theirs:
            hint = "Keep one of the two logs, and make the other one's decisions again."
            message = f"The two histories disagree from event {mine.sequence} on: here {mine}, there {theirs}."
            raise InputError(message, code="events-conflict", hint=hint)
    return min(len(own), len(other))


def as_new(events: Sequence[tuple[Event, list[RowNote]]]) -> list[NewEvent]:
    """Return events as they are added to another log."""
    return [NewEvent(event.kind, event.payload, event.author, event.at, rows) for event, rows in events]


def _object(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise _refused(path, number, "each line must be a JSON object")
    return content


def _log_id(content: dict[str, Any], path: Path) -> str:
    match content:
        case {"format": 1, "log": str(log_id)}:
            return require_name(log_id, "The id of a log")
    raise _refused(path, 0, "the first line must name the format, 1, and the log")


def _event(content: dict[str, Any], path: Path, number: int) -> tuple[Event, list[RowNote]]:
    rows = content.pop("rows", [])
    if set(content) != set(_KEYS) or content["sequence"] != number or type(content["sequence"]) is not int:
        raise _refused(path, number, f"an event must have {', '.join(_KEYS)}, and follow the one before")
    if content["kind"] not in KINDS or not isinstance(content["payload"], dict):
        raise _refused(path, number, "an event must be of a known kind, and say something")
    try:
        require_time(content["at"])
        require_text(content["author"], "An author")
        sound = isinstance(rows, list) and all(isinstance(row, list) and len(row) in (2, 3) for row in rows)
        notes = [RowNote(require_name(row[0], "An id"), require_text(row[1], "A digest"), *row[2:]) for row in rows]
    except (InputError, TypeError) as error:
        raise _refused(path, number, str(error)) from None
    if not sound:
        raise _refused(path, number, "rows must be lists of id, digest and perhaps content")
    return Event(*(content[name] for name in _KEYS)), notes


def _refused(path: Path, number: int, reason: str) -> InputError:
    return InputError(f"{path}, line {number + 1}: {reason}.", code="events", hint=HINT)
