"""Going on from what was learnt: the same optimum as from nothing, and only what changed is trained again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, hstack
from tests.classify.linear.conftest import made_up_rows

from untwin.classify.linear import LinearSVM
from untwin.classify.linear.resume import Origin

EXACT = {"passes": None, "tol": 1e-4, "resumable": True, "solver": "descent"}


def origin_of(rows, before, after, *, same_rows=True):
    """Return where the rows of labels `after` come from; `rows` are their numbers among those of labels `before`."""
    old, codes = np.unique(before, return_inverse=True)
    new = np.unique(after)
    place = np.minimum(np.searchsorted(old, new), len(old) - 1)
    classes = np.where(old[place] == new, place, -1)
    return Origin(rows, np.where(rows < 0, -1, codes[rows]), classes, same_rows)


def go_on(svm, X, y, rows, before, **how):
    origin = origin_of(rows, before, y, **how)
    return LinearSVM(**svm.get_params()).resume(X, y, svm.point_, origin, len(svm.classes_))


def assert_same_model(found, expected, atol=5e-3):
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    for name in ("weights_", "intercept_"):
        one, other = (np.asarray(getattr(svm, name)) for svm in (found, expected))
        np.testing.assert_allclose(one, other, atol=atol)


@pytest.fixture
def rows():
    X, y = made_up_rows(600, 12)
    return X, y, LinearSVM(**EXACT).fit(X, y)


def test_dual_variables_say_what_the_weights_are(rows):
    X, y, svm = rows
    signs = np.where(y[:, np.newaxis] == np.arange(12), 1, -1)
    products = signs * svm.point_.alpha.toarray().T
    np.testing.assert_allclose(X.T @ products, svm.weights_, atol=1e-4)
    np.testing.assert_allclose(products.sum(axis=0), svm.intercept_, atol=1e-4)


def test_where_nothing_changes_nothing_is_learnt(rows):
    X, y, svm = rows
    again = go_on(svm, X, y, np.arange(600), y)
    assert_same_model(again, svm, atol=1e-5)
    np.testing.assert_array_equal(again.point_.alpha.toarray(), svm.point_.alpha.toarray())


def test_a_corrected_label_moves_two_classes(rows):
    X, y, svm = rows
    corrected = np.where(np.arange(600) == 7, (y + 1) % 12, y)
    again = go_on(svm, X, corrected, np.arange(600), y)
    moved = np.flatnonzero(np.abs(again.weights_ - svm.weights_).max(axis=0) > 1e-4)
    assert moved.tolist() == sorted({int(y[7]), int(corrected[7])})
    assert_same_model(again, LinearSVM(**EXACT).fit(X, corrected))


def test_a_row_that_goes_moves_the_classes_that_leant_on_it(rows):
    X, y, svm = rows
    leant = svm.point_.alpha.toarray() > 0
    row = int(leant.sum(axis=0).argmin())
    kept = np.delete(np.arange(600), row)
    again = go_on(svm, X[kept], y[kept], kept, y)
    moved = np.abs(again.weights_ - svm.weights_).max(axis=0) > 1e-4
    np.testing.assert_array_equal(moved, leant[:, row])
    assert not moved.all()


@pytest.mark.parametrize("n_classes", [2, 3, 12])
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), same=st.booleans())
def test_the_optimum_is_that_of_a_fit_from_nothing(n_classes, seed, same):
    """Rows go, come and change their labels; classes come and go; columns come; numbers of rows change."""
    rng = np.random.default_rng(seed)
    X, y = made_up_rows(120, n_classes, n_terms=80, seed=seed)
    svm = LinearSVM(**EXACT).fit(X[:100], y[:100])
    kept = rng.permutation(100)[: rng.integers(80, 101)]
    rows = np.concatenate([kept, np.full(rng.integers(0, 21), -1)])
    now = csr_array(hstack([X[np.where(rows < 0, 100 + np.arange(len(rows)) % 20, rows)], csr_array((len(rows), 5))]))
    labels = y[np.where(rows < 0, 100 + np.arange(len(rows)) % 20, rows)]
    changed = rng.random(len(labels)) < 0.05
    labels = np.where(changed, rng.integers(0, n_classes + 2, len(labels)), labels)
    if not same:
        now.data *= np.float32(0.9)
    if len(np.unique(labels)) < 2:
        return
    again = go_on(svm, now, labels, rows, y[:100], same_rows=same)
    assert_same_model(again, LinearSVM(**EXACT).fit(now, labels))
    assert again.point_.alpha.shape == (len(np.unique(labels)) if len(np.unique(labels)) > 2 else 1, len(labels))


def test_packed_weights_go_on_as_dense_ones(monkeypatch, rows):
    X, y, _ = rows
    monkeypatch.setattr("untwin.classify.linear.svm.MOST_DENSE", 0)
    packed = LinearSVM(**EXACT).fit(X, y)
    corrected = np.where(np.arange(600) < 3, (y + 1) % 12, y)
    again, expected = go_on(packed, X, corrected, np.arange(600), y), LinearSVM(**EXACT).fit(X, corrected)
    assert isinstance(again.weights_, csr_array)
    np.testing.assert_allclose(again.weights_.toarray(), expected.weights_.toarray(), atol=2e-2)
    assert (again.predict(X) == expected.predict(X)).mean() > 0.99


def test_dense_rows_begin_from_the_weights(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10)).astype(np.float32)
    y = (X[:, :4] + rng.normal(size=(300, 4))).argmax(axis=1)
    svm = LinearSVM(resumable=True).fit(X, y)
    assert svm.point_.alpha is None
    corrected = np.where(np.arange(300) == 5, (y + 1) % 4, y)
    again = go_on(svm, X, corrected, np.arange(300), y)
    np.testing.assert_allclose(again.weights_, LinearSVM().fit(X, corrected).weights_, atol=1e-3)
    started = []
    monkeypatch.setattr(
        "untwin.classify.linear.svm.one_against_rest",
        lambda *a, near, **how: (started.append(near), np.zeros((11, 4)))[1],
    )
    go_on(svm, X, corrected, np.arange(300), y)
    np.testing.assert_array_equal(started[0][:-1], svm.weights_)


def test_after_many_changes_the_weights_are_those_of_a_fit(rows):
    X, y, svm = rows
    corrected = np.where(np.arange(600) % 50 == 0, (y + 1) % 12, y)
    again = go_on(svm, X, corrected, np.arange(600), y)
    np.testing.assert_array_equal(again.weights_, LinearSVM(**EXACT).fit(X, corrected).weights_)
