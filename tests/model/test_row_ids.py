"""Rows are called by ids of the owner's own wherever they are named; without any, by their numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from untwin.model import UntwinClassifier

NAMES = [f"T-{number}" for number in range(160)]


@pytest.fixture(scope="module")
def model(texts, labels):
    wrong = labels.copy()
    for row in range(5, 158, 9):
        wrong[row] = labels[row + 2]
    return UntwinClassifier().fit(texts, wrong, ids=NAMES)


def test_ids_are_kept_as_strings(model, texts, labels):
    assert model.ids_.tolist() == NAMES
    numbers = UntwinClassifier(preset="fast").fit(texts, labels, ids=np.arange(160) + 7)
    assert numbers.ids_.tolist() == [str(number + 7) for number in range(160)]
    numbers.relabel([7], labels[1:2])
    assert numbers.state_.y[0] == labels[1]


def test_explanations_and_findings_name_them(model, texts, new, truth):
    (reason,) = model.explain(new[:1], top=3)
    assert {near.row for near in reason.neighbours.neighbours} <= set(NAMES)
    assert f"row {reason.neighbours.neighbours[0].row}" in str(reason)
    assert reason.neighbours.frame()["row"].dtype == pl.String
    found = {finding.code: finding for finding in model.find(test=([*new, texts[3]], np.append(truth, "class00")))}
    assert {"T-5", "T-14", "T-23", "T-32"} <= {record["row"] for record in found["label-error"].evidence}
    (leak,) = found["split-leak"].evidence
    assert (leak["training rows"], leak["test rows"]) == (["T-3"], [80])
    called = [f"new {number}" for number in range(81)]
    again = {one.code: one for one in model.find(test=([*new, texts[3]], np.append(truth, "class00"), called))}
    assert again["split-leak"].evidence[0]["test rows"] == ["new 80"]


def test_they_are_saved(model, tmp_path):
    model.save(tmp_path / "m")
    again = UntwinClassifier.load(tmp_path / "m")
    assert again.ids_.tolist() == NAMES
    assert again.findings_ == model.findings_


def test_rows_that_come_later(texts, labels, new, truth):
    model = UntwinClassifier(preset="fast").fit(texts, labels, ids=NAMES)
    model.add(new[:2], truth[:2], ids=["more:1", "more:2"])
    model.add(new[2:3], truth[2:3])
    assert model.ids_.tolist() == [*NAMES, "more:1", "more:2", "added:163"]
    model.remove(["T-3", "more:1"])
    assert {"T-3", "more:1"}.isdisjoint(model.ids_.tolist())
    model.relabel(["more:2"], labels[:1])
    assert model.state_.y[model.ids_.tolist().index("more:2")] == labels[0]
    model.add(new[3:4], truth[3:4])
    assert model.ids_[-1] == "added:164"  # a name is never given twice
    with pytest.raises(ValueError, match=r"ids must be ids of training rows .* Got 'T-3' instead"):
        model.remove(["T-3"])
    with pytest.raises(ValueError, match=r"ids must be distinct\. Got 'T-4' more than once"):
        model.add(new[:1], truth[:1], ids=["T-4"])


def test_numbers_become_strings_where_own_ids_join_them(texts, labels, new, truth):
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    model.add(new[:1], truth[:1], ids=["T-1"])
    assert model.ids_.tolist() == [*map(str, range(160)), "T-1"]


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (NAMES[:-1], "one id for each of the 160 rows. Got shape"),
        ([*NAMES[:-1], "T-0"], "distinct. Got 'T-0' more than once"),
        ([*NAMES[:-1], None], "Got none for row 159"),
        ([*NAMES[:-1], float("nan")], "Got none for row 159"),
    ],
)
def test_ids_that_are_none_are_refused_before_the_work(texts, labels, ids, told):
    with pytest.raises(ValueError, match=told):
        UntwinClassifier(preset="fast").fit(texts, labels, ids=ids)
