"""The log of events: only added to, seen by many programs, one order for all, and two histories that are to agree."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from untwin._errors import InputError, UntwinError
from untwin.taxonomy import Merge, Rename, Retire, Split, Taxonomy, apply, by_ids, reverting
from untwin.taxonomy.events import EventLog, NewEvent, RowNote
from untwin.taxonomy.exchange import as_new, history_lines, history_of, join_histories, read_history
from untwin.taxonomy.ledger import Ledger, Moved, change_payload, event_kind, start_payload, undone_events


@pytest.fixture
def log(tmp_path):
    return EventLog(tmp_path / "model.events")


def test_nothing_is_written_by_reading(log):
    assert (log.last, log.read(), log.id, log.row_notes()) == (0, [], "", {})
    assert not log.exists()


def test_events_get_numbers_without_gaps_and_are_read_back(log):
    assert log.append("label.settle", {"row": "1", "label": "Grüße"}, "Ada", at="2026-01-01T00:00:00+00:00") == 1
    notes = [RowNote("1", "abc"), RowNote("2", "def", "the text")]
    more = [NewEvent("label.say", {"row": "1", "label": "b"}), NewEvent("row.remove", {"rows": ["2"]}, rows=notes)]
    assert log.append_all(more) == 3
    events = log.read()
    assert [event.sequence for event in events] == [1, 2, 3]
    assert events[0].payload == {"row": "1", "label": "Grüße"}
    assert (events[0].author, events[0].at) == ("Ada", "2026-01-01T00:00:00+00:00")
    assert log.read(after=2) == events[2:]
    assert log.row_notes() == {3: notes} == {3: log.row_notes(3)[3]}
    assert len(log.id) == 32


def test_the_settings_that_keep_what_was_written(log):
    log.append("label.say", {})
    with sqlite3.connect(log.path) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        strict = dict(db.execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").fetchall())
    assert all(strict[name] for name in ("log", "events", "rows", "erasing"))
    with log._connection() as db:
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET author = 'Eve'",
        "DELETE FROM events",
        "INSERT INTO events VALUES (9, 'label.say', '', '', '{}')",
        "INSERT OR REPLACE INTO events VALUES (1, 'label.say', '', 'Eve', '{}')",
        "UPDATE rows SET digest = ''",
        "DELETE FROM rows",
        "UPDATE log SET id = 'x'",
        "DELETE FROM log",
    ],
)
def test_nobody_changes_what_is_in_it(log, statement):
    log.append("row.remove", {"rows": ["1"]}, "Ada", rows=[RowNote("1", "abc", "text")])
    before = log.read(), log.row_notes(), log.id
    with sqlite3.connect(log.path) as db, pytest.raises(sqlite3.IntegrityError):
        db.execute(statement)
    assert (log.read(), log.row_notes(), log.id) == before


def test_erased_texts_are_in_no_byte_of_the_files(log):
    log.append(
        "row.remove", {"rows": ["1", "2"]}, rows=[RowNote("1", "d" * 64, "SECRETSECRET"), RowNote("2", "e", "kept")]
    )
    assert log.erase(["1"], "Ada") == 1
    assert log.row_notes() == {1: [RowNote("2", "e", "kept")]}
    assert (log.read()[-1].kind, log.read()[-1].payload) == ("text.erase", {"rows": ["1"]})
    files = b"".join(path.read_bytes() for path in log.path.parent.iterdir())
    assert b"SECRETSECRET" not in files
    assert b"d" * 64 not in files
    assert b"kept" in files


def test_whoever_has_not_seen_the_last_event_is_refused_and_the_first_new_one_named(log):
    log.append("label.say", {}, after=0)
    log.append("class.define", {"change": {}}, "Ada", after=1)
    log.append("label.say", {}, "Bo")
    with pytest.raises(UntwinError, match=r"2 events that were not seen .* event 2 \(class.define by Ada") as refused:
        log.append("label.say", {}, after=1)
    assert refused.value.code == "events-conflict"
    with pytest.raises(UntwinError, match="another history"):
        log.append("label.say", {}, after=7)
    assert log.last == 3


def test_all_of_several_events_or_none(log):
    with pytest.raises(InputError, match="no event 'nonsense'"):
        log.append_all([NewEvent("label.say", {}), NewEvent("nonsense", {})])
    with pytest.raises(InputError, match="what JSON knows"):
        log.append_all([NewEvent("label.say", {}), NewEvent("label.say", {"x": float("nan")})])
    assert log.last == 0


def test_many_writers_at_once_lose_nothing(log):
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda n: log.append("label.say", {"n": n}), range(40)))
    assert sorted(numbers) == list(range(1, 41))
    assert sorted(event.payload["n"] for event in log.read()) == list(range(40))


def test_of_many_that_saw_the_same_one_is_taken(log):
    def one(n):
        try:
            return log.append("label.say", {"n": n}, after=0)
        except UntwinError:
            return 0

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(one, range(16))) == [0] * 15 + [1]


def test_other_files_are_left_alone(log, tmp_path):
    log.path.write_text("my notes " * 1000)
    with pytest.raises(UntwinError, match=r"model\.events: cannot be used"):
        log.append("label.say", {})
    assert log.path.read_text().startswith("my notes")
    other = EventLog(tmp_path / "other.db")
    with sqlite3.connect(other.path) as db:
        db.execute("CREATE TABLE t (x)")
    with pytest.raises(InputError, match="no log of events"):
        other.read()
    (tmp_path / "link").symlink_to(other.path)
    with pytest.raises(InputError, match="is a link"):
        EventLog(tmp_path / "link").append("label.say", {})
    with pytest.raises(InputError, match="no such folder"):
        EventLog(tmp_path / "a" / "b").append("label.say", {})


# What all events together say

FILE = {"1": "bill", "2": "bill", "3": "invoice", "4": "printer"}
BASE = Taxonomy.of(["bill", "invoice", "printer"])


def written(log, *changes):
    """Write changes of a taxonomy with the rows that move; return the taxonomy after them."""
    now = BASE
    log.append("log.start", start_payload(now))
    for change, *moved in changes:
        fixed = by_ids(now, change)
        log.append(event_kind(change), change_payload(fixed, moved), "Ada")
        now = apply(now, fixed)
    return now


def test_labels_follow_the_classes_and_keep_their_authors(log):
    written(log, (Merge(("bill", "invoice"), "money"), Moved("c1", "c4", ["1", "2"])), (Rename("money", "cash"),))
    log.append("label.settle", {"row": "4", "label": "money"}, "Bo")
    log.append("label.settle", {"row": "1", "label": "fax"}, "Cy")
    ledger = Ledger.of(FILE, Taxonomy()).take(log.read())
    assert ledger.labels == {"1": "fax", "2": "cash", "3": "cash", "4": "cash"}
    assert ledger.authors == {"1": "Cy", "4": "Bo"}
    assert ledger.taxonomy.find("fax").id == "c5"
    assert ledger.sequence == log.last == 5
    assert not ledger.unmatched


def test_rows_that_the_events_do_not_know_follow_their_class(log):
    written(log, (Merge(("bill", "invoice"), "invoice"),), (Retire("printer"), Moved("c3", None, ["4"])))
    ledger = Ledger.of({**FILE, "9": "bill", "8": "printer", "7": "scanner"}, Taxonomy()).take(log.read())
    assert ledger.labels == {"1": "invoice", "2": "invoice", "3": "invoice", "9": "invoice", "7": "scanner"}
    assert list(ledger.left) == ["4", "8"]


def test_rows_of_a_split_go_where_the_event_says_and_the_rest_where_it_was_asked(log):
    split = Split("bill", ("late", "wrong"), "wrong", shares=(0.5, 0.0))
    written(log, (split, Moved("c1", "c4", ["1"])))
    ledger = Ledger.of({**FILE, "9": "bill"}, Taxonomy()).take(log.read())
    assert ledger.labels == {"1": "late", "2": "wrong", "3": "invoice", "4": "printer", "9": "wrong"}


def test_an_undone_merge_gives_the_rows_back(log):
    merged = written(log, (Merge(("bill", "invoice"), "invoice"), Moved("c1", "c2", ["1", "2"])))
    undo = reverting(BASE, merged, merged, 2)
    log.append(event_kind(undo), change_payload(undo, [Moved("c2", "c1", ["1", "2"])]))
    assert Ledger.of(FILE, Taxonomy()).take(log.read()).labels == FILE
    assert undone_events(log.read()) == {2}


def test_rows_that_are_not_there_are_listed_and_others_found_by_what_they_are_called_here(log):
    log.append("label.settle", {"row": "T-1", "label": "invoice"}, "Ada")
    log.append("row.remove", {"rows": ["T-2", "T-3"]})
    ledger = Ledger.of(FILE, BASE).take(log.read(), {"T-1": "1", "T-2": "4"})
    assert ledger.labels == {"1": "invoice", "2": "bill", "3": "invoice"}
    assert list(ledger.unmatched) == ["T-3"]


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("label.settle", {"row": "1", "label": 3}),
        ("class.rename", {}),
        ("class.rename", {"change": {"kind": "rename", "name": "nothing", "to": "x"}}),
        (
            "class.merge",
            {"change": {"kind": "merge", "names": ["bill", "c2"], "into": "c2"}, "moved": [["c1", "c9", ["1"]]]},
        ),
        (
            "class.merge",
            {"change": {"kind": "merge", "names": ["bill", "c2"], "into": "c2"}, "moved": [["c1", "c2", "1"]]},
        ),
        ("row.remove", {"rows": [1]}),
        ("class.create", {"change": {"kind": "create", "name": "new"}, "moved": {"c1": []}}),
        ("class.create", {"change": {"kind": "create", "name": "new"}, "moved": [[1, "c1", []]]}),
        ("log.start", {"taxonomy": {"format": 1}}),
    ],
)
def test_an_event_that_cannot_be_is_named(log, kind, payload):
    log.append(kind, payload)
    with pytest.raises(InputError, match="Event 1"):
        Ledger.of(FILE, BASE).take(log.read())


# From one log to another


def exported(log, path):
    path.write_text("".join(line + "\n" for line in history_lines(history_of(log))), encoding="utf-8")
    return path


def test_a_history_is_the_same_after_it_was_written_and_read(log, tmp_path):
    written(log, (Rename("bill", "charge"),))
    log.append("row.remove", {"rows": ["1"]}, "Ada", rows=[RowNote("1", "abc", ["a", 1.5, None]), RowNote("2", "d")])
    found = read_history(exported(log, tmp_path / "events.jsonl"))
    assert found == history_of(log)
    copy = EventLog(tmp_path / "copy.events")
    copy.append_all(as_new(found.events), log_id=found.id)
    assert history_of(copy) == found


def test_two_histories_agree_or_the_first_conflict_is_named(log, tmp_path):
    written(log, (Rename("bill", "charge"),))
    events = log.read()
    assert join_histories(events, events[:1]) == join_histories(events[:1], events) == 1
    log.append("label.say", {}, "Bo")
    other = [*events, events[-1]._replace(sequence=3, author="Eve")]
    with pytest.raises(
        InputError, match=r"from event 3 on: here event 3 \(label.say by Bo.*there event 3 \(class.rename"
    ):
        join_histories(log.read(), other)


HEAD = '{"format": 1, "log": "x"}'
EVENT = {"sequence": 1, "kind": "label.say", "at": "", "author": "", "payload": {}}
WRONG = ({"sequence": 2}, {"kind": "eval"}, {"payload": []}, {"author": 3}, {"at": "noon"}, {"rows": [3]}, {"x": 1})


@pytest.mark.parametrize(
    "lines",
    [[], ["{"], ["3"], ['{"format": 2, "log": "x"}'], *([HEAD, json.dumps(EVENT | wrong)] for wrong in WRONG)],
)
def test_a_stranger_s_history_is_checked(tmp_path, lines):
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"events\.jsonl"):
        read_history(path)


def test_a_history_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    for name in ("latin", "absent"):
        with pytest.raises(InputError, match=name):
            read_history(tmp_path / name)
