"""`untwin demo`, the installed command."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from untwin import UntwinClassifier
from untwin.cli.demo import ASKED, _show
from untwin.cli.run import run

UNTWIN = Path(sys.executable).with_name("untwin")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "model"


@pytest.fixture(scope="module")
def done(folder):
    arguments = [UNTWIN, "demo", "--json", "-o", folder]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=True)


@pytest.fixture(scope="module")
def result(done):
    return json.loads(done.stdout)


def test_talk_goes_to_stderr_and_ends_with_commands(done):
    assert "gathering texts" in done.stderr
    assert "untwin fit YOUR_TABLE.csv -o MODEL" in done.stderr


def test_the_report_is_shown_last(result, capsys):
    assert Path(result["report"]).is_file()
    _show(result)
    assert capsys.readouterr().out.endswith(f"Report: {result['report']}\n")


def test_it_classifies_well_and_finds_the_twins(result):
    assert result["schema_version"] == 1
    assert result["rows"] > 4_000
    assert 0.7 < result["scores"]["accuracy"] < 0.95
    pairs = {(pair["a"], pair["b"]) for pair in result["confused"]}
    assert len(pairs) == 10
    assert {("numpy", "numpy.ma"), ("polars.dataframe", "polars.lazyframe")} <= pairs


def test_soft_links_cross_the_packages(result):
    links = result["known_tree"]["also_see"]
    assert links
    assert all(link["parent_a"] != link["parent_b"] for link in links)
    assert result["known_tree"]["agreement"]["adjusted_rand"] > 0.1


def test_three_texts_are_answered_that_were_not_learnt(result, folder):
    assert sorted(answer["true_label"] for answer in result["answers"]) == sorted(ASKED)
    model = UntwinClassifier.load(folder)
    learnt = set(model.state_.documents)
    for answer in result["answers"]:
        assert answer["document"] not in learnt
        assert answer["label"] == model.predict([answer["document"]]).item()
        assert answer["neighbours"]


def test_what_people_see(result, capsys):
    _show(result)
    shown = capsys.readouterr().out
    assert "Most often confused" in shown
    assert shown.count("Similar training rows:") == 3


@pytest.mark.parametrize("odd", [[], [{"severity": "warning", "code": "c", "title": "t"}]])
@pytest.mark.parametrize("warns", [False, True])
def test_strict_counts_warnings_and_oddities(monkeypatch, capsys, odd, warns):
    def made(seed, folder, *, force):
        if warns:
            warnings.warn("it is odd", UserWarning, stacklevel=2)
        return {"oddities": odd}

    monkeypatch.setattr("untwin.cli.demo.run_demo", made)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        codes = [run(["demo", "-o", "x", "--json", *more]) for more in ([], ["--strict"])]
    assert codes == [0, int(bool(odd) or warns)]
    assert ("warning: UserWarning: it is odd" in capsys.readouterr().err) == warns
