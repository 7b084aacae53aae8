"""`EventLog`: all that was decided about labels and classes, in one file beside the model, which is only added to.

Glossary
--------
event      number in the order of events (`sequence`, from 1, without gaps), kind, time, author, and what it says
row note   what is known of a row that an event is about: a digest by which to find it in another table, and the row
           itself if the model has it no longer. These alone can be erased

The file is an SQLite database that every program at once can read and write. What is written is on the disk before
`append` returns. Whoever decides by what he has seen passes the number of the last event he saw (`after`), and is
refused if there are others by now. Triggers refuse to change or remove an event.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from untwin._errors import InputError, UntwinError
from untwin._wording import format_count
from untwin.taxonomy.limits import require_name, require_text, require_time, time_now
from untwin.taxonomy.schema import APPLICATION, SCHEMA, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KINDS = (
    "log.start",  # the taxonomy that the history begins with
    "label.say",  # somebody's opinion: {"row", "label", "note"}
    "label.settle",  # a decision: the row has this label from now on
    "row.add",  # rows that were learnt: {"labels": {row: label}}
    "row.remove",  # rows that left the model: {"rows": [...]}
    "class.rename",
    "class.merge",
    "class.split",
    "class.move",
    "class.define",
    "class.retire",
    "class.create",
    "class.undo",
    "link.add",
    "finding.dismiss",  # {"finding", "because", ...}
    "text.erase",  # {"rows": [...]}
    "model.update",  # a model was written that includes all events up to `includes`
)
DECIDING = ("label.settle", "row.", "class.", "link.")  # what labels and classes follow from
LONGEST_WAIT = 30.0  # seconds, for another program that writes
LARGEST_PAYLOAD = 1 << 26  # characters


class Event(NamedTuple):
    """One event of a log."""

    sequence: int
    kind: str
    at: str
    author: str
    payload: dict[str, Any]

    @property
    def decides(self) -> bool:
        """Whether labels or classes follow from it; opinions, dismissed findings and notes about models change none."""
        return self.kind.startswith(DECIDING)

    @property
    def begins(self) -> bool:
        """Whether the history of labels and classes begins with it; findings may have been dismissed before."""
        return self.kind == "log.start"

    def __str__(self) -> str:
        return f"event {self.sequence} ({self.kind}{f' by {self.author}' if self.author else ''}, {self.at})"


class RowNote(NamedTuple):
    """What is known of a row: its id, its digest, and its content, if the model has it no longer."""

    id: str
    digest: str
    content: Any = None


class NewEvent(NamedTuple):
    """An event to be added."""

    kind: str
    payload: dict[str, Any]
    author: str = ""
    at: str = ""
    rows: Sequence[RowNote] = ()


class EventLog:
    """The events in a file.

    Examples
    --------
    >>> import tempfile
    >>> log = EventLog(Path(tempfile.mkdtemp()) / "model.events")
    >>> log.append("label.settle", {"row": "T-1", "label": "billing"}, "Ada")
    1
    >>> [str(event.payload["label"]) for event in log.read()], log.last
    (['billing'], 1)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def exists(self) -> bool:
        """Tell whether anything has been written yet."""
        return self.path.exists()

    @property
    def id(self) -> str:
        """What tells this history from others; empty if there is none yet."""
        if not self.exists():
            return ""
        with self._reading() as db:
            return str(db.execute("SELECT id FROM log").fetchone()[0])

    @property
    def last(self) -> int:
        """The number of the last event; 0: none."""
        if not self.exists():
            return 0
        with self._reading() as db:
            return _last(db)

    def read(self, after: int = 0) -> list[Event]:
        """Return the events after a number, in their order."""
        if not self.exists():
            return []
        with self._reading() as db:
            found = db.execute(
                "SELECT sequence, kind, at, author, payload FROM events WHERE sequence > ? ORDER BY sequence", (after,)
            ).fetchall()
        return [Event._make([*event[:-1], json.loads(event[-1])]) for event in found]

    def row_notes(self, sequence: int | None = None) -> dict[int, list[RowNote]]:
        """Return what is known of rows, by event; of one event or of all."""
        if not self.exists():
            return {}
        with self._reading() as db:
            columns = "SELECT sequence, id, digest, content FROM rows"
            if sequence is None:
                found = db.execute(f"{columns} ORDER BY rowid").fetchall()
            else:
                found = db.execute(f"{columns} WHERE sequence = ? ORDER BY rowid", (sequence,)).fetchall()
        notes: dict[int, list[RowNote]] = {}
        for number, row, digest, content in found:
            note = RowNote(row, digest, None if content is None else json.loads(content))
            notes.setdefault(number, []).append(note)
        return notes

    def append(
        self,
        kind: str,
        payload: dict[str, Any],
        author: str = "",
        *,
        at: str = "",
        after: int | None = None,
        rows: Sequence[RowNote] = (),
    ) -> int:
        """Add an event and return its number; `after`: the last event that whoever decides has seen."""
        return self.append_all([NewEvent(kind, payload, author, at, rows)], after=after)

    def append_all(self, events: Iterable[NewEvent], *, after: int | None = None, log_id: str | None = None) -> int:
        """Add several events at once, all or none, and return the number of the last one.

        `log_id` is the id of the history if the file is yet to be made.
        """
        checked = [_checked(event) for event in events]
        with self._writing(log_id) as db:
            last = _last(db)
            if after is not None and last != after:
                raise _moved_on(self.path, db, after, last)
            for number, (event, payload) in enumerate(checked, last + 1):
                row = (number, event.kind, event.at or time_now(), event.author, payload)
                db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)
                notes = [
                    (number, note.id, note.digest, None if note.content is None else _json(note.content))
                    for note in event.rows
                ]
                db.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", notes)
            return last + len(checked)

    def erase(self, ids: Iterable[str], author: str = "", *, at: str = "") -> int:
        """Take all that is known of rows out of the file for good, and return how many notes that were."""
        wanted = [str(one) for one in ids]
        with self._writing(None) as db:
            db.executemany("INSERT INTO erasing VALUES (?)", [(one,) for one in dict.fromkeys(wanted)])
            erased = db.execute("DELETE FROM rows WHERE id IN (SELECT id FROM erasing)").rowcount
            db.execute("DELETE FROM erasing")
            event = (_last(db) + 1, "text.erase", at or time_now(), author, _json({"rows": wanted}))
            db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", event)
        with self._connection() as db:  # what is left of it in free pages and in the log of writes goes too
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(erased)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            db = sqlite3.connect(self.path, timeout=LONGEST_WAIT, isolation_level=None)
            try:
                for pragma in ("trusted_schema = OFF", "synchronous = FULL", "secure_delete = ON", "foreign_keys = ON"):
                    db.execute(f"PRAGMA {pragma}")
                yield db
            finally:
                db.close()
        except sqlite3.Error as error:
            hint = "Wait until other programs have ended, or take a copy of the log from before."
            raise UntwinError(f"{self.path}: cannot be used: {error}.", code="events", hint=hint) from error

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as db:
            _require_ours(db, self.path)
            yield db

    @contextmanager
    def _writing(self, log_id: str | None) -> Iterator[sqlite3.Connection]:
        """Give a connection whose changes are made when the block ends, all of them or none."""
        if not self.path.parent.is_dir():
            raise InputError(f"{self.path.parent}: there is no such folder.", code="not-found", hint="Make it first.")
        if self.path.is_symlink():
            hint = "Put the file itself beside the model."
            raise InputError(f"{self.path}: is a link, and only a file is written to.", code="not-a-file", hint=hint)
        with self._connection() as db:
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                db.execute("PRAGMA journal_mode = WAL")
                _make(db, log_id or uuid4().hex)
            _require_ours(db, self.path)
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")


