"""Out-of-fold answers as a value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from untwin.model import UntwinClassifier
from untwin.model.best_scores import BestScores
from untwin.model.out_of_fold import OutOfFoldAnswers
from untwin.represent.weights import SupervisedWeights


def _answers(shares, predicted, folds):
    with np.errstate(divide="ignore"):
        log_p = np.log(np.array(shares, dtype=np.float32))
    classes, folds = np.array(["a", "b", "c"]), np.array(folds)
    said = np.where(folds >= 0, np.searchsorted(classes, predicted), -1)
    return OutOfFoldAnswers.of(classes, np.arange(len(folds)), np.zeros_like(said), said, log_p=log_p, folds=folds)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"scores": BestScores.of(np.zeros((2, 2)))}, "scores must be those of 2 rows and 3 classes"),
        ({"folds": np.zeros(3)}, r"folds must have shape \(2,\)"),
        ({"true": np.array([0, 3])}, "numbers of 3 classes"),
        ({"said": np.array([0, 3])}, "numbers of 3 classes"),
        ({"said": np.array([0, -1])}, "where they were held out"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, reason):
    answers = _answers([[0.6, 0.1, 0.3], [0.2, 0.5, 0.3]], ["a", "b"], [0, 1])
    with pytest.raises(ValueError, match=reason):
        replace(answers, **change)


def test_errors_come_by_confidence():
    answers = _answers([[0.1, 0.6, 0.3], [np.nan] * 3, [0.1, 0.8, 0.1], [0.9, 0.1, 0.0]], [*"bbba"], [0, -1, 1, 1])
    assert answers.wrong.tolist() == [2, 0]
    np.testing.assert_allclose(answers.confidence, [0.6, 0, 0.8, 0.9], rtol=1e-6)
    assert answers.sizes.tolist() == [4, 0, 0]
    assert answers.confusion.toarray()[0].tolist() == [1, 2, 0]


def test_rows_that_are_never_held_out_are_answered_like_new_ones():
    """Training rows may be weighted by their own labels, which would make their answers too sure."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.poisson(0.2 + 0.6 * (np.arange(30) % 3 == y[:, np.newaxis])).astype(float)
    folds = np.where(np.arange(120) < 12, -1, np.arange(120) % 4)
    model = UntwinClassifier(encoder=SupervisedWeights(scheme="chi2"), cv=folds, preset="fast").fit(X, y)
    known = model.state_
    found = np.vstack(list(known.log_proba_of_all_rows()))
    np.testing.assert_array_equal(np.flatnonzero(~known.answers.held), np.arange(12))
    np.testing.assert_allclose(np.exp(found[:12]), model.predict_proba(X[:12]), atol=1e-5)
    weighted = known.ensemble.log_proba(known.view.prepare(y).rows[:12])
    assert np.abs(np.exp(weighted) - np.exp(found[:12])).max() > 0.01
