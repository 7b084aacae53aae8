"""`StackedClassifier` against a literal computation, and its promises: no leak, no lost class, quick updates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline

from untwin import KNNClassifier, out_of_fold
from untwin.answer.probabilities import log_probabilities
from untwin.calibrate.temperature import fit_temperature
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.linear import LinearSVM, NaiveBayes
from untwin.classify.stack import LEAST_FEATURE, FirstStageAnswers, StackedClassifier, second_stage, stack_features
from untwin.crossfit.together import LEAST_SHARE
from untwin.represent.term_weights import TermWeights

STAGES = [("svm", LinearSVM(C=1e-3)), ("bayes", NaiveBayes()), ("near", KNNClassifier(n_neighbors=5))]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    names = np.array([f"digit {number}" for number in range(10)])
    return X[:600], names[y[:600]], X[600:900], names[y[600:900]]


def literal_scores(model, X, y, folds):
    """Return scores out of fold by scikit-learn; probabilities as logarithms, none of them zero."""
    method = "decision_function" if hasattr(model, "decision_function") else "predict_proba"
    S = cross_val_predict(model, X, y, cv=PredefinedSplit(folds), method=method)
    if method == "predict_proba":
        S = np.log(np.maximum(S, LEAST_SHARE / S.shape[1]))
    return np.column_stack([-S, S]) if S.ndim == 1 else S


def literal_features(scores, temperatures):
    roots = [np.sqrt(softmax(S.astype(np.float64) / T, axis=1)) for S, T in zip(scores, temperatures, strict=True)]
    return np.hstack([np.where(part > LEAST_FEATURE, part, 0) for part in roots])


@pytest.mark.parametrize("n_classes", [10, 2])
def test_the_second_stage_learns_from_answers_out_of_fold_only(digits, n_classes):
    X, y, X_new, _ = digits
    some = np.isin(y, np.unique(y)[:n_classes])
    X, y = X[some], y[some]
    folds = np.arange(len(y)) % 4
    stack = StackedClassifier(STAGES, C=0.5, cv=folds).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    scores = [literal_scores(model, X, y, folds).astype(np.float32) for _, model in STAGES]
    temperatures = [fit_temperature(part, codes, cautious=True) for part in scores]
    np.testing.assert_allclose(stack.temperatures_, temperatures, rtol=1e-4)
    features = literal_features(scores, temperatures)
    np.testing.assert_allclose(stack_of(scores, temperatures).toarray(), features, atol=1e-5)
    second = second_stage(0.5, n_classes).fit(csr_array(features.astype(np.float32)), codes)
    np.testing.assert_allclose(stack.second_.weights_, second.weights_, atol=1e-3)

    new = []
    for _, model in STAGES:
        fitted = clone(model).fit(X, y)
        if hasattr(fitted, "decision_function"):
            S = fitted.decision_function(X_new)
        else:
            S = np.log(np.maximum(P := fitted.predict_proba(X_new), LEAST_SHARE / P.shape[1]))
        new.append(np.column_stack([-S, S]) if S.ndim == 1 else S)
    said = np.unique(y)[second.predict(csr_array(literal_features(new, temperatures).astype(np.float32)))]
    assert (stack.predict(X_new) == said).mean() > 0.99


def stack_of(scores, temperatures):
    return stack_features([log_probabilities(S, T) for S, T in zip(scores, temperatures, strict=True)])


def test_it_is_better_than_its_parts_on_digits(digits):
    X, y, X_new, y_new = digits
    stages = [("svm", LinearSVM(C=1e-3)), ("centroids", CentroidClassifier()), ("bayes", NaiveBayes())]
    stack = StackedClassifier(stages).fit(X, y)
    alone = [clone(model).fit(X, y).score(X_new, y_new) for _, model in stages]
    assert stack.score(X_new, y_new) >= max(alone)


class Remembers(ClassifierMixin, BaseEstimator):
    """Sure of the label of each row that it was trained on, and of nothing else."""

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.labels_ = {row.tobytes(): code for row, code in zip(X, codes, strict=True)}
        return self

    def decision_function(self, X):
        S = np.zeros((len(X), len(self.classes_)))
        for row, x in enumerate(X):
            if x.tobytes() in self.labels_:
                S[row, self.labels_[x.tobytes()]] = 9.0
        return S


def test_whoever_knows_training_rows_by_heart_is_not_believed():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4
    X = rng.normal(size=(200, 6)) + 2 * np.eye(4, 6)[y]
    stack = StackedClassifier([("svm", LinearSVM()), ("parrot", Remembers())]).fit(X, y)
    parrot = stack.second_.weights_[4:]
    assert np.abs(parrot - parrot.mean(axis=0)).max() < 1e-5  # out of fold it says the same of every class
    X_new = rng.normal(size=(200, 6)) + 2 * np.eye(4, 6)[y]
    assert stack.score(X_new, y) > LinearSVM().fit(X, y).score(X_new, y) - 0.03


def shuffled(seed, n_columns):
    rng = np.random.default_rng(seed)
    codes = np.arange(240) % 4
    return np.abs(rng.normal(size=(240, n_columns)) + 3 * np.eye(4, n_columns)[codes]), rng.permutation(codes)


def require_chance(accuracies):
    error = np.std(accuracies, ddof=1) / len(accuracies) ** 0.5
    assert abs(np.mean(accuracies) - 0.25) <= 3 * error


def test_with_shuffled_labels_it_is_at_chance():
    stages = [("svm", LinearSVM()), ("bayes", NaiveBayes()), ("centroids", CentroidClassifier())]
    stack = StackedClassifier(stages)
    require_chance([out_of_fold(stack, *shuffled(seed, 12)).confusion.accuracy for seed in range(12)])


def test_a_class_of_one_row_can_still_be_answered():
    rng = np.random.default_rng(0)
    y = np.append(np.repeat(["a", "b"], 30), "rare")
    X = rng.normal(scale=0.3, size=(61, 3)) + 3 * np.eye(3)[np.unique(y, return_inverse=True)[1]]
    stack = StackedClassifier([("svm", LinearSVM()), ("centroids", CentroidClassifier())]).fit(X, y)
    assert stack.second_ is not None
    assert stack.classes_.tolist() == ["a", "b", "rare"]
    assert stack.predict([[0.0, 0.0, 3.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]]).tolist() == ["rare", "a", "b"]


def test_where_nothing_can_be_held_out_the_first_one_answers_alone():
    X, y = np.eye(4) + 0.1, np.array(["a", "b", "c", "d"])
    stack = StackedClassifier([("svm", LinearSVM()), ("centroids", CentroidClassifier())]).fit(X, y)
    assert stack.second_ is None
    alone = LinearSVM().fit(X, y)
    np.testing.assert_allclose(stack.decision_function(X), alone.decision_function(X))
    assert stack.predict(X).tolist() == alone.predict(X).tolist() == y.tolist()


def test_two_classes_have_one_score(digits):
    X, y, X_new, y_new = (part[np.isin(labels, ["digit 3", "digit 8"])] for part, labels in pairs(digits))
    stack = StackedClassifier(STAGES).fit(X, y)
    scores = stack.decision_function(X_new)
    assert scores.shape == (len(X_new),)
    np.testing.assert_array_equal(stack.predict(X_new), np.where(scores > 0, "digit 8", "digit 3"))
    assert stack.score(X_new, y_new) > 0.9


def pairs(digits):
    X, y, X_new, y_new = digits
    return (X, y), (y, y), (X_new, y_new), (y_new, y_new)


def test_one_class_is_every_answer():
    X = np.random.default_rng(0).random((6, 3))
    stack = StackedClassifier([("svm", LinearSVM()), ("bayes", NaiveBayes())]).fit(X, ["only"] * 6)
    assert stack.predict(X).tolist() == ["only"] * 6


def counted():
    rng = np.random.default_rng(0)
    y = np.arange(160) % 4
    return csr_array(rng.poisson(0.3 + 1.5 * (np.arange(40) % 4 == y[:, None]))), y


def test_rows_are_prepared_inside_each_fold():
    X, y = counted()
    stages = [("svm", LinearSVM()), ("centroids", CentroidClassifier())]
    weights = TfidfTransformer(sublinear_tf=True)
    found = StackedClassifier(stages).answers_out_of_fold(X, y, weights)
    piped = StackedClassifier([(name, make_pipeline(weights, model)) for name, model in stages])
    same = piped.answers_out_of_fold(X, y)
    np.testing.assert_allclose(found.temperatures, same.temperatures, rtol=1e-6)
    np.testing.assert_allclose(found.features.toarray(), same.features.toarray(), atol=1e-6)
    assert not hasattr(weights, "idf_")


class Upper(TransformerMixin, BaseEstimator):
    """Turns texts into the counts of two letters; every fold must fit one of its own."""

    def fit(self, X, y=None):
        self.seen_ = list(X)
        return self

    def transform(self, X):
        return np.array([[text.count("a"), text.count("b")] for text in X], dtype=float)


def test_rows_that_are_still_to_be_prepared_may_be_anything():
    texts, y = [f"{'a' * (row % 2)}{'b' * (1 - row % 2)} {row}" for row in range(20)], np.arange(20) % 2
    stack, upper = StackedClassifier([("svm", LinearSVM()), ("centroids", CentroidClassifier())]), Upper()
    found = stack.answers_out_of_fold(texts, y, upper)
    assert found.codes.tolist() == y.tolist()
    assert not hasattr(upper, "seen_")
    rows = upper.fit(texts).transform(texts)
    assert stack.fit(rows, y, answers=found).predict(rows).tolist() == y.tolist()


def test_known_answers_of_the_first_stage_are_used_as_they_are():
    """The product has them already, of all rows or of a sample."""
    X, y = counted()
    stages = [("svm", LinearSVM()), ("bayes", NaiveBayes())]
    folds = np.arange(160) // 4 % 5
    scores = [literal_scores(model, X, y, folds).astype(np.float32) for _, model in stages]
    codes = np.unique(y, return_inverse=True)[1]
    warm = np.array([fit_temperature(S, codes, cautious=True) for S in scores])
    own = StackedClassifier(stages, cv=folds).fit(X, y)
    given = StackedClassifier(stages).fit(X, y, answers=FirstStageAnswers(warm, stack_of(scores, warm), codes))
    np.testing.assert_allclose(given.decision_function(X), own.decision_function(X), atol=1e-5)


def test_threads_change_nothing():
    X, y = counted()
    stages = [("svm", LinearSVM()), ("bayes", NaiveBayes())]
    X = TermWeights().fit_transform(X)
    a, b = (StackedClassifier(stages, n_jobs=n).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_an_empty_row_is_answered():
    X, y = counted()
    stack = StackedClassifier([("svm", LinearSVM()), ("bayes", NaiveBayes())]).fit(TermWeights().fit_transform(X), y)
    assert np.isfinite(stack.decision_function(csr_array((1, 40), dtype=np.float32))).all()
