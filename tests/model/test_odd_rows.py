"""Rows that are odd in one fold only: whatever stands where, a model is made, answers, tells and learns on."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin

from untwin import TableEncoder
from untwin.model import UntwinClassifier
from untwin.report import write_report

N = 40
LABELS = np.array([f"c{row % 4}" for row in range(N)])
PLACES = range(0, 24, 5)  # in different folds


def numbers(sparse):
    rng = np.random.default_rng(0)
    if sparse:
        X = np.zeros((N, 60))
        X[np.arange(N), np.arange(N) % 4] = 1
        X[np.arange(N), rng.integers(4, 60, N)] = 1
        return X
    return np.abs(rng.normal(size=(N, 5))) + 2 * np.eye(5)[np.arange(N) % 4]


def works(model, rows, new, labels):
    for some in (rows, new):
        P = model.predict_proba(some)
        np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-6)
        assert model.explain(some)
    assert isinstance(model.findings_, list)
    assert model.add(new, labels).n_rows == len(labels)
    assert np.isfinite(model.predict_proba(rows)).all()


@pytest.mark.parametrize("preset", ["fast", "balanced", "best"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_one_negative_number(place, sparse, preset):
    X = numbers(sparse)
    X[place, 2] = -3.0
    rows, new = (csr_array(X), csr_array(X[:2])) if sparse else (X, X[:2])
    model = UntwinClassifier(preset=preset).fit(rows, LABELS)
    assert "naive Bayes" not in {candidate.name for candidate in model.candidates_ if candidate.score is not None}
    works(model, rows, new, LABELS[:2])


@pytest.mark.parametrize("value", [5.0, -5.0])
@pytest.mark.parametrize("place", PLACES)
def test_a_column_that_is_constant_but_for_one_row(place, value):
    """Without that row all standard scores are 0, and none is negative."""
    numbers = np.zeros(N)
    numbers[place] = value
    frame = pl.DataFrame({"number": numbers, "name": [f"name{row % 4}" for row in range(N)]})
    model = UntwinClassifier(encoder=TableEncoder(numeric="number", nominal="name")).fit(frame, LABELS)
    works(model, frame, frame[:2], LABELS[:2])
    assert model.score(frame, LABELS) > 0.9


class Turned(TransformerMixin, BaseEstimator):
    """Turns the sign of all rows if it has seen none with a number in the last column."""

    def fit(self, X, y=None):
        self.sign_ = 1 if X[:, -1].any() else -1
        return self

    def transform(self, X):
        return self.sign_ * X


def test_a_candidate_that_fails_on_some_fold_is_dropped_with_its_reason():
    """All rows together show no negative number; the training rows of the first fold do."""
    X = numbers(sparse=True)
    folds = np.arange(N) // 4 % 5
    X[:, 59] = folds == 0
    model = UntwinClassifier(cv=folds, encoder=Turned()).fit(X, LABELS)
    notes = {candidate.name: candidate.note for candidate in model.candidates_}
    assert "cannot take these rows: Negative values" in notes["naive Bayes"]
    assert {"linear SVM", "centroids"} <= {name for name, note in notes.items() if not note}
    assert notes["stack"].startswith("not better")  # it was tried without naive Bayes


def test_huge_numbers_have_a_report(tmp_path):
    model = UntwinClassifier(preset="fast").fit(csr_array(1e20 * numbers(sparse=True)), LABELS)
    assert model.curves_ is None
    assert write_report(model, tmp_path / "page.html").exists()
