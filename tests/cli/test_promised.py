"""What `predict` adds when it is asked for promises, and what `evaluate` tells of them."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import KINDS, records, write_csv

from untwin import UntwinClassifier
from untwin.report.page import MARK

ASKED = ("--coverage", "0.9", "--height", "auto", "--unknown")
NEW = ["shortlist", "answer", "height", "answer_classes", "unknown", "unknown_chance"]


@pytest.fixture
def texts(new_rows):
    return [*(row["text"] for row in new_rows), "zzzz qqqq", ""]


@pytest.fixture
def table(tmp_path, texts):
    return write_csv(tmp_path / "new.csv", [{"text": text} for text in texts])


@pytest.fixture
def model(fitted):
    return UntwinClassifier.load(fitted.folder)


def test_a_csv_holds_sets_as_json(command, fitted, model, table, texts):
    found = list(csv.DictReader(io.StringIO(command("predict", fitted.folder, table, *ASKED).out)))
    assert list(found[0])[-6:] == [f"untwin_{name}" for name in NEW]
    sets = [json.loads(row["untwin_shortlist"]) for row in found]
    assert sets == model.shortlist(texts, coverage=0.9).lists()
    heights = model.heights(texts)
    assert [tuple(json.loads(row["untwin_answer_classes"])) for row in found] == heights.members()
    assert [row["untwin_answer"] for row in found] == [" | ".join(names) for names in heights.members()]
    assert found[-1]["untwin_height"] == found[-2]["untwin_height"] == "cannot say"
    assert [row["untwin_unknown"] == "true" for row in found] == model.unknown(texts).tolist()
    chance = model.promises_.unknown_chance(model.predict_all(texts))
    np.testing.assert_allclose([float(row["untwin_unknown_chance"]) for row in found], chance, atol=1e-6)
    assert [row["untwin_unsure"] for row in found[-2:]] == ["true", "true"]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_other_formats_hold_lists(command, fitted, model, table, texts, tmp_path, kind):
    path = tmp_path / f"answers.{kind}"
    assert command("predict", fitted.folder, table, *ASKED, "-o", path).code == 0
    found = pl.read_parquet(path) if kind == "parquet" else pl.read_ndjson(path)
    assert found["untwin_shortlist"].to_list() == model.shortlist(texts, coverage=0.9).lists()
    assert found["untwin_answer_classes"].to_list() == [list(names) for names in model.heights(texts).members()]


def test_batches_may_have_no_answer_at_all(command, fitted, tmp_path):
    table = write_csv(tmp_path / "t.csv", [{"text": "qqqq"}, {"text": "zzz"}])
    (first, _) = list(csv.DictReader(io.StringIO(command("predict", fitted.folder, table, "--height", "auto").out)))
    assert (first["untwin_answer"], first["untwin_answer_classes"]) == ("", "[]")


def test_the_target_is_chosen_anew(command, fitted, model, table, texts):
    for target in (0.0, 0.5):
        done = command("predict", fitted.folder, table, "--target-error", target)
        found = [row["untwin_unsure"] == "true" for row in csv.DictReader(io.StringIO(done.out))]
        assert found == model.unsure(texts, target_error=target).tolist()


def test_the_tree_of_the_owner_and_groups(command, fitted, model, table, texts):
    done = command("predict", fitted.folder, table, "--height", "known", "--coverage", "0.8", "--by-group")
    found = list(csv.DictReader(io.StringIO(done.out)))
    kinds = {frozenset(name for name in KINDS if KINDS[name] == kind) for kind in KINDS.values()}
    answers = [frozenset(json.loads(row["untwin_answer_classes"])) for row in found]
    assert all(not names or len(names) == 1 or names in kinds for names in answers)
    sets = [json.loads(row["untwin_shortlist"]) for row in found]
    assert sets == model.shortlist(texts, coverage=0.8, by_group=True).lists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--by-group",), "--by-group needs --coverage"),
        (("--coverage", "1"), "is not in the range"),
        (("--coverage", "nan"), "--coverage must be a share"),
    ],
)
def test_what_cannot_be_asked(command, fitted, table, options, told):
    done = command("predict", fitted.folder, table, *options)
    assert done.code == 2
    assert told in done.err


def test_a_tree_must_be_known(command, tmp_path, table):
    rows = write_csv(tmp_path / "t.csv", [{"text": row["text"], "label": row["label"]} for row in records(60, 4)])
    assert command("fit", rows, "-o", tmp_path / "plain", "--preset", "fast").code == 0
    done = command("predict", tmp_path / "plain", table, "--height", "known")
    assert done.code == 2
    assert "fitted without one" in done.err


def test_fit_says_which_answers_are_sure(fitted, model):
    record = fitted.record
    assert record["target_error"] == model.target_error_ == 0.1
    assert record["sure"]["error"] <= 0.1
    assert 0 < record["sure"]["share"] <= 1


def test_evaluate_tells_what_became_of_the_promises(command, fitted, tmp_path):
    rows = [{"text": row["text"], "label": row["label"]} for row in records(200, 6)]
    table = write_csv(tmp_path / "t.csv", rows)
    page = tmp_path / "page.html"
    record = command("evaluate", fitted.folder, table, "--json", "-o", page, "--target-error", "0.02").json()
    kept = record["promises"]
    assert record["page"] == str(page)
    assert record["sure"]["target_error"] == 0.02
    assert kept["shares"][-1]["share"] == 1.0
    assert kept["shares"][-1]["error"] == pytest.approx(1 - record["accuracy"])
    assert all(point["held"] >= point["coverage"] - 0.1 for point in kept["sets"])
    for point in kept["heights"]:
        assert sum(point[name] for name in ("at_class", "at_group", "at_larger_group", "cannot_say")) == pytest.approx(
            1
        )
    sets = UntwinClassifier.load(fitted.folder).shortlist([row["text"] for row in rows])
    held, labels = sets.hold(np.array([row["label"] for row in rows])), np.array([row["label"] for row in rows])
    for line in record["per_class"]:
        assert line["covered"] == pytest.approx(held[labels == line["class"]].mean())
    shown = page.read_text(encoding="utf-8")
    assert MARK.decode() in shown
    assert "What became of the promises" in shown
    assert "<script" not in shown


def test_evaluate_writes_a_page_beside_the_model(command, fitted, tickets):
    place = fitted.folder.with_name("model.evaluation.html")
    done = command("evaluate", fitted.folder, tickets)
    assert f"Page: {place}" in done.out
    place.unlink()
    assert command("evaluate", fitted.folder, tickets, "--json").json()["page"] is None
    assert not place.exists()
    place.write_text("mine", encoding="utf-8")
    done = command("evaluate", fitted.folder, tickets)
    assert done.code == 2
    assert place.read_text(encoding="utf-8") == "mine"
    assert command("evaluate", fitted.folder, tickets, "--force").code == 0
    place.unlink()


def test_names_on_the_page_are_text(command, fitted, tmp_path):
    label = "</script><img src=x onerror=alert(1)>"
    table = write_csv(
        tmp_path / "t.csv", [{"text": "printer jam", "label": label}, {"text": "paper", "label": "printer"}]
    )
    page = tmp_path / "page.html"
    assert command("evaluate", fitted.folder, table, "-o", page).code == 0
    assert "<img" not in page.read_text(encoding="utf-8")
