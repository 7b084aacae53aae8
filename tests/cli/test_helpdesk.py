"""A made-up help-desk export goes through every command, with every preset, as text alone and as a table."""

from __future__ import annotations

import csv
import json
from types import SimpleNamespace

import polars as pl
import pytest
from tests import helpdesk

from untwin import UntwinClassifier
from untwin.cli.run import run

PRESETS = ("fast", "balanced", "best")
KINDS = {
    "text": ["--text", "summary", "--id", "ticket"],
    "table": ["--text", "summary", "--numeric", "minutes", "--nominal", "priority", "--parent", "queue"],
}


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """The export, a second one of the same desk without labels, and one with classes that are new."""
    folder = tmp_path_factory.mktemp("desk")
    made = helpdesk.rows()
    later = helpdesk.rows(1)[:40]
    new = [row | {"category": f"new {number}"} for number, row in enumerate(helpdesk.rows(2)[:3])]
    unlabelled = [row | {"category": ""} for row in later]
    tables = {"tickets": made, "later": later, "unlabelled": unlabelled, "new": [*later[:10], *new]}
    paths = {name: helpdesk.write(folder / f"{name}.csv", rows) for name, rows in tables.items()}
    return SimpleNamespace(folder=folder, rows=made, **paths)


@pytest.fixture(scope="module", params=[(kind, preset) for kind in KINDS for preset in PRESETS], ids="-".join)
def model(request, export):
    """The folder of a model of one kind and preset."""
    kind, preset = request.param
    folder = export.folder / f"{kind}-{preset}"
    options = ["--label", "category", "--preset", preset, "--target-error", "0.1", *KINDS[kind]]
    assert run(["fit", str(export.tickets), "-o", str(folder), *options]) == 0
    return SimpleNamespace(folder=folder, kind=kind, ids={row["ticket"] for row in export.rows})


def test_the_label_is_asked_for_where_two_columns_could_be_it(export, command):
    for arguments in (["check"], ["fit", "-o", export.folder / "none"]):
        done = command(*arguments, export.tickets)
        assert done.code == 2
        assert "--label" in done.err
        assert all(name in done.err for name in ("category", "intent"))


def test_check_counts_what_is_missing_and_repeated(export, command):
    done = command("check", export.tickets, "--label", "category", "--json")
    codes = {finding["code"]: finding for finding in done.json()["findings"]}
    assert done.json()["classes"] == helpdesk.N_CLASSES
    assert codes["duplicate-text"]["count"] == 12
    assert codes["empty-text"]["count"] == sum(not row["summary"] for row in export.rows)
    shown = command("check", export.tickets, "--label", "category").out
    empty = sum(not row["minutes"] for row in export.rows)
    assert str(empty) in shown


def test_every_command_works_on_the_model(model, export, command, tmp_path):
    answers = tmp_path / "answers.csv"
    assert command("predict", model.folder, export.unlabelled, "-o", answers, "--top", 3).code == 0
    frame = pl.read_csv(answers, infer_schema=False)
    assert frame.height == 40
    assert set(frame["untwin_label"]) <= {row["category"] for row in export.rows}
    scores = command("evaluate", model.folder, export.later, "--json").json()
    assert scores["rows"] == 40
    assert command("info", model.folder, "--json").json()["ok"]
    assert command("report", model.folder).code == 0
    assert model.folder.with_name(f"{model.folder.name}.html").read_text().rstrip().endswith("</html>")


def test_rows_are_named_by_the_owners_ids(model, export, command):
    if model.kind == "table":
        first = next(number for number, row in enumerate(export.rows, start=1) if row["summary"])
        name = str(first)
    else:
        first = next(number for number, row in enumerate(export.rows, start=1) if row["summary"])
        name = export.rows[first - 1]["ticket"]
    shown = command("explain", model.folder, export.tickets, "--id", name, "--json").json()
    neighbours = [line["row"] for line in shown["neighbours"]]
    names = model.ids if model.kind == "text" else {str(n) for n in range(1, len(export.rows) + 1)}
    assert neighbours
    assert {str(row) for row in neighbours} <= names


def test_new_classes_of_one_row_are_learnt(model, export, command):
    done = command("add", model.folder, export.new, "--json")
    assert done.code == 0, done.err
    assert set(done.json()["new_classes"]) >= {"new 0", "new 1", "new 2"}
    loaded = UntwinClassifier.load(model.folder)
    assert {"new 0", "new 1", "new 2"} <= set(loaded.classes_.tolist())
    assert command("predict", model.folder, export.later, "--json").code == 0
    assert command("report", model.folder).code == 0


def test_answers_can_be_corrected_and_learnt(export, command, tmp_path):
    """What `predict` writes is read back by `add` with the same labels."""
    folder, answers = tmp_path / "signs", tmp_path / "answers.csv"
    made = [row | {"category": f"+{row['category'].split()[0]}"} for row in export.rows[:120]]
    table = helpdesk.write(tmp_path / "signs.csv", made)
    options = ["--label", "category", "--text", "summary", "--preset", "fast"]
    assert command("fit", table, "-o", folder, *options).code == 0
    assert command("predict", folder, export.unlabelled, "-o", answers).code == 0
    with answers.open(newline="", encoding="utf-8-sig") as file:
        assert all(row["untwin_label"].startswith("'+") for row in csv.DictReader(file))
    done = command("add", folder, answers, "--label", "untwin_label", "--json")
    assert json.loads(done.out)["new_classes"] == []
