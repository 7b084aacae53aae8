"""The tables of a log of events, and the triggers that let nobody change what is in it."""

from __future__ import annotations

APPLICATION = 0x756E7477  # "untw": by which to know our files
VERSION = 1

# Statements are apart by an empty line.
SCHEMA = """\
CREATE TABLE log (id TEXT NOT NULL) STRICT

CREATE TABLE events (
  sequence INTEGER PRIMARY KEY, kind TEXT NOT NULL, at TEXT NOT NULL, author TEXT NOT NULL, payload TEXT NOT NULL
) STRICT

CREATE TABLE rows (
  sequence INTEGER NOT NULL REFERENCES events, id TEXT NOT NULL, digest TEXT NOT NULL, content TEXT
) STRICT

CREATE INDEX rows_by_id ON rows (id)

CREATE INDEX rows_by_event ON rows (sequence)

CREATE TABLE erasing (id TEXT NOT NULL) STRICT

CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are only added, never changed'); END

CREATE TRIGGER events_remain BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are only added, never removed'); END

CREATE TRIGGER events_follow BEFORE INSERT ON events
WHEN NEW.sequence IS NOT (SELECT coalesce(max(sequence), 0) + 1 FROM events)
BEGIN SELECT RAISE(ABORT, 'events are added at the end'); END

CREATE TRIGGER rows_stay BEFORE UPDATE ON rows
BEGIN SELECT RAISE(ABORT, 'what is known of rows is never changed'); END

CREATE TRIGGER rows_remain BEFORE DELETE ON rows WHEN OLD.id NOT IN (SELECT id FROM erasing)
BEGIN SELECT RAISE(ABORT, 'what is known of rows is only erased when that is asked for'); END

CREATE TRIGGER log_stays BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'a log keeps its id'); END

CREATE TRIGGER log_remains BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'a log keeps its id'); END
"""
