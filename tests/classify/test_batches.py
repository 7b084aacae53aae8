"""`BatchLinearSVC` minimises what `LinearSVC` minimises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.svm import LinearSVC

from untwin.classify.batches import BatchLinearSVC


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    X = csr_array(random_array((300, 60), density=0.1, format="csr", random_state=rng))
    W = rng.standard_normal((60, 4))
    return X, (X @ W).argmax(axis=1)


def objective(model, X, y, C):
    """Sum of squared hinges of all one-vs-rest problems, and the penalty, the intercept's included (as liblinear's)."""
    margins = X @ model.coef_.T + model.intercept_
    signs = np.where(y[:, np.newaxis] == model.classes_[-margins.shape[1] :], 1.0, -1.0)
    loss = C * (np.maximum(0.0, 1.0 - signs * margins) ** 2).sum()
    return loss + ((model.coef_**2).sum() + (model.intercept_**2).sum()) / 2


@pytest.mark.parametrize("C", [0.3, 3.0])
@pytest.mark.parametrize("classes", [4, 2])
@pytest.mark.parametrize("as_dense", [False, True])
def test_many_passes_reach_the_minimum(rows, C, classes, as_dense):
    X, y = rows
    y = y % classes
    X = X.toarray() if as_dense else X
    exact = LinearSVC(C=C, tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)
    near = BatchLinearSVC(C=C, passes=400, step=0.3).fit(X, y)
    least = objective(exact, X, y, C)
    assert least <= objective(near, X, y, C) * (1 + 1e-6)
    assert objective(near, X, y, C) < 1.01 * least


def test_sparse_and_dense_agree(rows):
    X, y = rows
    sparse, dense = BatchLinearSVC(passes=300).fit(X, y), BatchLinearSVC(passes=300).fit(X.toarray(), y)
    assert (sparse.predict(X) == dense.predict(X.toarray())).mean() > 0.98


def test_a_term_that_nobody_has_weighs_nothing(rows):
    X, y = rows
    wide = csr_array((X.data, X.indices, X.indptr), shape=(300, 70))
    model = BatchLinearSVC().fit(wide, y)
    assert not model.coef_[:, 60:].any()
    np.testing.assert_array_equal(model.coef_[:, :60], BatchLinearSVC().fit(X, y).coef_)


def test_the_seed_decides(rows):
    X, y = rows
    one, same, other = (BatchLinearSVC(random_state=seed).fit(X, y).coef_ for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_one_class_is_refused(rows):
    with pytest.raises(ValueError, match="at least two classes"):
        BatchLinearSVC().fit(rows[0], np.zeros(300))
