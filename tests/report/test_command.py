"""`untwin report`: the page and the numbers of a saved model."""

from __future__ import annotations

import errno
import json
import os

import polars as pl
import pytest
from tests.report.made import cheap_model, twin_texts

from untwin._errors import InputError
from untwin.cli.report import report as command
from untwin.cli.run import run
from untwin.model import UntwinClassifier
from untwin.report import Report, write_report


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    """The small model, saved with what its report has it measure."""
    folder = tmp_path_factory.mktemp("models") / "small"
    Report.of(model)
    model.save(folder)
    return folder


def test_it_writes_the_page_beside_the_model(saved, capsys):
    assert command.main([str(saved)], standalone_mode=False) == 0
    page = saved.with_name("small.html")
    assert capsys.readouterr().out.strip() == str(page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_json_has_the_numbers_of_the_model_in_memory(saved, model, capsys):
    assert command.main([str(saved), "--json"], standalone_mode=False) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["ok"]
    assert printed["report"] is None
    wanted = Report.of(model).to_dict()
    for view in ("summary", "pairs", "matrix", "tree", "classes", "documents", "findings", "space", "cost"):
        assert printed[view] == wanted[view]


def test_both_at_once(saved, tmp_path, capsys):
    page = tmp_path / "elsewhere.html"
    assert command.main([str(saved), "--json", "-o", str(page)], standalone_mode=False) == 0
    assert json.loads(capsys.readouterr().out)["report"] == str(page)
    assert page.stat().st_size


def test_curves_that_nobody_asked_for_are_not_measured_and_json_tells_how(tmp_path, monkeypatch, capsys):
    cheap_model(*twin_texts(6, 12, length=12)).save(tmp_path / "plain")

    def fitted(*given, **named):
        raise AssertionError("the report fits")

    monkeypatch.setattr("untwin.model.curves.space_curves", fitted)
    page = tmp_path / "page.html"
    assert command.main([str(tmp_path / "plain"), "--json", "-o", str(page)], standalone_mode=False) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["space"]["rows"] == 0
    assert "ask for model.curves_" in printed["space"]["note"]
    assert [layer["title"] for layer in printed["matrix"]["layers"]] == ["The model"]
    assert printed["findings"]["findings"]
    assert "#space" not in (shown := page.read_text(encoding="utf-8"))
    assert 'id="space"' not in shown


@pytest.mark.parametrize("preset", ["fast", "best"])
def test_the_report_of_a_model_that_fit_saved_fits_nothing_and_searches_nothing(tmp_path, monkeypatch, capsys, preset):
    texts, labels = twin_texts(4, 12, length=12)
    labels[0] = labels[-1]
    table, folder = tmp_path / "tickets.csv", tmp_path / "model"
    pl.DataFrame({"text": texts, "label": labels}).write_csv(table)
    assert run(["fit", str(table), "-o", str(folder), "--preset", preset]) == 0
    capsys.readouterr()
    made = folder.with_name("model.html").read_bytes()
    loaded = UntwinClassifier.load(folder)
    curves = {"curves"} if preset == "best" else set()
    assert loaded.measured_ == {"findings", "neighbours", "group_range", "unknown_chance"} | curves
    assert (b'id="space"' in made) == bool(curves)
    monkeypatch.setattr(UntwinClassifier, "load", lambda _: loaded)

    def worked(*given, **named):
        raise AssertionError("the report works")

    for name in (
        "untwin.classify.knn.classifier.KNNClassifier.fit",
        "untwin.classify.knn.classifier.KNNClassifier.kneighbors",
        "untwin.model.curves.space_curves",
        "untwin.model.findings.found",
        "untwin.model.findings.label_errors.fitted_noise",
        "untwin.structure.hierarchy.Hierarchy.group_range",
        "untwin.model.state.FittedState.score",
    ):
        monkeypatch.setattr(name, worked)
    assert run(["report", str(folder)]) == 0
    assert folder.with_name("model.html").read_bytes() == made


@pytest.mark.parametrize("kind", ["foreign", "link", "pipe", "folder"])
def test_what_is_no_report_is_neither_replaced_nor_followed(saved, tmp_path, kind):
    page, precious = tmp_path / "page.html", tmp_path / "precious"
    precious.write_text("precious")
    match kind:
        case "foreign":
            page.write_text("my own page")
        case "link":
            page.symlink_to(precious)
        case "pipe":
            os.mkfifo(page)
        case "folder":
            page.mkdir()
    with pytest.raises(InputError) as caught:
        command.main([str(saved), "-o", str(page)], standalone_mode=False)
    assert caught.value.code == ("foreign-file" if kind == "foreign" else "not-a-file")
    if kind == "foreign":
        assert page.read_text() == "my own page"
        assert command.main([str(saved), "-o", str(page), "--force"], standalone_mode=False) == 0
        assert command.main([str(saved), "-o", str(page)], standalone_mode=False) == 0  # it is ours now
    else:
        with pytest.raises(InputError, match="only a file is written to"):
            write_report(UntwinClassifier.load(saved), page)  # from Python too
    assert precious.read_text() == "precious"


def test_half_a_page_is_never_seen(saved, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    command.main([str(saved), "-o", str(page)], standalone_mode=False)
    before = page.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        command.main([str(saved), "-o", str(page)], standalone_mode=False)
    assert page.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_page_inside_the_model_would_spoil_it(saved):
    with pytest.raises(InputError, match="is inside the model"):
        command.main([str(saved), "-o", str(saved / "page.html")], standalone_mode=False)
    assert UntwinClassifier.load(saved)
