"""`untwin classes`, `relabel`, `remove`: changes with history, and every command after every kind of change."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest
from tests.cli.conftest import records, write_csv

from untwin import AnswerModel, UntwinClassifier
from untwin.taxonomy.events import EventLog

CLASSES = ["billing", "delivery", "password", "printer"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of 200 rows of four classes, with ids."""
    rows = [{name: row[name] for name in ("id", "text", "label")} for row in records(200, 5)]
    return write_csv(tmp_path_factory.mktemp("data") / "t.csv", rows)


@pytest.fixture(scope="module")
def made(table, tmp_path_factory):
    from untwin.cli.run import run

    folder = tmp_path_factory.mktemp("made") / "m"
    assert run(["fit", str(table), "-o", str(folder), "--preset", "fast", "--id", "id"]) == 0
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "m")


def labels_of(folder):
    model = UntwinClassifier.load(folder)
    return dict(zip(model.ids_.tolist(), model.state_.y.tolist(), strict=True))


def rows_of(table):
    with table.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


CHANGES = {
    "rename": (["rename", "printer", "Drucker"], ["billing", "delivery", "password", "Drucker"]),
    "merge into one of them": (
        ["merge", "billing", "delivery", "--into", "billing"],
        ["billing", "password", "printer"],
    ),
    "merge into a new one": (
        ["merge", "password", "printer", "--into", "computer"],
        ["billing", "delivery", "computer"],
    ),
    "merge, later": (["merge", "password", "printer", "--into", "zoo", "--later"], ["billing", "delivery", "zoo"]),
    "retire": (["retire", "delivery"], ["billing", "password", "printer"]),
    "retire, later": (["retire", "delivery", "--later"], ["billing", "password", "printer"]),
    "retire with an heir": (["retire", "delivery", "--heir", "printer"], ["billing", "password", "printer"]),
    "define": (["define", "billing", "what we ask to be paid"], CLASSES),
    "move": (["move", "billing", "delivery"], CLASSES),
    "link": (["link", "billing", "delivery"], CLASSES),
    "create": (["create", "fax"], CLASSES),
    "split": (["split", "billing", "late", "wrong", "--rows", "rows.csv"], [*CLASSES, "late", "wrong"]),
    "split by a rule": (["split", "billing", "late", "--where", "invoice"], [*CLASSES, "late"]),
    "split whole": (
        ["split", "billing", "late", "wrong", "--rows", "rows.csv", "--rest", "late"],
        [*CLASSES[1:], "late", "wrong"],
    ),
    "remove": (None, CLASSES),
    "empty a class": (None, CLASSES[1:]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_command_works_after_every_kind_of_change(command, folder, table, tmp_path, monkeypatch, change):
    monkeypatch.chdir(tmp_path)
    words, expected = CHANGES[change]
    rows = rows_of(table)
    own = [row["id"] for row in rows if row["label"] == "billing"]
    parts = [{"id": one, "label": "late" if place % 2 else "wrong"} for place, one in enumerate(own[:30])]
    write_csv(tmp_path / "rows.csv", parts)
    write_csv(tmp_path / "ids.csv", [{"id": one} for one in own[:5]])
    write_csv(tmp_path / "empty.csv", [{"id": one, "label": "printer", "note": "no such class"} for one in own])
    calls = {"remove": ["remove", folder, "ids.csv"], "empty a class": ["relabel", folder, "empty.csv"]}
    call = calls.get(change) or ["classes", folder, *words, "--author", "Ada", "--because", "that is better"]
    done = command(*call, "--json")
    assert done.code == 0, done.out + done.err
    before = labels_of(folder)

    asked = write_csv(tmp_path / "asked.csv", [{"id": row["id"], "text": row["text"]} for row in records(30, 6)])
    answered = command("predict", folder, asked, "-o", "answers.csv", "--top", "2")
    assert answered.code == 0, answered.err
    with (tmp_path / "answers.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert {line["untwin_label"] for line in lines} | {line["untwin_label_2"] for line in lines} <= set(expected)
    model = UntwinClassifier.load(folder)
    assert sorted(model.classes_.tolist()) == sorted(expected)
    assert [line["untwin_label"] for line in lines] == AnswerModel.load(folder).predict(
        [r["text"] for r in records(30, 6)]
    ).tolist()
    assert np.allclose(model.predict_proba([row["text"] for row in rows]).sum(axis=1), 1)

    labelled = [row | {"label": before[row["id"]]} for row in rows if row["id"] in before]
    some = next(iter(before))
    for words in (
        ["evaluate", folder, write_csv(tmp_path / "now.csv", labelled)],
        ["explain", folder, "--id", some],
        ["explain", folder, "--text", "the invoice is late"],
        ["report", folder],
        ["info", folder],
        ["classes", folder, "list"],
        ["classes", folder, "tree"],
        ["classes", folder, "log"],
        ["classes", folder],
        ["classes", folder, "preview", "merge", expected[-1], expected[-2], "--into", expected[-1]],
        ["classes", folder, "export", "-o", "exported"],
        ["export", folder, "--answer-only", "-o", "small"],
        ["predict", "small", asked],
        ["pack", folder, "-o", "m.untwin"],
        ["predict", "m.untwin", asked],
        ["classes", folder, "replay"],
    ):
        done = command(*words)
        assert done.code == 0, (words, done.err)
    assert [finding.code for finding in model.findings_] == [
        one.code for one in UntwinClassifier.load(folder).findings_
    ]
    assert labels_of(folder) == before

    more = write_csv(tmp_path / "more.csv", [{"id": "N1", "text": "invoice invoice", "label": expected[0]}])
    other = next(name for name in expected if name != before[some])
    corrected = write_csv(tmp_path / "one.csv", [{"id": some, "label": other, "author": "Bo", "note": "seen"}])
    for words in (
        ["add", folder, more],
        ["relabel", folder, corrected],
        ["classes", folder, "undo"],
        ["report", folder],
    ):
        done = command(*words)
        assert done.code == 0, (words, done.err)
    assert labels_of(folder) == before | {"N1": expected[0]}


@pytest.mark.parametrize("change", [change for change in CHANGES if CHANGES[change][0]])
def test_every_change_can_be_undone(command, folder, table, tmp_path, monkeypatch, change):
    monkeypatch.chdir(tmp_path)
    own = [row["id"] for row in rows_of(table) if row["label"] == "billing"]
    write_csv(
        tmp_path / "rows.csv", [{"id": one, "label": ("late", "wrong")[place % 2]} for place, one in enumerate(own)]
    )
    before = labels_of(folder)
    for words in (CHANGES[change][0], ["undo", "--author", "Ada"]):
        done = command("classes", folder, *words)
        assert done.code == 0, done.err
    assert labels_of(folder) == before
    assert UntwinClassifier.load(folder).classes_.tolist() == CLASSES
    taxonomy = UntwinClassifier.load(folder).taxonomy_
    assert sorted(set(taxonomy.names)) == sorted(CLASSES)
    assert all(taxonomy.by_name[name].id == f"c{number}" for number, name in enumerate(CLASSES, 1))
    assert command("classes", folder, "undo").code == 2  # nothing is left


def test_the_log_is_beside_the_model_and_its_texts_are_no_part_of_it(command, folder, table):
    files = {path.name for path in folder.iterdir()}
    content = table.read_bytes()
    assert command("classes", folder, "merge", "billing", "delivery", "--into", "billing", "--author", "Ada").code == 0
    assert table.read_bytes() == content
    assert folder.with_name("m.events").exists()
    assert not {path.name for path in folder.iterdir()} - files - {path.name for path in folder.glob("*.npy")}
    events = EventLog(folder.with_name("m.events")).read()
    assert [event.kind for event in events] == ["log.start", "class.merge", "model.update"]
    assert UntwinClassifier.load(folder).class_history_.sequence == 3
    assert b"Ada" not in b"".join(path.read_bytes() for path in folder.iterdir())


def decide(command, folder, table, tmp_path):
    """Make decisions of all kinds; return the directory of their export."""
    rows = rows_of(table)
    some = [row["id"] for row in rows if row["label"] == "printer"][:4]
    one = [{"id": some[0], "label": "delivery", "author": "Bo", "note": "seen"}, {"id": some[1], "label": "fax"}]
    calls = (
        ["relabel", folder, write_csv(tmp_path / "c.csv", [{"author": "", "note": "", **line} for line in one])],
        ["classes", folder, "merge", "billing", "password", "--into", "money", "--author", "Ada"],
        ["classes", folder, "rename", "delivery", "parcel"],
        ["remove", folder, write_csv(tmp_path / "r.csv", [{"id": some[2]}])],
        ["classes", folder, "rename", "parcel", "wrong"],
        ["classes", folder, "undo"],
        ["classes", folder, "export", "-o", tmp_path / "exported"],
    )
    for words in calls:
        done = command(*words)
        assert done.code == 0, (words, done.err)
    return tmp_path / "exported", some


def test_labels_crosswalk_and_events_are_handed_on(command, folder, table, tmp_path):
    exported, some = decide(command, folder, table, tmp_path)
    with (exported / "labels.csv").open() as file:
        labels = {row["id"]: row for row in csv.DictReader(file)}
    assert {row: line["label"] for row, line in labels.items()} == labels_of(folder)
    assert (labels[some[0]]["label"], labels[some[0]]["author"]) == ("parcel", "Bo")
    assert some[2] not in labels
    assert labels[some[3]]["author"] == ""
    assert labels[some[3]]["text"] == next(row["text"] for row in rows_of(table) if row["id"] == some[3])
    with (exported / "crosswalk.csv").open() as file:
        walk = {(row["old_name"], row["new_name"], row["share"]) for row in csv.DictReader(file)}
    assert walk == {
        ("billing", "money", "1.0"),
        ("password", "money", "1.0"),
        ("delivery", "parcel", "1.0"),
        ("wrong", "parcel", "1.0"),
    }
    kinds = [json.loads(line).get("kind") for line in (exported / "events.jsonl").read_text().splitlines()]
    assert {"class.merge", "class.rename", "class.undo", "label.settle", "row.remove", "model.update"} <= set(kinds)


def test_replayed_on_the_original_table_the_labels_are_the_same(command, made, folder, table, tmp_path):
    exported, _ = decide(command, folder, table, tmp_path)
    digest = command("classes", folder, "export", "-o", exported, "--json").json()["digest"]
    fresh = shutil.copytree(made, tmp_path / "fresh")
    done = command("classes", fresh, "replay", exported / "events.jsonl", "--json").json()
    assert (done["digest"], done["unmatched"]) == (digest, [])
    assert labels_of(fresh) == labels_of(folder)
    assert UntwinClassifier.load(fresh).taxonomy_ == UntwinClassifier.load(folder).taxonomy_
    again = command("classes", fresh, "replay", exported / "events.jsonl", "--json").json()
    assert (again["n_events"], again["digest"]) == (0, digest)
    assert command("classes", fresh, "rename", "parcel", "post").code == 0  # and goes on from there


def test_in_a_newer_table_rows_are_found_by_id_or_by_content_and_the_rest_is_listed(command, folder, table, tmp_path):
    exported, some = decide(command, folder, table, tmp_path)
    rows = [row for row in rows_of(table) if row["id"] != some[1]]
    for row in rows:
        row["id"] = f"new-{row['id']}" if row["id"] == some[0] else row["id"]
    rows += [{"id": "extra", "text": "login code again", "label": "password"}]
    newer = write_csv(tmp_path / "newer.csv", rows)
    other = tmp_path / "other"
    assert command("fit", newer, "-o", other, "--preset", "fast", "--id", "id").code == 0
    done = command("classes", other, "replay", exported / "events.jsonl", "--json").json()
    assert done["by_digest"] == {some[0]: f"new-{some[0]}"}
    assert done["unmatched"] == [some[1]]
    labels = labels_of(other)
    assert (labels[f"new-{some[0]}"], labels["extra"]) == ("parcel", "money")
    assert some[2] not in labels


def test_two_histories_that_disagree_are_refused_with_the_first_conflict(command, made, folder, table, tmp_path):
    exported, _ = decide(command, folder, table, tmp_path)
    other = shutil.copytree(made, tmp_path / "other")
    assert command("classes", other, "rename", "printer", "Drucker", "--author", "Eve").code == 0
    done = command("classes", other, "replay", exported / "events.jsonl")
    assert done.code == 2
    assert "disagree from event 1 on" in done.err or "disagree from event 2 on" in done.err


def test_a_model_that_is_behind_its_log_is_not_changed_before_it_has_caught_up(command, folder):
    assert command("classes", folder, "rename", "printer", "Drucker").code == 0
    log = EventLog(folder.with_name("m.events"))
    row = next(iter(labels_of(folder)))
    log.append("label.settle", {"row": row, "label": "Drucker"}, "Bo", after=log.last)
    done = command("classes", folder, "rename", "Drucker", "printer", "--json")
    assert (done.code, done.json()["error"]["code"]) == (2, "events-conflict")
    assert "replay" in done.json()["error"]["hint"]
    assert command("classes", folder, "replay").code == 0
    assert labels_of(folder)[row] == "Drucker"
    assert command("classes", folder, "rename", "Drucker", "printer").code == 0


def test_erased_texts_are_nowhere(command, folder, table, tmp_path):
    rows = rows_of(table)
    secret = [{"id": "S1", "text": "zyxwsecretword zyxwother invoice", "label": "billing"}]
    assert command("add", folder, write_csv(tmp_path / "s.csv", secret)).code == 0
    assert command("classes", folder, "define", "billing", "money").code == 0
    assert command("remove", folder, write_csv(tmp_path / "r.csv", [{"id": "S1"}])).code == 0
    assert command("classes", folder, "undo").code == 0
    done = command("remove", folder, tmp_path / "r.csv", "--erase", "--json")
    assert done.code == 0, done.err
    assert done.json()["erased"]
    model = UntwinClassifier.load(folder)
    assert "S1" not in model.ids_.tolist()
    terms = model.state_.view.encoder.encoders_
    assert not any("zyxw" in term for encoder in terms for term in encoder.terms_.to_list())
    kept = [folder.with_name("m.events"), folder.with_name("m.html"), *folder.iterdir(), *tmp_path.glob("m.events-*")]
    assert not any(b"secretwo" in path.read_bytes() for path in kept)  # falling numbers may read "zyxw"
    assert not any("zyxw" in document for document in model.state_.documents)
    assert command("classes", folder, "rename", "printer", "Drucker").code == 0
    assert len(model.ids_) == len(rows)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["rename", "printr", "x"], "unknown-class", "Did you mean 'printer'"),
        (["rename", "printer", "billing"], "class-change", "already"),
        (["merge", "printer", "--into", "printer"], "class-change", "two classes"),
        (["merge", *CLASSES, "--into", "all"], "class-change", "two classes must be left"),
        (["split", "printer", "a", "b", "--rows", "absent.csv"], "not-found", "absent.csv"),
        (["split", "printer", "a", "b", "c"], "class-change", "two parts"),
        (["undo"], "class-change", "nothing to undo"),
        (["undo", "9"], "class-change", "Event 9"),
        (["replay"], "no-events", "no log"),
        (["replay", "absent.jsonl"], "events", "absent.jsonl"),
        (["retire", "printer", "--heir", "nobody"], "unknown-class", "nobody"),
    ],
)
def test_what_cannot_be_done_is_one_clear_error_and_changes_nothing(command, folder, words, code, said):
    sha256 = UntwinClassifier.load(folder).sha256_
    done = command("classes", folder, *words, "--json")
    assert done.code == 2
    error = done.json()["error"]
    assert error["code"] == code
    assert said in f"{error['message']} {error['hint']}"
    assert UntwinClassifier.load(folder).sha256_ == sha256
    assert not folder.with_name("m.events").exists()


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([{"id": "nobody", "label": "billing"}], "unknown-id"),
        ([{"id": "T5-1", "label": "billing"}, {"id": "T5-1", "label": "printer"}], "two-labels"),
        ([{"row": "T5-1", "label": "billing"}], "missing-column"),
    ],
)
def test_a_wrong_list_of_corrections_names_the_line(command, folder, tmp_path, lines, code):
    done = command("relabel", folder, write_csv(tmp_path / "c.csv", lines), "--json")
    assert (done.code, done.json()["error"]["code"]) == (2, code)
    assert "c.csv" in done.json()["error"]["message"]


