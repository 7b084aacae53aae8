from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untwin.model.findings.twins import soft_links, twins
from untwin.tables.confusion import Confusion

Y = np.repeat(["ape", "bee", "cat", "dog"], 40)


def said(*moves):
    """What a classifier says that takes `n` rows of a class for another one."""
    predictions = Y.copy()
    for label, other, n in moves:
        predictions[np.flatnonzero((label == Y) & (predictions == Y))[:n]] = other
    return predictions


def test_twins_with_the_accuracy_after_merging(evidence):
    predictions = said(("ape", "bee", 16), ("bee", "ape", 12), ("cat", "dog", 2))
    finding = twins(evidence(Y, predictions))
    (pair,) = finding.evidence
    assert (pair["a"], pair["b"], pair["a taken for b"], pair["b taken for a"]) == ("ape", "bee", 16, 12)
    assert pair["rate"] == pytest.approx(28 / 80)
    merged = {"ape": "ape or bee", "bee": "ape or bee"}
    alike = [merged.get(a, a) == merged.get(b, b) for a, b in zip(Y, predictions, strict=True)]
    assert pair["accuracy if merged"] == pytest.approx(np.mean(alike))
    assert f"{np.mean(alike):.3f} instead of {np.mean(predictions == Y):.3f}" in finding.title
    assert all(Y[row] != predictions[row] for row in pair["rows"])


def test_the_title_merges_chains_of_twins_as_one(evidence):
    finding = twins(evidence(Y, said(("ape", "bee", 20), ("bee", "cat", 20))))
    assert len(finding.evidence) == 2
    assert "would be 1.000 instead of 0.750" in finding.title


def test_twins_name_the_terms_that_part_them(evidence):
    X = (np.unique(Y) == Y[:, None]).astype(float)
    finding = twins(evidence(Y, said(("ape", "bee", 20)), X=X, terms=np.array(["fur", "honey", "purr", "bark"])))
    assert finding.evidence[0]["terms for a"] == ["fur"]
    assert finding.evidence[0]["terms for b"] == ["honey"]


def test_few_errors_make_no_twins(evidence):
    assert twins(evidence(Y)) is None
    assert twins(evidence(Y, said(("ape", "bee", 3), ("cat", "dog", 4)))) is None


def test_a_high_rate_of_a_handful_of_rows_proves_nothing(evidence):
    y = np.array(["a"] * 3 + ["b"] * 3)
    assert twins(evidence(y, ["a", "a", "b", "b", "b", "b"])) is None


def test_rows_that_nobody_judged_are_not_shown(evidence):
    predictions = said(("ape", "bee", 35))
    folds = np.arange(len(Y)) % 3
    folds[:10] = -1
    assert min(twins(evidence(Y, predictions, folds=folds)).evidence[0]["rows"]) >= 10
    masked = np.ma.MaskedArray(predictions, mask=folds < 0)
    confusion = evidence(Y, predictions, folds=folds).confusion
    as_out_of_fold_says = evidence(Y, masked, folds=folds, confusion=confusion)
    assert min(twins(as_out_of_fold_says).evidence[0]["rows"]) >= 10


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_merging_a_pair_saves_exactly_its_errors(evidence, seed):
    rng = np.random.default_rng(seed)
    predictions = np.where(rng.random(len(Y)) < 0.5, Y, rng.choice(np.unique(Y), len(Y)))
    case = evidence(Y, predictions)
    for pair in getattr(twins(case), "evidence", ()):
        saved = pair["accuracy if merged"] - case.confusion.accuracy
        assert saved == pytest.approx((pair["a taken for b"] + pair["b taken for a"]) / len(Y))
        assert pair["rate at least"] >= 0.05


PARENTS = {"ape": "mammal", "cat": "mammal", "dog": "mammal", "bee": "insect"}


def test_soft_links_across_the_known_tree(evidence):
    finding = soft_links(evidence(Y, said(("ape", "bee", 8), ("cat", "dog", 20)), parents=PARENTS))
    (link,) = finding.evidence
    assert (link["a"], link["b"], link["parent of a"], link["parent of b"]) == ("ape", "bee", "mammal", "insect")
    assert link["confusion"] == pytest.approx(8 / 40 / 2)


def test_no_soft_links(evidence):
    assert soft_links(evidence(Y, said(("ape", "bee", 8)))) is None  # no known tree
    assert soft_links(evidence(Y, said(("cat", "dog", 20)), parents=PARENTS)) is None  # confused inside it only
    assert soft_links(evidence(Y, said(("ape", "bee", 1)), parents=PARENTS)) is None  # one error may be chance


def test_twins_come_from_the_confusion_given(evidence):
    counts = [[20, 20], [20, 20]]
    assert twins(evidence(Y[:80], confusion=Confusion(counts, ["ape", "bee"]))).evidence[0]["rate"] == 0.5
