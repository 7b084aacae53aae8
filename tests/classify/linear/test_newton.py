"""Newton's method finds the minimum that liblinear finds, for dense rows of any shape and scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from untwin.classify.linear import LinearSVM, newton


def blobs(n, m, n_classes, dtype=np.float64, seed=0):
    """Return overlapping classes, of which the first is ten times as large as the last."""
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.geomspace(10, 1, n_classes) / np.geomspace(10, 1, n_classes).sum())
    X = rng.normal(size=(n_classes, m))[y] + 2 * rng.normal(size=(n, m))
    return (X / np.sqrt(m)).astype(dtype), y


def loss(X, y, classes, coef, intercept, C):
    """Return what each class's weights cost, as `LinearSVC` defines it."""
    T = np.where(y[:, np.newaxis] == classes, 1, -1)
    short = np.maximum(1 - T * (X @ coef.T + intercept), 0)
    return (np.square(coef).sum(axis=1) + np.square(intercept)) / 2 + C * np.square(short).sum(axis=0)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", [(300, 20), (60, 90)], ids=["tall", "wide"])
@pytest.mark.parametrize("n_classes", [2, 6])
def test_the_minimum_is_liblinears(shape, n_classes, C):
    X, y = blobs(*shape, n_classes)
    ours = LinearSVM(C=C, tol=1e-8).fit(X, y)
    theirs = LinearSVC(C=C, tol=1e-8, max_iter=1_000_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4 * np.abs(theirs.coef_).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_weights_nearby_cost_less(dtype):
    X, y = blobs(400, 30, 5, dtype)
    model = LinearSVM(C=3.0).fit(X, y)
    best = loss(X, y, model.classes_, model.coef_, model.intercept_, 3.0)
    rng = np.random.default_rng(1)
    for size in (1e-2, 1e-1):
        other = model.coef_ + size * rng.normal(size=model.coef_.shape)
        assert (loss(X, y, model.classes_, other, model.intercept_, 3.0) > best).all()


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_columns_of_all_scales_are_no_trouble(load):
    """Where liblinear does not converge; single precision would not do either."""
    X, y = load(return_X_y=True)
    model = LinearSVM().fit(X.astype(np.float32), y)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("size", [1e9, 1e12])
@pytest.mark.parametrize("step", [1, 10], ids=["tall", "few rows"])
def test_columns_that_only_rounding_tells_apart_stop_nothing(size, step):
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.full((len(X), 1), size), size * X[:, :1]])
    model = LinearSVM().fit(X[::step], y[::step])
    assert np.isfinite(model.coef_).all()
    assert model.score(X, y) > 0.85


def test_classes_in_turn_are_classes_at_once(monkeypatch):
    X, y = blobs(200, 10, 5)
    at_once = LinearSVM().fit(X, y)
    monkeypatch.setattr(newton, "NUMBERS_AT_ONCE", 2 * len(X))
    np.testing.assert_allclose(LinearSVM().fit(X, y).coef_, at_once.coef_, atol=1e-4)


def test_threads_change_nothing():
    X, y = blobs(600, 40, 5, np.float32)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(LinearSVM().fit(X, y).coef_)
    np.testing.assert_array_equal(*found)


def test_nearly_dense_is_dense_and_the_rest_is_liblinears():
    X, y = blobs(100, 10, 3)
    np.testing.assert_array_equal(LinearSVM().fit(csr_array(X), y).coef_, LinearSVM().fit(X, y).coef_)
    thin = csr_array(np.where(np.arange(X.size).reshape(X.shape) % 10, 0, X))
    assert not newton.suits(thin)
    assert newton.suits(X)
    wide = np.broadcast_to(np.zeros(1), (newton.LARGEST_SYSTEM,) * 2)
    assert not newton.suits(wide)


def test_rows_of_zeros_and_classes_of_one_row():
    X, y = np.zeros((6, 3)), np.array([0, 1, 1, 2, 2, 2])
    assert (LinearSVM().fit(X, y).predict(X) == 2).all()