def test_a_list_that_changes_nothing_is_no_decision(command, folder, tmp_path):
    row, label = next(iter(labels_of(folder).items()))
    table = write_csv(tmp_path / "c.csv", [{"id": row, "label": label}])
    assert "0 labels changed" in command("relabel", folder, table).out
    assert not folder.with_name("m.events").exists()


def test_a_taxonomy_to_begin_with(command, table, tmp_path):
    start = [{"id": f"c{n}", "name": name} for n, name in enumerate([*CLASSES, "fax"], 1)]
    start[4] |= {"definition": "nobody sends these", "parent": "c4"}
    start[1] |= {"name": "parcel", "former": [["delivery", "2025-01-01"]]}
    (tmp_path / "t.json").write_text(json.dumps({"format": 1, "classes": start, "links": [["c1", "c2"]], "next": 9}))
    done = command("fit", table, "-o", tmp_path / "n", "--preset", "fast", "--classes", tmp_path / "t.json")
    assert done.code == 0, done.err
    model = UntwinClassifier.load(tmp_path / "n")
    assert model.classes_.tolist() == ["billing", "parcel", "password", "printer"]
    assert model.taxonomy_.find("fax").definition == "nobody sends these"
    assert model.taxonomy_.next_number == 9
    assert "fax (0): nobody sends these" in command("classes", tmp_path / "n", "tree").out
    (tmp_path / "t.json").write_text("[3]")
    done = command("fit", table, "-o", tmp_path / "o", "--classes", tmp_path / "t.json")
    assert done.code == 2
    assert "t.json" in done.err
