"""The SVM of sparse rows against liblinear, which solves the same problem class by class."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, vstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from untwin.classify.linear import LinearSVM, svm
from untwin.classify.linear.newton import suits


def losses(model, X, y, C):
    """Return what each class's weights cost, as `LinearSVC` defines it."""
    coef, intercept = np.atleast_2d(model.coef_).astype(np.float64), np.ravel(model.intercept_).astype(np.float64)
    names = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    T = np.where(y[:, np.newaxis] == names, 1, -1)
    short = np.maximum(1 - T * (X @ coef.T + intercept), 0)
    return (np.square(coef).sum(axis=1) + np.square(intercept)) / 2 + C * np.square(short).sum(axis=0)


def oracle(C):
    return LinearSVC(C=C, tol=1e-6, max_iter=100_000, random_state=0)


def assert_alike(X, y, C):
    """Run both to tolerance."""
    assert not suits(X)  # else Newton would be asked
    ours, theirs = LinearSVM(C=C, passes=None, tol=1e-3).fit(X, y), oracle(C).fit(X, y)
    least = losses(theirs, X, y, C)
    assert (losses(ours, X, y, C) / least - 1).max() < 0.001
    assert (ours.predict(X) == theirs.predict(X)).mean() >= 0.995


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("n_classes", [2, 5, 70, 150])
def test_run_to_tolerance_it_is_liblinears(made_up, n_classes, C):
    assert_alike(*made_up(1200, n_classes), C)


@pytest.fixture(scope="module")
def banking(real_data):
    """Words of training rows of Banking77: half to learn from, half held out."""
    table = pl.read_parquet(real_data / "text" / "banking77.parquet").filter(pl.col("split") == "train")
    table = table.sample(6000, seed=0)
    X = TfidfVectorizer(sublinear_tf=True, dtype=np.float32).fit_transform(table["text"])
    y = table["label"].to_numpy().astype(str)
    return csr_array(X[:3000]), y[:3000], csr_array(X[3000:]), y[3000:]


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_run_to_tolerance_it_is_liblinears_on_real_words(banking, C):
    assert_alike(*banking[:2], C)


def assert_no_worse(X, y, X_new, y_new, record):
    """Compare the default number of passes with liblinear on held-out rows; print how far it is from the minimum."""
    ours, theirs = LinearSVM().fit(X, y), oracle(1.0).fit(X, y)
    gap = losses(ours, X, y, 1.0) / losses(theirs, X, y, 1.0) - 1
    gain = (ours.predict(X_new) == y_new) * 1.0 - (theirs.predict(X_new) == y_new)
    record("largest gap", f"{gap.max():.2%}")
    record("points gained", f"{100 * gain.mean():.2f}")
    sys.stdout.write(f"{ours.passes} passes: {gap.max():.2%} above the minimum, {100 * gain.mean():+.2f} points\n")
    assert gain.mean() >= -1.96 * gain.std() / np.sqrt(len(gain))


@pytest.mark.parametrize("n_classes", [2, 5, 70, 150])
def test_few_passes_answer_as_well(made_up, n_classes, record_property):
    assert_no_worse(*made_up(1500, n_classes), *made_up(1500, n_classes, seed=5), record_property)


def test_few_passes_answer_as_well_on_real_words(banking, record_property):
    assert_no_worse(*banking, record_property)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_row_of_weight_two_is_the_row_twice(made_up, n_classes):
    X, y = made_up(400, n_classes)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weights)
    exact = LinearSVM(passes=None, tol=1e-5)
    weighted = exact.fit(X, y, sample_weight=weights).decision_function(X)
    np.testing.assert_allclose(weighted, exact.fit(X[again], y[again]).decision_function(X), atol=1e-3)


def test_a_row_of_weight_zero_is_left_out(made_up):
    X, y = made_up(400, 5)
    kept = np.arange(len(y)) % 3 > 0
    weighted, without = LinearSVM().fit(X, y, sample_weight=kept * 1.0), LinearSVM().fit(X[kept], y[kept])
    np.testing.assert_array_equal(weighted.weights_, without.weights_)
    alone = LinearSVM().fit(X, y, sample_weight=(y == 3) * 1.0)
    assert alone.classes_.tolist() == [3]


def test_weights_below_zero_are_refused(made_up):
    X, y = made_up(50, 2)
    with pytest.raises(ValueError, match="sample_weight"):
        LinearSVM().fit(X, y, sample_weight=np.full(50, -1.0))


def test_one_class_is_every_answer(made_up):
    X, _ = made_up(30, 2)
    model = LinearSVM().fit(X, ["only"] * 30)
    assert set(model.predict(X)) == {"only"}
    assert model.decision_function(X).shape == (30, 1)


def test_an_empty_row_and_a_term_of_one_row(made_up):
    X, y = made_up(300, 4)
    empty, alone = csr_array((1, 602), dtype=np.float32), csr_array(np.eye(1, 602, 600, dtype=np.float32))
    X = csr_array(vstack([csr_array((X.data, X.indices, X.indptr), shape=(300, 602)), empty, alone]))
    model = LinearSVM().fit(X, np.append(y, [1, 2]))
    assert np.isfinite(model.weights_).all()
    np.testing.assert_array_equal(model.decision_function(empty)[0], model.intercept_)
    assert model.predict(alone) == 2
    assert (np.sign(model.weights_[600]) == [-1, -1, 1, -1]).all()
    assert not model.weights_[601].any()


def test_types_and_order_of_indices_change_nothing(made_up):
    X, y = made_up(300, 5)
    model = LinearSVM().fit(X, y)
    wide, doubled, backwards = X.copy(), X.astype(np.float64), X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        backwards.indices[start:stop] = X.indices[start:stop][::-1]
        backwards.data[start:stop] = X.data[start:stop][::-1]
    backwards.has_sorted_indices = False
    np.testing.assert_array_equal(LinearSVM().fit(wide, y).weights_, model.weights_)
    np.testing.assert_array_equal(LinearSVM().fit(doubled, y).weights_, model.weights_)
    np.testing.assert_allclose(LinearSVM().fit(backwards, y).weights_, model.weights_, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(backwards), model.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 5, 150])
def test_packed_weights_answer_like_dense_ones(made_up, monkeypatch, n_classes):
    X, y = made_up(1500, n_classes)
    X_new, _ = made_up(1500, n_classes, seed=5)
    dense = LinearSVM().fit(X, y)
    monkeypatch.setattr(svm, "MOST_DENSE", 100)
    packed = LinearSVM(n_jobs=2).fit(X, y)
    assert packed.weights_.nnz < np.count_nonzero(dense.weights_)
    assert packed.weights_.dtype == np.float32
    assert packed.coef_.shape == dense.coef_.shape
    assert (packed.predict(X_new) == dense.predict(X_new)).mean() > 0.98
    np.testing.assert_allclose(packed.decision_function(X_new.toarray()), packed.decision_function(X_new), atol=1e-5)


def test_loss_of_zero_weights(made_up):
    """The measure of these tests: without weights, every row falls short by one."""
    X, y = made_up(100, 5)
    model = LinearSVM().fit(X, y)
    model.weights_, model.intercept_ = 0 * model.weights_, 0 * model.intercept_
    np.testing.assert_allclose(losses(model, X, y, 0.3), 30.0)