def _make(db: sqlite3.Connection, log_id: str) -> None:
    """Make the tables, unless somebody else has just done so."""
    db.execute("BEGIN IMMEDIATE")
    if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        for statement in SCHEMA.split("\n\n"):
            db.execute(statement)
        db.execute("INSERT INTO log VALUES (?)", (log_id,))
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.execute("COMMIT")


def _require_ours(db: sqlite3.Connection, path: Path) -> None:
    found = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    if found != [APPLICATION, VERSION]:
        hint = "Move it away, or update untwin."
        raise InputError(f"{path}: is no log of events that this untwin knows.", code="events", hint=hint)


def _last(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT coalesce(max(sequence), 0) FROM events").fetchone()[0])


def _moved_on(path: Path, db: sqlite3.Connection, after: int, last: int) -> UntwinError:
    """Return the error of a decision that was made by less, or by other things, than there are now."""
    hint = "Look at them with `untwin classes MODEL log`, take them in with `untwin classes MODEL replay`, and repeat."
    if last < after:
        message = f"{path}: ends with event {last}, and event {after} had been seen. Got another history instead."
        return UntwinError(message, code="events-conflict", hint=hint)
    columns = "SELECT sequence, kind, at, author, payload FROM events WHERE sequence = ?"
    first = db.execute(columns, (after + 1,)).fetchone()
    more = format_count(last - after, "event that was", "events that were")
    message = f"{path}: has {more} not seen when this was decided, the first of them {Event._make(first)}."
    return UntwinError(message, code="events-conflict", hint=hint)


def _checked(event: NewEvent) -> tuple[NewEvent, str]:
    """Return an event, and what it says as JSON; raise InputError for what no log may hold."""
    if event.kind not in KINDS:
        raise InputError(f"There is no event {event.kind!r}.", code="events", hint=f"Known: {', '.join(KINDS)}.")
    require_text(event.author, "An author")
    require_time(event.at)
    for note in event.rows:
        require_name(note.id, "The id of a row")
        require_text(note.digest, "The digest of a row")
    content = _json(event.payload)
    if not isinstance(event.payload, dict) or len(content) > LARGEST_PAYLOAD:
        hint = "Decide about fewer rows at a time."
        raise InputError("An event must be an object, and not of many megabytes.", code="events", hint=hint)
    return event, content


def _json(content: Any) -> str:
    try:
        return json.dumps(content, ensure_ascii=False, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"An event must hold what JSON knows: {error}.", code="events", hint="Leave it out.") from None
