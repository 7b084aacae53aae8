"""`untwin compare`: models and tables of answers, by ids or by place, and gates."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import records, write_csv

from untwin import UntwinClassifier

ROWS = [{"id": row["id"], "text": row["text"], "label": row["label"]} for row in records(40, 9)]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("compare") / "data.csv", ROWS)


@pytest.fixture(scope="module")
def answers(tmp_path_factory, fitted, data):
    """What the model says, and what a worse classifier says, with ids in another order."""
    folder = tmp_path_factory.mktemp("answers")
    said = UntwinClassifier.load(fitted.folder).predict([row["text"] for row in ROWS]).tolist()
    good = [{"id": row["id"], "untwin_label": label} for row, label in zip(ROWS, said, strict=True)]
    bad = [{"id": row["id"], "guess": "printer"} for row in ROWS]
    return write_csv(folder / "good.csv", good[::-1]), write_csv(folder / "bad.csv", bad)


def test_a_model_is_compared_with_its_own_answers(command, fitted, answers, data):
    done = command("compare", fitted.folder, answers[0], data, "--json")
    assert done.code == 0, done.err
    found = done.json()
    assert (found["flipped"], found["rows"], found["learnt_rows"]) == ([], 40, {})
    assert found["accuracy"]["before"] == found["accuracy"]["after"]
    assert found["promises"][0]["before"] is not None  # the fit had a target error
    assert found["promises"][0]["after"] is None


def test_an_exported_and_a_packed_model_answer_alike(command, fitted, data, tmp_path):
    assert command("export", fitted.folder, "--answer-only", "-o", tmp_path / "small").code == 0
    assert command("pack", fitted.folder, "-o", tmp_path / "m.untwin").code == 0
    found = command("compare", tmp_path / "small", tmp_path / "m.untwin", data, "--json").json()
    assert (found["flipped"], found["rows"]) == ([], 40)


def test_the_installed_command_fails_a_job(untwin, answers, data):
    gates = ["--new", "guess", "--fail-on-drop", "0.5", "--fail-on-new-twins"]
    done = untwin("compare", *answers, data, *gates, "--markdown")
    assert done.returncode == 1
    assert b"accuracy dropped by" in done.stderr
    assert b"of twins" in done.stderr
    assert done.stdout.decode().startswith("**Accuracy")
    assert "### New twins" in done.stdout.decode()


def test_passing_the_gates(command, answers, data):
    done = command("compare", answers[1], answers[0], data, "--old", "guess", "--fail-on-drop", "0", "--json")
    assert (done.code, done.json()["ok"], done.json()["failed"]) == (0, True, [])


def test_a_drop_of_exactly_the_points_allowed_passes(command, tmp_path):
    rows = [{"label": "ab"[n % 2], "old": "ab"[n % 2], "new": "ab"[n % 2] if n else "b"} for n in range(1000)]
    table = write_csv(tmp_path / "t.csv", rows)
    columns = ["--old", "old", "--new", "new", "--label", "label"]
    assert command("compare", table, table, table, *columns, "--fail-on-drop", "0.1").code == 0
    assert command("compare", table, table, table, *columns, "--fail-on-drop", "0.09").code == 1


def test_what_is_printed(command, answers, data):
    done = command("compare", *answers, data, "--new", "guess", "--top", "2")
    assert "Classes that fell (2 more with --json):" in done.out
    assert "beyond chance" in done.out


def test_rows_without_ids_are_matched_by_their_place(command, answers, data, tmp_path):
    without = write_csv(tmp_path / "w.csv", [{"said": row["label"]} for row in ROWS])
    found = command("compare", without, without, data, "--old", "said", "--new", "said", "--json").json()
    assert found["accuracy"]["after"] == 1.0
    short = write_csv(tmp_path / "s.csv", [{"said": row["label"]} for row in ROWS[1:]])
    done = command("compare", without, short, data, "--old", "said", "--new", "said")
    assert done.code == 2
    assert "39 rows" in done.err


def test_only_test_rows_of_a_model_with_a_split_count(command, fitted, answers, tickets, tmp_path):
    found = command("compare", fitted.folder, fitted.folder, tickets, "--json").json()
    assert found["rows"] == 32


def test_rows_that_were_learnt_are_told(command, fitted, tmp_path):
    rows = [{"text": row["text"], "label": row["label"]} for row in records(160, 1) if row["split"] == "train"][:7]
    table = write_csv(tmp_path / "t.csv", [*rows, {"text": "quite new", "label": "printer"}])
    done = command("compare", fitted.folder, fitted.folder, table, "--strict")
    assert done.code == 1
    assert "7 rows are among those that" in done.err


def test_answers_that_are_missing_are_wrong(command, tmp_path):
    table = write_csv(
        tmp_path / "t.csv", [{"label": "a", "old": "a", "new": ""}, {"label": "b", "old": "b", "new": "b"}]
    )
    found = command("compare", table, table, table, "--old", "old", "--new", "new", "--json").json()
    assert found["accuracy"]["after"] == 0.5
    assert found["flipped"] == [{"row": "1", "label": "a", "before": "a", "after": ""}]


def test_promises_of_tables(command, tmp_path):
    rows = [
        {"label": "a", "untwin_label": "a", "untwin_unsure": "false", "untwin_shortlist": json.dumps(["a"])},
        {"label": "b", "untwin_label": "a", "untwin_unsure": "true", "untwin_shortlist": json.dumps(["a", "b"])},
    ]
    table = write_csv(tmp_path / "t.csv", rows)
    lines = tmp_path / "t.jsonl"
    lists = [row | {"untwin_shortlist": json.loads(row["untwin_shortlist"])} for row in rows]
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in lists))
    found = command("compare", table, lines, table, "--label", "label", "--json").json()
    assert [one["before"] for one in found["promises"]] == [0.5, 1.0, 1.0, 1.5]
    assert [one["after"] for one in found["promises"]] == [0.5, 1.0, 1.0, 1.5]


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([{"label": "a", "x": "a"}], [], "there is no column 'untwin_label'"),
        ([{"id": "1", "label": "a", "untwin_label": "a"}] * 2, ["--id", "id"], "stands in several rows"),
        ([{"label": "a", "untwin_label": "a", "untwin_unsure": "maybe"}], [], "must be true or false"),
        ([{"label": "a", "untwin_label": "a", "untwin_shortlist": "{"}], [], "must be a JSON list"),
        ([{"label": "a", "untwin_label": "a"}], ["--markdown", "--json"], "Choose one of"),
    ],
)
def test_what_cannot_be_compared_is_refused(command, tmp_path, rows, options, said):
    table = write_csv(tmp_path / "t.csv", rows)
    done = command("compare", table, table, table, "--label", "label", *options)
    assert done.code == 2
    assert said in done.err + done.out


def test_an_id_without_an_answer_is_named(command, answers, data, tmp_path):
    table = write_csv(tmp_path / "t.csv", [{"id": row["id"], "untwin_label": "printer"} for row in ROWS[:-1]])
    done = command("compare", answers[0], table, data)
    assert done.code == 2
    assert f"id '{ROWS[-1]['id']}'" in done.err
