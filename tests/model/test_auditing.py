"""Answers of any classifier: what follows from them without a model."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untwin import Confusion, Hierarchy, audit, write_report
from untwin.model.auditing.given import scores_of_classes
from untwin.model.auditing.unlisted import Speller
from untwin.report import Report

ANSWERS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", "A", "x", ""])), min_size=2)
HOSTILE = ["<script>alert(1)</script>", "a|b", "new\nline", "=1+1", "'quoted\"", "\u202egnp.exe", "ünïcode", " a "]


def codes(found):
    return {one.code: one for one in found.findings_}


def made(n_classes=6, rows=30, seed=0, twins=0.3):
    """Texts, labels and answers: each second class is often taken for the one before it."""
    rng = np.random.default_rng(seed)
    numbers = np.repeat(np.arange(n_classes), rows)
    y = np.array([f"class {n}" for n in numbers])
    taken = (numbers % 2 == 1) & (rng.random(len(y)) < twins)
    said = np.where(taken, np.array([f"class {n - 1}" for n in numbers]), y)
    words = [f"word{rng.integers(40)} own{n}x{rng.integers(3)} common" for n in numbers]
    return y, said, words


@given(ANSWERS)
def test_figures_are_literal_counts(rows):
    y, said = (list(part) for part in zip(*rows, strict=True))
    found = audit(y, said, classes="abc")
    assert found.scores_["accuracy"] == np.mean([a == b for a, b in rows])
    listed = [row for row in rows if row[1] in "abc" and row[1]]
    assert found.confusion_.total == len(listed)
    if listed:
        expected = Confusion.from_predictions(*map(list, zip(*listed, strict=True)), classes=["a", "b", "c"])
        assert found.confusion_ == expected
    finding = codes(found).get("unlisted-answers")
    assert (0 if finding is None else sum(one["rows"] for one in finding.evidence)) == len(rows) - len(listed)
    json.dumps(found.to_dict(), allow_nan=False)


def test_without_strange_answers_the_macro_f1_is_the_usual_one():
    y, said, _ = made()
    assert audit(y, said).scores_["macro_f1"] == pytest.approx(Confusion.from_predictions(y, said).macro_f1)


def test_figures_of_a_class_count_strange_answers_as_missed():
    found = audit(["a", "a", "b", "b"], ["a", "x", "b", "a"])
    assert found.per_class() == [
        {"class": "a", "rows": 2, "precision": 0.5, "recall": 0.5, "f1": 0.5},
        {"class": "b", "rows": 2, "precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3)},
    ]


def test_tree_groups_and_twins_are_those_of_the_confusion():
    y, said, texts = made()
    found = audit(y, said, texts=texts)
    assert found.hierarchy_ == Hierarchy.from_confusion(Confusion.from_predictions(y, said))
    assert found.groups_ == found.hierarchy_.cut()
    pairs = {(one["a"], one["b"]) for one in codes(found)["twins"].evidence}
    assert pairs == {("class 0", "class 1"), ("class 2", "class 3"), ("class 4", "class 5")}
    assert all(term.startswith("own0") for term in codes(found)["twins"].evidence[0]["terms for a"][:2]) or any(
        one["a"] != "class 0" for one in codes(found)["twins"].evidence[:1]
    )
    assert found.graph_.classes.tolist() == found.classes_.tolist()


def test_planted_label_errors_are_found_by_scores():
    rng = np.random.default_rng(3)
    names, n = np.array(list("abcd")), 2000
    said, sure = rng.integers(4, size=n), rng.uniform(0.4, 0.999, n) ** 0.2
    P = np.repeat((1 - sure)[:, np.newaxis] / 3, 4, axis=1)
    P[np.arange(n), said] = sure
    y = np.where(rng.random(n) < sure, said, (said + rng.integers(1, 4, n)) % 4)  # as often right as the scores say
    planted = rng.choice(np.flatnonzero((y == said) & (sure > 0.95)), 60, replace=False)
    y[planted] = (y[planted] + 1) % 4
    scores = dict(zip("abcd", P.T, strict=True))
    found = codes(audit(names[y], names[said], scores=scores))["label-error"]
    named = [one["row"] for one in found.evidence]
    assert np.isin(named[:20], planted).mean() > 0.85  # the surest first
    logs = {name: np.log(column) - 3 for name, column in scores.items()}
    again = codes(audit(names[y], names[said], scores=logs))["label-error"]
    assert [one["row"] for one in again.evidence] == named
    assert "label-error" not in codes(audit(names[y], names[said]))


def test_scores_that_are_missing_are_the_least():
    given_scores = {"a": [np.nan, 1.0], "b": [0.5, np.nan]}
    assert scores_of_classes(given_scores, np.array(["a", "b"])).tolist() == [[0, 0.5], [1, 0]]
    y = ["a", "b"] * 10
    nothing = np.full(20, np.nan)
    found = audit(y, y, scores={"a": nothing, "b": nothing})
    assert np.allclose(np.exp(found.answers_.log_p), 0.5)


def test_equal_texts_with_two_labels_or_two_answers():
    texts = ["card lost"] * 2 + ["Card  lost"] + [f"other {n} words" for n in range(20)]
    y = ["lost", "lost", "stolen"] + ["stolen"] * 10 + ["lost"] * 10
    said = ["lost", "stolen", "stolen", *y[3:]]
    found = codes(audit(y, said, texts=texts))
    assert found["conflicting-text"].evidence[0]["rows"] == [0, 1, 2]
    assert found["unstable-answers"].evidence == (
        {"rows": [0, 1, 2], "answers": ["lost", "stolen"], "text": "card lost"},
    )


def test_rows_of_one_unit_are_repeated_answers():
    found = codes(audit(["a", "a", "b", "b"], ["a", "b", "b", "b"], units=[1, 1, 2, 2]))
    assert "1 question that was repeated was answered in several ways, of 2" in found["unstable-answers"].title
    assert "alpha of repeated answers is 0.000" in found["unstable-answers"].title


def test_annotators():
    rng = np.random.default_rng(0)
    y = rng.choice(list("abc"), 300)
    good = [np.where(rng.random(300) < 0.1, rng.choice(list("abc"), 300), y) for _ in range(2)]
    bad = np.where(y == "a", "b", y)
    found = audit(y, y, annotators={"ann": good[0], "ben": good[1], "cat": bad})
    records = {one["annotator"]: one for one in codes(found)["annotators"].evidence}
    assert records["cat"]["as the truth"] == np.mean(bad == y)
    assert records["cat"]["alpha of the others"] > found.agreement_.alpha > records["ann"]["alpha of the others"]
    first = codes(found)["annotator-confusions"].evidence[0]
    assert first == {"annotator": "cat", "truth": "a", "said": "b", "rows": int((y == "a").sum())}
    one = audit(y, y, annotators={"cat": bad})
    assert (one.agreement_, list(codes(one))) == (None, ["annotator-confusions"])


@pytest.mark.parametrize(
    ("answer", "near", "why"),
    [
        ("Late-Fee", "late_fee", "spelling"),
        (" REFUND\n", "refund", "spelling"),
        ("I think it is 'late fee'.", "late_fee", "contains"),
        ("late fee waiver please", "late_fee_waiver", "contains"),
        ("refund or late fee", None, None),  # two of them: nobody can tell
        ("lat_fee", "late_fee", "similar"),
        ("", None, None),
        ("!!", None, None),
        ("shipping", None, None),
    ],
)
def test_near_misses(answer, near, why):
    assert Speller(np.array(["late_fee", "late_fee_waiver", "refund"])).near(answer) == (near, why)


def test_classes_that_look_alike_are_no_near_miss_of_each_other():
    assert Speller(np.array(["A", "a"])).near("Ａ").why != "spelling"


def test_a_known_tree_gives_soft_links():
    y, said, _ = made()
    parents = {f"class {n}": "odd" if n % 2 else "even" for n in range(6)}
    links = codes(audit(y, said, parents=parents))["also-see"].evidence
    assert {(one["a"], one["b"]) for one in links} == {(f"class {n}", f"class {n + 1}") for n in (0, 2, 4)}


def test_the_report_says_nothing_of_training(tmp_path):
    y, said, texts = made()
    said[:5] = "nothing of the kind"
    found = audit(y, said, texts=texts, ids=[f"T{n}" for n in range(len(y))])
    page = write_report(found, tmp_path / "audit.html").read_text()
    assert "linear SVM" not in page
    assert "not seen" not in page
    assert "out of fold" not in page
    assert "5 answers name no class" in page
    summary = Report.of(found).summary
    assert (summary.accuracy.value, summary.calibration) == (found.scores_["accuracy"], ())


@pytest.mark.parametrize("texts", [True, False])
def test_hostile_names_and_one_row_classes(tmp_path, texts):
    y = np.array([*HOSTILE, *HOSTILE[:3]])
    said = np.array([*HOSTILE[1:], HOSTILE[0], "<b>", "", "\x1b[31m"])
    written = ["", "<i>", "\n", "a", "b\x00", "=x", "", "", "", "x y", "y z"] if texts else None
    found = audit(y, said, texts=written)
    page = write_report(found, tmp_path / "page.html").read_text()
    assert "<script>alert" not in page
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("texts", [[""] * 4, None])
def test_nothing_usable_is_no_crash(tmp_path, texts):
    found = audit(["a", "a", "b", "b"], ["x", "y", "", "z"], texts=texts)
    assert found.scores_["accuracy"] == 0
    write_report(found, tmp_path / "page.html")


def test_a_thousand_classes():
    rng = np.random.default_rng(0)
    names = np.array([f"class {n:04}" for n in range(1000)])
    y = np.repeat(names, 3)
    said = np.where(rng.random(3000) < 0.3, rng.choice(names, 3000), y).astype("<U40")
    said[:300] = np.char.replace(said[:300], "class ", "CLASS-")
    found = audit(y, said)
    strange = codes(found)["unlisted-answers"]
    assert {one["by"] for one in strange.evidence} == {"spelling"}
    assert len(found.hierarchy_.classes) == 1000


@pytest.mark.parametrize(
    ("y", "said", "more", "message"),
    [
        ([], [], {}, "at least one label"),
        (["a"], [1], {}, "one kind"),
        (["a", "a"], ["b", "a"], {}, "two classes"),
        (["a", "b"], ["b"], {}, "predicted must have one value"),
        (["a", "b"], ["b", "a"], {"texts": ["x"]}, "texts must have"),
        (["a", "b"], ["b", "a"], {"annotators": {"me": ["a"]}}, "me must have"),
    ],
)
def test_what_cannot_be_audited_is_refused(y, said, more, message):
    with pytest.raises(ValueError, match=message):
        audit(y, said, **more)
