from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from untwin.model.findings.twins import soft_links, twins

Y = np.repeat(["ape", "bee", "cat", "dog"], 40)


def said(*moves):
    """What a classifier says that takes `n` rows of a class for another one."""
    predictions = Y.copy()
    for label, other, n in moves:
        predictions[np.flatnonzero((label == Y) & (predictions == Y))[:n]] = other
    return predictions


def test_twins_with_what_merging_gains(evidence):
    predictions = said(("ape", "bee", 16), ("bee", "ape", 12), ("cat", "dog", 2))
    finding = twins(evidence(Y, predictions))
    (pair,) = finding.evidence
    assert (pair["a"], pair["b"], pair["a taken for b"], pair["b taken for a"]) == ("ape", "bee", 16, 12)
    assert pair["rate"] == pytest.approx(28 / 80)
    merged = {"ape": "ape or bee", "bee": "ape or bee"}
    alike = [merged.get(a, a) == merged.get(b, b) for a, b in zip(Y, predictions, strict=True)]
    assert pair["points if merged"] == pytest.approx(100 * (np.mean(alike) - np.mean(predictions == Y)))
    assert f"would be {100 * (np.mean(alike) - np.mean(predictions == Y)):.1f} points higher" in finding.title
    assert all(Y[row] != predictions[row] for row in pair["rows"])


def test_the_title_merges_chains_of_twins_as_one(evidence):
    finding = twins(evidence(Y, said(("ape", "bee", 20), ("bee", "cat", 20))))
    assert len(finding.evidence) == 2
    assert "would be 25.0 points higher" in finding.title


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


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_merging_a_pair_saves_exactly_its_errors(evidence, seed):
    rng = np.random.default_rng(seed)
    predictions = np.where(rng.random(len(Y)) < 0.5, Y, rng.choice(np.unique(Y), len(Y)))
    case = evidence(Y, predictions)
    for pair in getattr(twins(case), "evidence", ()):
        saved = pair["points if merged"] / 100
        assert saved == pytest.approx((pair["a taken for b"] + pair["b taken for a"]) / len(Y))
        assert pair["rate at least"] >= 0.05


PARENTS = {"ape": "mammal", "cat": "mammal", "dog": "mammal", "bee": "insect"}


def test_soft_links_across_the_known_tree(evidence):
    finding = soft_links(evidence(Y, said(("ape", "bee", 8), ("cat", "dog", 20)), parents=PARENTS))
    (link,) = finding.evidence
    assert (link["a"], link["b"], link["parent of a"], link["parent of b"]) == ("ape", "bee", "mammal", "insect")
    assert link["rate"] == pytest.approx(8 / 40 / 2)


def test_no_soft_links(evidence):
    assert soft_links(evidence(Y, said(("ape", "bee", 8)))) is None  # no known tree
    assert soft_links(evidence(Y, said(("cat", "dog", 20)), parents=PARENTS)) is None  # confused inside it only
    assert soft_links(evidence(Y, said(("ape", "bee", 1)), parents=PARENTS)) is None  # one error may be chance


def test_a_coin_confuses_every_second_row(evidence):
    assert twins(evidence(Y, said(("ape", "bee", 20), ("bee", "ape", 20)))).evidence[0]["rate"] == 0.5


def test_two_classes_are_not_worth_merging(evidence):
    assert twins(evidence(Y[:80], said(("ape", "bee", 20))[:80])) is None


def test_classes_that_are_all_alike_promise_nothing(evidence):
    finding = twins(evidence(Y, np.random.default_rng(0).permutation(Y)))
    assert len(finding.evidence) == 6
    assert finding.title.endswith("merged, nothing would be left to tell apart.")


@pytest.mark.parametrize("errors", range(5, 12))
def test_the_more_pairs_there_are_the_more_errors_it_takes(evidence, errors):
    """With 400 classes of 20 rows: literally, so many errors must be rare at a rate of 0.02 among 79,800 pairs."""
    y = np.repeat(np.arange(400), 20)
    said = y.copy()
    said[:errors] = 1
    rare = binom.sf(errors - 1, 40, 0.02) <= 0.05 / 79_800
    assert (twins(evidence(y, said, X=np.ones((8_000, 1)))) is not None) == rare


def test_of_many_small_classes_only_a_pair_with_many_errors_is_named(evidence):
    y = np.repeat([f"class {number:03d}" for number in range(300)], 4)
    said = y.copy()
    said[0:4], said[4:6] = y[4], y[0]  # six of eight rows
    said[8:12] = y[12]
    said[16:18] = y[20]
    (pair,) = twins(evidence(y, said)).evidence
    assert (pair["a"], pair["b"]) == ("class 000", "class 001")


@pytest.mark.parametrize("seed", range(5))
def test_pairs_confused_by_chance_promise_nothing(evidence, seed):
    """A classifier that guesses half of its answers among 100 classes has no twins worth a better accuracy."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(100), 6)
    finding = twins(evidence(y, np.where(rng.random(600) < 0.5, y, rng.integers(0, 100, 600)), X=np.ones((600, 1))))
    assert finding is None


def test_the_accuracy_after_merging_is_that_of_rows_without_a_say(evidence):
    """Errors of one fold alone are no reason to merge for that fold; seen in the other folds, they are."""
    folds = np.repeat([0, 1, 2, 3], [10, 10, 10, 10])
    folds = np.tile(folds, 4)
    predictions = Y.copy()
    predictions[(Y == "ape") & (folds == 0)] = "bee"
    predictions[(Y == "bee") & (folds == 0)] = "ape"
    predictions[(Y == "cat") & (np.arange(len(Y)) % 2 == 0)] = "dog"
    finding = twins(evidence(Y, predictions, folds=folds))
    assert [(pair["a"], pair["b"]) for pair in finding.evidence] == [("ape", "bee"), ("cat", "dog")]
    assert f"would be {100 * 20 / 160:.1f} points higher" in finding.title


def test_rows_of_a_single_fold_are_judged_by_halves(evidence):
    finding = twins(evidence(Y, said(("ape", "bee", 28)), folds=np.zeros(len(Y), dtype=int)))
    assert "would be 17.5 points higher" in finding.title
