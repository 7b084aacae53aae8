"""What the user can mend is no bug, and what fails after the fit loses no model."""

from __future__ import annotations

import errno
import json
import shutil

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import records, write_csv

from untwin import UntwinClassifier
from untwin.model.notes import MEASURED
from untwin.model.saving import save_model


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("rows") / "rows.csv", records(40, 10))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Models of texts, a table and vectors, saved from Python."""
    folder, rows = tmp_path_factory.mktemp("python"), records(60, 11)
    labels, frame = [row["label"] for row in rows], pl.DataFrame(rows)
    given = {
        "texts": frame["text"].to_list(),
        "table": frame.select("kind", "text"),  # not in the order of the roles
        "column": frame.select("text"),
        "vectors": np.random.default_rng(0).normal(size=(60, 3)),
    }
    for kind, X in given.items():
        UntwinClassifier(preset="fast").fit(X, labels).save(folder / kind)
    return folder


@pytest.mark.parametrize(
    ("kind", "columns"),
    [("texts", ["--text", "text"]), ("table", ["--text", "text", "--nominal", "kind"]), ("column", ["--text", "text"])],
)
def test_a_model_saved_from_python_answers(command, saved, table, kind, columns):
    answers = command("predict", saved / kind, table, *columns, "--json")
    assert answers.code == 0
    found = command("evaluate", saved / kind, table, *columns, "--label", "label", "--json").json()
    said = [json.loads(line)["untwin_label"] == json.loads(line)["label"] for line in answers.out.splitlines()]
    assert found["accuracy"] == np.mean(said)
    assert found["accuracy"] > 0.5


@pytest.mark.parametrize(
    ("kind", "columns", "code", "told"),
    [
        ("vectors", ["--text", "text"], "vectors", "reads vectors of 3 numbers"),
        ("vectors", [], "vectors", "reads vectors of 3 numbers"),
        ("texts", [], "no-columns", "does not say which columns"),
        ("texts", ["--nominal", "text"], "other-columns", "one --text column. Got --nominal 'text'"),
        ("texts", ["--text", "text", "--text", "kind"], "other-columns", "one --text column"),
        ("table", ["--text", "text", "--nominal", "split"], "other-columns", "reads the columns 'kind', 'text'"),
        ("table", ["--text", "text", "--numeric", "kind"], "other-columns", "'kind' as --nominal. Got --numeric"),
    ],
)
def test_columns_that_such_a_model_does_not_read_are_refused(command, saved, table, kind, columns, code, told):
    done = command("predict", saved / kind, table, *columns, "--json")
    assert done.code == 2
    assert done.json()["error"]["code"] == code
    assert told in done.json()["error"]["message"]


def test_noted_columns_that_are_not_those_of_the_model_are_damage(command, saved, table, tmp_path, fitted):
    about = UntwinClassifier.load(fitted.folder).about_
    UntwinClassifier.load(saved / "table").save(tmp_path / "model", about=about)
    done = command("predict", tmp_path / "model", table, "--json")
    assert done.code == 3
    assert done.json()["error"]["code"] == "model-damaged"


@pytest.mark.parametrize("name", ["check", "fit"])
def test_a_scale_names_each_class_once(command, table, tmp_path, name):
    output = ["-o", tmp_path / "m"] if name == "fit" else []
    done = command(name, table, *output, "--ordinal", "a,b,a,c", "--json")
    assert done.code == 2
    assert done.json()["error"]["code"] == "ordinal"
    assert "Got 'a' several times" in done.json()["error"]["message"]


def refuse(*given, **named):
    raise ValueError("X must hold something else.")


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("fit", "untwin.model.UntwinClassifier.fit"),
        ("evaluate", "untwin.model.UntwinClassifier.predict_all"),
        ("predict", "untwin.export.model.AnswerModel.predict_all"),
        ("add", "untwin.model.UntwinClassifier.add"),
    ],
)
def test_a_refusal_by_the_model_is_about_the_data(command, fitted, table, tmp_path, monkeypatch, name, broken):
    model = [] if name == "fit" else [shutil.copytree(fitted.folder, tmp_path / "model")]
    monkeypatch.setattr(broken, refuse)
    output = ["-o", tmp_path / "m"] if name == "fit" else []
    done = command(name, *model, table, *output, "--text", "text", "--json")
    assert done.code == 2
    error = json.loads(done.out)["error"]
    assert error["code"] == "unusable"
    assert error["message"] == f"{table}: cannot be used: X must hold something else."


@pytest.mark.parametrize(
    "broken", ["untwin.model.findings.found", "untwin.model.curves.space_curves", "untwin.report.Report.of"]
)
@pytest.mark.parametrize("name", ["fit", "add"])
def test_a_failure_after_the_fit_leaves_the_model(command, fitted, table, tmp_path, monkeypatch, name, broken):
    folder, preset = tmp_path / "model", "best" if "curves" in broken else "fast"  # which alone measures curves
    if name == "add":
        shutil.copytree(fitted.folder, folder)
        UntwinClassifier.load(folder).set_params(preset=preset).save(folder)
    monkeypatch.setattr(broken, refuse)
    arguments = [table, "-o", folder, "--preset", preset] if name == "fit" else [folder, table]
    done = command(name, *arguments, "--text", "text")
    assert done.code == 70
    assert f"the model is complete in {folder}" in done.err
    model = UntwinClassifier.load(folder)
    assert len(model.ids_) == (32 if name == "fit" else 128 + 32)
    assert model.about_["roles"]["text"] == ["text"]
    wanted = {"findings": "neighbours", "curves": "findings neighbours group_range"}.get(broken.split(".")[2])
    saving_measures = {"unknown_chance"}  # so that every model that is saved can tell it
    assert model.measured_ == (saving_measures | set(wanted.split()) if wanted else set(MEASURED))


@pytest.mark.parametrize("name", ["fit", "add"])
def test_the_model_is_saved_once_with_all_that_its_report_shows(command, fitted, table, tmp_path, monkeypatch, name):
    folder, saves = tmp_path / "model", []
    if name == "add":
        shutil.copytree(fitted.folder, folder)

    def counted(model, *given, **named):
        saves.append(model.measured_)
        return save_model(model, *given, **named)

    monkeypatch.setattr("untwin.model.saving.save_model", counted)
    arguments = [table, "-o", folder, "--preset", "fast"] if name == "fit" else [folder, table]
    assert command(name, *arguments, "--text", "text").code == 0
    assert saves == [frozenset(MEASURED)]
    if name == "add":  # the same rows again: nothing is learnt, so nothing is to be saved
        assert command(name, *arguments, "--text", "text").code == 0
        assert len(saves) == 1


def test_a_save_that_fails_is_not_tried_again(command, table, tmp_path, monkeypatch):
    saves = []

    def full(*given, **named):
        saves.append(given)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("untwin.model.saving.save_model", full)
    done = command("fit", table, "-o", tmp_path / "model", "--preset", "fast", "--text", "text")
    assert done.code != 0
    assert "the model is complete" not in done.err
    assert len(saves) == 1
