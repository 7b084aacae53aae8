"""Several classifiers on shared folds: each says what `out_of_fold` hears from it in a pipeline, in any threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

from untwin import KNNClassifier, _progress, out_of_fold
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.linear import LinearSVM, NaiveBayes
from untwin.crossfit.folds import choose_folds
from untwin.crossfit.together import LEAST_SHARE, SharedFolds, aligned_scores, in_threads

MODELS = {
    "svm": LinearSVM(),
    "bayes": NaiveBayes(),
    "centroids": CentroidClassifier(),
    "neighbours": KNNClassifier(n_neighbors=7),
}


def counts(n, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    return csr_array(rng.poisson(0.2 + (np.arange(36) % n_classes == codes[:, None]))), codes


def shared(X, codes, preprocessing, n_threads=1, cv=4):
    folds, parts, _ = choose_folds(X, codes, cv)
    return SharedFolds(X, codes, codes.max() + 1, folds, parts, preprocessing, n_threads)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_each_model_says_what_it_says_in_a_pipeline(n_classes):
    X, codes = counts(150, n_classes)
    weights = TfidfTransformer()
    together = shared(X, codes, weights)
    for name, found in together.scores(MODELS).items():
        expected = out_of_fold(make_pipeline(weights, MODELS[name]), X, codes, cv=together.folds).scores
        if not hasattr(MODELS[name], "decision_function"):
            expected = np.log(np.maximum(expected, LEAST_SHARE / n_classes))
        np.testing.assert_allclose(found.scores, expected, rtol=1e-5, atol=1e-5)
        assert found.seconds >= 0


def test_without_preprocessing_rows_are_taken_as_they_are():
    X, codes = counts(90, 3)
    for rows in (X, X.toarray().astype(float)):
        together = shared(rows, codes, None)
        found = together.scores({"svm": LinearSVM()})["svm"].scores
        np.testing.assert_allclose(found, out_of_fold(LinearSVM(), rows, codes, cv=together.folds).scores, atol=1e-5)


def test_threads_change_nothing():
    X, codes = counts(200, 5)
    one, two, five = (shared(X, codes, TfidfTransformer(), n_threads=n, cv=5).scores(MODELS) for n in (1, 2, 5))
    for name in MODELS:
        np.testing.assert_array_equal(one[name].scores, two[name].scores)
        np.testing.assert_array_equal(one[name].scores, five[name].scores)


def test_a_row_of_a_class_that_is_never_held_out():
    """It is in every training part, and has no score of its own; others have one for its class."""
    X, codes = counts(61, 3)
    codes = np.where(np.arange(61) == 60, 3, codes)
    found = shared(X, codes, None).scores({"svm": LinearSVM()})["svm"].scores
    assert np.isnan(found[60]).all()
    assert np.isfinite(found[:60]).all()


def test_a_class_that_a_fold_does_not_know_is_out_of_the_question():
    X, codes = counts(60, 3)
    folds = np.where(codes == 2, -1, np.arange(60) % 2)
    parts = np.where(codes == 2, 0, folds)  # the rows of class 2 are those of fold 0, and are not asked about
    found = SharedFolds(X, codes, 3, folds, parts, None).scores({"svm": LinearSVM()})["svm"].scores
    assert np.isneginf(found[folds == 0, 2]).all()
    assert np.isfinite(found[folds == 1]).all()


class Fitted(TransformerMixin, BaseEstimator):
    """Refuses rows of the last column's number that it must not have seen; counts how often it is fitted."""

    times = 0

    def fit(self, X, y):
        Fitted.times += 1
        self.seen_ = set(X[:, -1].tolist())
        assert len(X) == len(y)
        return self

    def transform(self, X):
        return X[:, :-1]


def test_rows_are_prepared_once_a_fold_by_what_has_not_seen_them():
    X, codes = counts(80, 4)
    numbered = np.column_stack([X.toarray(), np.arange(80.0)])
    together = shared(numbered, codes, Fitted())
    Fitted.times = 0
    together.scores(MODELS)
    assert Fitted.times == len(together.numbers) == 4
    fold = together.prepare(1)
    assert fold.rows.tolist() == np.flatnonzero(together.folds == 1).tolist()
    assert fold.truth.tolist() == codes[fold.rows].tolist()
    np.testing.assert_array_equal(fold.train, numbered[together.parts != 1, :-1])
    np.testing.assert_array_equal(fold.codes, codes[together.parts != 1])


def test_probabilities_of_zero_are_small():
    X, codes = counts(40, 4)
    model = KNNClassifier(n_neighbors=1).fit(X, codes)
    scores = aligned_scores(model, X, 5)
    assert np.isneginf(scores[:, 4]).all()  # it is no class of this model
    assert scores[:, :4].min() == pytest.approx(np.log(LEAST_SHARE / 4))


def test_progress_is_told_by_fold_and_by_nobody_else():
    X, codes = counts(80, 4)
    for n_threads in (1, 3):
        told = []
        with _progress.listening(lambda *given, told=told: told.append(given)):
            shared(X, codes, None, n_threads=n_threads).scores(MODELS)
        assert told == [("svm, bayes, centroids, neighbours", done, 4) for done in range(1, 5)]


def test_threads_yield_in_order_and_raise():
    assert list(in_threads(lambda n: n * n, [3, 1, 2], 2)) == [9, 1, 4]
    names = set(in_threads(lambda n: threading.current_thread().name, [1, 2], 1))
    assert names == {threading.current_thread().name}

    def fail(n):
        raise ValueError(f"number {n}")

    for n_threads in (1, 2):
        with pytest.raises(ValueError, match="number 1"):
            list(in_threads(fail, [1, 2], n_threads))


def test_a_fold_that_is_prepared_is_not_prepared_again():
    X, codes = counts(80, 4)
    numbered = np.column_stack([X.toarray(), np.arange(80.0)])
    together = shared(numbered, codes, Fitted())
    expected, known = together.scores(MODELS), together.prepare(2)
    Fitted.times = 0
    found = together.scores(MODELS, known)
    assert Fitted.times == 3
    for name in MODELS:
        np.testing.assert_array_equal(found[name].scores, expected[name].scores)
