"""`LinearSVM` with weights of rows: a weight is so many copies of the row, and none of it is a row left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

from untwin.classify.linear import LinearSVM


@pytest.fixture(scope="module")
def weighted():
    rng = np.random.default_rng(0)
    X, y, weights = rng.random((60, 8)), rng.integers(0, 3, 60), rng.integers(0, 4, 60)
    return X, y, weights


@pytest.mark.parametrize("C", [1.0, 0.1, 1e-3])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_weight_is_so_many_copies(weighted, kind, C):
    X, y, weights = weighted
    svm = LinearSVM(C=C, passes=None, tol=1e-6)
    found = svm.fit(kind(X), y, sample_weight=weights).decision_function(X)
    copies = kind(np.repeat(X, weights, axis=0)), np.repeat(y, weights)
    np.testing.assert_allclose(found, svm.fit(*copies).decision_function(X), atol=1e-3)
    theirs = LinearSVC(C=C, tol=1e-8, max_iter=1_000_000).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(found, theirs.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("C", [1.0, 0.1, 1e-6])
def test_rows_without_weight_are_not_there(weighted, C):
    X, y, _ = weighted
    weights = np.where(y == 2, 0.0, 1.0)  # a whole class
    model = LinearSVM(C=C).fit(csr_array(X), y, sample_weight=weights)
    assert np.isfinite(model.decision_function(X)).all()
    assert 2 not in model.predict(X)
