"""A column that the user names for a model must be in the table; what is not used, of options or rows, is said."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.cli.conftest import records, write_csv

from untwin import UntwinClassifier

WRONG = [("text", "txt"), ("label", "labl"), ("id", "idd"), ("split", "splt"), ("group", "custmer"), ("parent", "knd")]
MEANT = {"text": "text", "label": "label", "id": "id", "split": "split", "group": "customer", "parent": "kind"}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("rows") / "rows.csv", records(20, 9))


@pytest.mark.parametrize("name", ["evaluate", "predict", "add"])
@pytest.mark.parametrize(("role", "column"), WRONG)
def test_a_mistyped_column_is_refused(command, fitted, table, name, role, column):
    before = UntwinClassifier.load(fitted.folder).sha256_
    done = command(name, fitted.folder, table, f"--{role}", column, "--json")
    assert done.code == 2
    error = json.loads(done.out)["error"]
    assert error["code"] == "missing-column"
    assert f"{table}: there is no column {column!r} (--{role})" in error["message"]
    assert error["hint"] == f"Did you mean {MEANT[role]!r}?"
    assert UntwinClassifier.load(fitted.folder).sha256_ == before


def test_a_split_column_of_another_name_is_heeded(command, fitted, tmp_path):
    folder = shutil.copytree(fitted.folder, tmp_path / "model")
    rows = [{"text": "printer jam", "label": "printer", "part": part} for part in ("train", "test", "test")]
    table = write_csv(tmp_path / "t.csv", rows)
    assert command("evaluate", folder, table, "--split", "part", "--json").json()["rows"] == 2
    assert command("add", folder, table, "--split", "part", "--json").json()["n_rows"] == 1


def test_the_split_of_the_fit_may_be_absent(command, fitted, tmp_path):
    table = write_csv(tmp_path / "t.csv", [{"text": "printer jam", "label": "printer"}])
    assert command("evaluate", fitted.folder, table, "--json").json()["rows"] == 1


@pytest.mark.parametrize("name", ["evaluate", "predict"])
def test_options_without_use_are_said(command, fitted, table, name):
    done = command(name, fitted.folder, table, "--group", "customer", "--parent", "kind")
    assert done.code == 0
    assert f"untwin: {name} has no use for --group, --parent" in done.err
    assert "has no use for" not in command(name, fitted.folder, table).err


@pytest.mark.parametrize("name", ["evaluate", "predict", "add"])
@pytest.mark.parametrize(
    ("options", "code"), [(["--label-separator", ";"], "multi-label"), (["--ordinal", "a,b"], "other-scale")]
)
def test_labels_cannot_be_read_otherwise_than_the_fit_did(command, fitted, table, name, options, code):
    done = command(name, fitted.folder, table, *options, "--json")
    assert done.code == 2
    assert json.loads(done.out)["error"]["code"] == code


@pytest.mark.parametrize("name", ["evaluate", "add"])
def test_rows_left_out_are_warned_of(command, fitted, tmp_path, name):
    folder = shutil.copytree(fitted.folder, tmp_path / "model")
    (tmp_path / "t.csv").write_text("text,label\nprinter jam,printer\nprinter,toner,billing\nlate,\nlost code,\n")
    options = ["--skip-bad-rows", "1", "--missing-label", "drop"]
    done = command(name, folder, tmp_path / "t.csv", *options, "--json")
    assert done.code == 0
    assert {note["code"]: note["count"] for note in done.json()["notes"]} == {"bad-rows": 1, "missing-label": 2}
    assert "warning: 1 bad row skipped" in done.err
    assert "warning: 2 rows without a label dropped" in done.err
    strict = command(name, folder, tmp_path / "t.csv", *options, "--json", "--strict")
    assert strict.code == 1
    assert not strict.json()["ok"]
