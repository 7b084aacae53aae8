"""Weights that are kept answer as the models they were learnt by, and loading a model does not load what trains."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.svm import LinearSVC

from untwin.classify.experts import Job, fit_experts
from untwin.classify.linear import LinearSVM, LogisticModel, NaiveBayes


@pytest.fixture(params=[2, 5], ids=["two classes", "five classes"])
def rows(request):
    rng = np.random.default_rng(0)
    y = rng.integers(0, request.param, 200)
    X = rng.poisson(0.3 + (y[:, np.newaxis] == np.arange(40) % request.param))
    return csr_array(X.astype(np.float64)), np.array(["a", "b", "c", "d", "e"])[y]


def test_the_svm_is_scikit_learns(rows):
    X, y = rows
    ours = LinearSVM(C=0.5, tol=1e-9).fit(X, y)
    theirs = LinearSVC(C=0.5, tol=1e-9, max_iter=100_000, random_state=0).fit(X, y)
    assert ours.coef_.dtype == np.float32
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_logistic_regression_is_scikit_learns(rows):
    X, y = rows
    ours, theirs = LogisticModel(C=3.0).fit(X, y), LogisticRegression(C=3.0, max_iter=300).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_naive_bayes_is_scikit_learns(rows, alpha, dense):
    X, y = rows
    X = X.toarray() if dense else X
    ours, theirs = NaiveBayes(alpha=alpha).fit(X, y), MultinomialNB(alpha=alpha, fit_prior=False).fit(X, y)
    assert issparse(ours.weights_) is not dense
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_scoring_does_not_copy_the_weights(rows):
    model = LinearSVM().fit(*rows)
    assert model.weights_.flags.c_contiguous
    assert np.shares_memory(model.coef_, model.weights_)


def test_experts_are_the_same_whatever_the_number_of_threads(rows):
    X, y = rows
    codes = np.unique(y, return_inverse=True)[1]
    jobs = [Job(np.arange(len(y)) if start == 0 else np.arange(start, len(y)), codes[start:]) for start in range(6)]
    alone, beside = (fit_experts(LinearSVM(), X, jobs, n_jobs=n) for n in (1, 2))
    for one, other in zip(alone, beside, strict=True):
        np.testing.assert_array_equal(one.coef, other.coef)


def test_a_model_is_loaded_and_answers_without_what_trains(tmp_path):
    from untwin import UntwinClassifier

    texts = ["card has not arrived", "no card here", "card ordered", "machine ate it", "machine swallowed it", "stuck"]
    UntwinClassifier(preset="fast", cv=2).fit(texts, ["a"] * 3 + ["b"] * 3).save(tmp_path / "model")
    code = (
        "import sys; from untwin import UntwinClassifier; model = UntwinClassifier.load(sys.argv[1]); "
        "model.predict(['the machine']); print([name for name in sys.argv[2:] if name in sys.modules])"
    )
    heavy = [
        "sklearn.svm",
        "sklearn.naive_bayes",
        "sklearn.linear_model",
        "scipy.cluster.hierarchy",
        "untwin.classify.adaptive",
    ]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model"), *heavy], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_one_class_is_every_answer_of_logistic_regression():
    model = LogisticModel().fit(np.eye(3), ["only"] * 3)
    assert set(model.predict(np.eye(3))) == {"only"}


@pytest.mark.parametrize("made", [csr_array, np.asarray])
def test_the_complement_is_scikit_learns(made):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.4, size=(90, 30)).astype(float), np.arange(90) % 4
    ours = NaiveBayes(alpha=0.3, complement=True).fit(made(X), y)
    theirs = ComplementNB(alpha=0.3).fit(X, y)
    expected = X @ theirs.feature_log_prob_.T
    got = ours.decision_function(made(X))
    np.testing.assert_allclose(got - got[:, :1], expected - expected[:, :1], atol=1e-4)
    assert (ours.predict(made(X)) == theirs.predict(X)).all()


@pytest.mark.parametrize("made", [csr_array, np.asarray])
def test_the_complement_of_a_class_that_has_a_large_term_alone_has_finite_weights(made):
    """In single precision a large sum and the sum plus alpha are the same number."""
    X = np.array([[2e6, 1, 0], [2e6, 0, 3], [0, 5, 1], [0, 1, 2]])
    y = [0, 0, 1, 1]
    ours = NaiveBayes(complement=True).fit(made(X.astype(np.float32)), y)
    exact = NaiveBayes(complement=True).fit(made(X), y)
    for model in (ours, exact):
        weights = model.weights_.toarray() if issparse(model.weights_) else model.weights_
        assert np.isfinite(weights).all()
    np.testing.assert_allclose(ours.decision_function(made(X)), exact.decision_function(made(X)), rtol=1e-5)
    np.testing.assert_array_equal(ours.predict(made(X)), ComplementNB(alpha=0.05).fit(X, y).predict(X))
