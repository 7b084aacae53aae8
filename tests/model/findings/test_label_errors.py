from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from untwin.model.findings.label_errors import label_errors, label_trust, suspected_rows

N, CLASSES = 300, np.array(["ape", "bee", "cat", "dog", "elk", "fox"])


def case(evidence, seed=0, share=0.05, **given):
    """Rows of six classes, a share of them labelled wrongly; classifier and neighbours mostly know the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 6, N)
    wrong = rng.random(N) < share
    labels = np.where(wrong, (truth + rng.integers(1, 6, N)) % 6, truth)
    scores = rng.normal(size=(N, 6)) + 4 * np.eye(6)[truth]
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    folds = np.arange(N) % 5
    near = np.array([rng.choice(np.flatnonzero((truth == truth[i]) & (folds != folds[i])), 10) for i in range(N)])
    y = CLASSES[labels]
    given = {"probabilities": P, "folds": folds, "neighbours": near} | given
    return evidence(y, CLASSES[P.argmax(axis=1)], **given), wrong


def test_planted_errors_are_named_and_stand_at_the_top(evidence):
    known, wrong = case(evidence, texts=[f"text {row} " * 20 for row in range(N)])
    finding = label_errors(known)
    rows = [record["row"] for record in finding.evidence]
    assert wrong[rows].mean() > 0.85
    assert wrong[rows].sum() > 0.6 * wrong.sum()
    assert wrong[rows[:5]].all()
    assert average_precision_score(wrong, -label_trust(known)) > 0.95
    for record in finding.evidence:
        assert record["label"] == known.answers.y[record["row"]] != record["rather"]
        assert record["belief in label"] < record["belief in other"]
        assert len(record["text"]) == 80


def test_a_sure_classifier_that_agrees_with_all_labels_finds_nothing(evidence):
    assert label_errors(evidence(np.repeat(CLASSES, 20))) is None


def test_neighbours_help(evidence):
    better = [
        average_precision_score(wrong, -label_trust(known)) for known, wrong in (case(evidence, s) for s in range(5))
    ]
    alone = [
        average_precision_score(wrong, -label_trust(known))
        for known, wrong in (case(evidence, s, neighbours=None) for s in range(5))
    ]
    assert np.mean(better) > np.mean(alone)


def test_rows_that_nobody_judged_are_never_named(evidence):
    known, wrong = case(evidence)
    folds, P = known.answers.folds.copy(), known.probabilities.copy()
    folds[wrong], P[wrong] = -1, np.nan
    known, _ = case(evidence, folds=folds, probabilities=P)
    assert not np.isin(suspected_rows(known), np.flatnonzero(wrong)).any()
    assert np.isnan(label_trust(known)).tolist() == wrong.tolist()


def test_belief_and_trust_are_what_the_glossary_says(evidence):
    known, _ = case(evidence)
    V = np.array([[np.mean(known.answers.true[near] == c) for c in range(6)] for near in known.neighbours])
    B = known.probabilities * np.sqrt(V + 1 / 6)
    B /= B.sum(axis=1, keepdims=True)
    usual = [B[known.answers.true == c, c].mean() for c in range(6)]
    literal = [B[i, c] / usual[c] for i, c in enumerate(known.answers.true)]
    np.testing.assert_allclose(label_trust(known), literal)


def test_missing_neighbours_do_not_vote(evidence):
    known, _ = case(evidence)
    padded = np.pad(known.neighbours, ((0, 0), (0, 3)), constant_values=-1)
    np.testing.assert_allclose(label_trust(case(evidence, neighbours=padded)[0]), label_trust(known))
    nobody = np.full((N, 2), -1)
    alone = label_trust(case(evidence, neighbours=None)[0])
    np.testing.assert_allclose(label_trust(case(evidence, neighbours=nobody)[0]), alone)


@given(seed=st.integers(0, 2**32 - 1), share=st.floats(0, 0.3))
@settings(max_examples=25, deadline=None)
def test_named_rows_are_doubted_and_in_order(evidence, seed, share):
    known, _ = case(evidence, seed, share)
    rows, trust = suspected_rows(known), label_trust(known)
    assert (np.diff(trust[rows]) >= 0).all()
    assert len(np.unique(rows)) == len(rows)
    for record in getattr(label_errors(known), "evidence", ()):
        assert record["rather"] != record["label"]


def test_a_tiny_class_that_is_never_held_out(evidence):
    y = np.array(["a", "b"] * 10 + ["rare"])
    folds = np.arange(21) % 2
    folds[-1] = -1
    assert label_errors(evidence(y, folds=folds)) is None


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_how_many_are_named_is_the_count_of_confident_learning(evidence, share):
    known, wrong = case(evidence, 3, share)
    P, y = known.probabilities, known.answers.true
    usual = [P[y == c, c].mean() for c in range(6)]
    count = 0
    for p, label in zip(P, y, strict=True):
        sure_of = [c for c in range(6) if p[c] >= usual[c]]
        count += bool(sure_of) and max(sure_of, key=lambda c: p[c]) != label
    assert len(suspected_rows(known)) == count
    assert 0.5 * wrong.sum() < count < 1.2 * wrong.sum()


def overlapping(evidence, seed, n_classes, n, wrong=0.0):
    """Labels drawn from the probabilities themselves, so that every error is an honest one; a share of them wrong."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_classes, 0.3), n)
    drawn = (P.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    lied = rng.random(n) < wrong
    y = np.where(lied, rng.integers(0, n_classes, n), drawn)
    return evidence(np.append(y, range(n_classes)), probabilities=np.vstack([P, np.eye(n_classes)])), lied


@pytest.mark.parametrize("n_classes", [2, 3, 30])
def test_errors_that_probabilities_explain_are_no_label_errors(evidence, n_classes):
    """But for one case in twenty."""
    cases = [overlapping(evidence, seed, n_classes, 600)[0] for seed in range(40)]
    assert all(np.mean(known.probabilities.argmax(axis=1) != known.answers.true) > 0.1 for known in cases)
    assert sum(label_errors(known) is not None for known in cases) <= 2


@pytest.mark.parametrize("seed", range(4))
def test_wrong_labels_among_overlapping_classes_stand_at_the_top(evidence, seed):
    known, lied = overlapping(evidence, seed, 10, 1_000, wrong=0.1)
    named = suspected_rows(known)
    assert 0.5 * lied.sum() < len(named) < 2.5 * lied.sum()
    assert np.append(lied, np.zeros(10, dtype=bool))[named[: len(named) // 2]].mean() > 0.5


def test_classes_of_a_few_rows_are_not_judged(evidence):
    known, wrong = case(evidence, share=0.15)
    labels = known.answers.y.astype("<U5")
    labels[np.flatnonzero(wrong)[:9]] = "tiny"
    P = np.column_stack([known.probabilities, np.full(N, 1e-6)])
    named = suspected_rows(evidence(labels, probabilities=P, folds=known.answers.folds, neighbours=known.neighbours))
    assert len(named)
    assert "tiny" not in labels[named]
