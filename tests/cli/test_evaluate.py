from __future__ import annotations

import json

import numpy as np
import pytest
from tests.cli.conftest import records, write_csv

from untwin import Confusion, UntwinClassifier


def test_the_installed_command_counts_only_rows_marked_as_test(untwin, fitted, tickets):
    done = untwin("evaluate", fitted.folder, tickets, "--json")
    assert done.returncode == 0
    record = json.loads(done.stdout)
    assert {name: record[name] for name in fitted.record["test"]} == fitted.record["test"]


def test_figures_are_those_of_a_plain_computation(command, fitted, tmp_path):
    rows = records(50, 6)
    table = write_csv(tmp_path / "t.csv", [{"text": row["text"], "label": row["label"]} for row in rows])
    found = command("evaluate", fitted.folder, table, "--json").json()
    model = UntwinClassifier.load(fitted.folder)
    labels, predicted = np.array([row["label"] for row in rows]), model.predict([row["text"] for row in rows])
    confusion = Confusion.from_predictions(labels, predicted)
    assert found["accuracy"] == (labels == predicted).mean()
    assert found["macro_f1"] == confusion.macro_f1
    assert sum(line["rows"] for line in found["per_class"]) == 50
    assert sum(pair["errors"] for pair in found["confused"]) == (labels != predicted).sum()
    sure = ~model.unsure([row["text"] for row in rows])
    accuracy = (labels == predicted)[sure].mean()
    assert found["sure"] == {"share": sure.mean(), "accuracy": accuracy, "target_error": 0.1}


def test_rows_that_were_learnt_are_counted(command, fitted, tmp_path):
    rows = [{"text": row["text"], "label": row["label"]} for row in records(160, 1) if row["split"] == "train"][:7]
    table = write_csv(tmp_path / "t.csv", [*rows, {"text": "quite new", "label": "printer"}])
    done = command("evaluate", fitted.folder, table, "--strict")
    assert done.code == 1
    assert "7 rows are among those that the model has learnt" in done.err


@pytest.mark.parametrize(("least", "code"), [("0.1", 0), ("1", 1)])
def test_the_gate(command, fitted, tickets, least, code):
    done = command("evaluate", fitted.folder, tickets, "--fail-under", least)
    assert done.code == code
    assert ("is below" in done.err) == bool(code)
    assert "Class by class" in done.out


def test_classes_and_words_the_model_does_not_know(command, fitted, tmp_path):
    rows = [{"body": "zzz qqq", "topic": "garden"}, {"body": "printer paper jam", "topic": "printer"}]
    table = write_csv(tmp_path / "t.csv", rows)
    found = command("evaluate", fitted.folder, table, "--text", "body", "--label", "topic", "--json").json()
    assert found["unknown_classes"] == ["garden"]
    assert (found["accuracy"], found["without_evidence"]) == (0.5, 1)
    assert "garden" in command("evaluate", fitted.folder, table, "--text", "body", "--label", "topic").out


@pytest.mark.parametrize(
    ("content", "options", "code"),
    [
        ("text,label\n", [], "no-rows"),
        ("text,class\nxx,a\n", [], "missing-column"),
        ("text,label\nxx,\n", [], "empty-label"),
        ("text,label,split\nxx,a,train\n", [], "no-test-rows"),
        ("text,label\nxx,a\n", ["--text", "text", "--numeric", "text"], "other-columns"),
    ],
)
def test_what_cannot_be_evaluated(command, fitted, tmp_path, content, options, code):
    (tmp_path / "t.csv").write_text(content)
    done = command("evaluate", fitted.folder, tmp_path / "t.csv", "--json", *options)
    assert done.code == 2
    assert done.json()["error"]["code"] == code


@pytest.mark.parametrize("name", ["evaluate", "predict", "add", "explain"])
def test_no_model_ends_with_3(command, tmp_path, tickets, name):
    data = ["--text", "x"] if name == "explain" else [tickets]
    done = command(name, tmp_path / "nothing", *data, "--json")
    assert done.code == 3
    assert done.json()["error"]["code"] == "model-missing"
