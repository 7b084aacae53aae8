from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.stats import binom
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from untwin import Confusion, ConfusionGraph, _progress, out_of_fold
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.graph.findings import Change

DIGITS = load_digits(return_X_y=True)
APPROACHES = ["one-vs-rest", "max-wins", "verify"]


def digits(n=600):
    X, y = DIGITS
    return csr_array(X[:n]), y[:n], X[n:], y[n:]


@pytest.mark.parametrize("approach", APPROACHES)
@pytest.mark.parametrize("candidates", [3, None])
def test_better_than_the_base_with_honest_probabilities(approach, candidates):
    X, y, new, truth = digits()
    model = ConfusionGraphClassifier(approach=approach, candidates=candidates, threshold=0.01).fit(X, y)
    log_p, predicted = model.decision_function(new), model.predict(new)
    np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_proba(new), np.exp(log_p))
    np.testing.assert_array_equal(model.classes_[log_p.argmax(axis=1)], predicted)
    accuracy = (predicted == truth).mean()
    assert accuracy > model.base_.score(new, truth)
    assert abs(np.exp(log_p.max(axis=1)).mean() - accuracy) < 0.1


def test_names_and_numbers_are_classes_and_keep_their_type():
    X, y, new, _ = digits(300)
    names = np.array([f"digit {code}" for code in range(10)])
    by_name, by_number = (ConfusionGraphClassifier().fit(X, labels) for labels in (names[y], y))
    np.testing.assert_array_equal(by_name.predict(new), names[by_number.predict(new)])
    assert by_name.predict(new).dtype == names.dtype
    assert by_number.predict(new).dtype == y.dtype


@pytest.mark.parametrize("approach", APPROACHES)
def test_sparse_or_dense_and_threads_change_nothing(approach):
    X, y, new, _ = digits(300)
    expert = LinearSVC(dual=False, tol=1e-8)
    model = ConfusionGraphClassifier(expert=expert, approach=approach, threshold=0.0)
    expected = model.fit(X, y).decision_function(csr_array(new))
    np.testing.assert_array_equal(model.set_params(n_jobs=2).fit(X, y).decision_function(csr_array(new)), expected)
    np.testing.assert_allclose(model.fit(X.toarray(), y).decision_function(new), expected, atol=1e-3)


def test_what_it_reports():
    X, y, _, _ = digits()
    model = ConfusionGraphClassifier(candidates=4, threshold="sweep").fit(X, y)
    held_out = out_of_fold(CentroidClassifier(), X, y)
    assert model.confusion_ == held_out.confusion
    assert model.graph_ == ConfusionGraph.from_confusion(held_out.confusion, model.threshold_ or 0.0)
    best = np.argsort(-held_out.scores, axis=1)[:, :4]
    assert model.sweep_[0].threshold is None
    assert model.sweep_[0].upper_bound == (best == y[:, None]).any(axis=1).mean()
    assert model.sweep_[-1] == (0.5, 0, 1.0, held_out.confusion.accuracy)
    assert model.n_experts_ == 10


def test_sweep_takes_the_largest_threshold_that_loses_next_to_nothing():
    X, y, _, _ = digits()
    model = ConfusionGraphClassifier(approach="verify").fit(X, y)
    accuracy, rows = model.confusion_.accuracy, model.sweep_
    enough = [row for row in rows if row.upper_bound - accuracy >= 0.99 * (rows[0].upper_bound - accuracy)]
    assert (model.threshold_, model.upper_bound_) == (enough[-1].threshold, enough[-1].upper_bound)
    assert 0 < len(enough) < len(rows)


def test_changes_are_counted_on_rows_that_nobody_has_seen():
    X, y, _, _ = digits()
    model = ConfusionGraphClassifier(threshold=None, candidates=3).fit(X, y)
    held_out = out_of_fold(CentroidClassifier(), X, y)
    first = held_out.folds == 0
    base_right = (held_out.predictions[first] == y[first]).sum()
    counts = pl.DataFrame(model.changes_, schema=Change._fields, orient="row").select("corrected", "broke").sum()
    corrected, broke = counts.row(0)
    assert 0 < corrected <= first.sum() - base_right
    assert broke <= base_right
    gains = [change.corrected - change.broke for change in model.changes_]
    assert gains == sorted(gains, reverse=True)
    assert all(change.predicted != change.became for change in model.changes_)


@pytest.mark.parametrize("threshold", [None, 0.0])
def test_shuffled_labels_leave_nothing_to_learn(threshold):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (1500, 30)).astype(float), rng.integers(0, 5, 1500)
    model = ConfusionGraphClassifier(threshold=threshold, candidates=3).fit(X, y)
    low, high = binom.interval(0.999, len(y), 3 / 5)
    assert low <= model.upper_bound_ * len(y) <= high
    held_out = out_of_fold(CentroidClassifier(), X, y)
    first = held_out.folds == 0
    right = (held_out.predictions[first] == y[first]).sum()
    right += sum(change.corrected - change.broke for change in model.changes_)
    low, high = binom.interval(0.999, first.sum(), 1 / 5)
    assert low <= right <= high


def test_classes_with_one_row_and_classes_that_nobody_is_taken_for():
    X, y, new, _ = digits(200)
    far = np.zeros((12, 64))
    far[:11, 0], far[11, 7] = 50.0, 99.0  # a corner that is empty in all digits, and a class of a single row
    far[:11, 1:4] = np.random.default_rng(0).uniform(0, 1, (11, 3))
    model = ConfusionGraphClassifier(candidates=2).fit(np.vstack([X.toarray(), far]), [*y, *[10] * 11, 11])
    np.testing.assert_array_equal(model.predict(far), [10] * 11 + [11])
    assert set(model.predict(new)) <= set(range(12))
    assert model.confusion_.counts.sum() == 211


def test_two_classes():
    X, y, new, truth = digits()
    model = ConfusionGraphClassifier().fit(X, y > 4)
    decision = model.decision_function(new)
    np.testing.assert_array_equal(model.predict(new), decision > 0)
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], 1 / (1 + np.exp(-decision)))
    assert model.score(new, truth > 4) > 0.8


def test_any_classifier_is_base_or_expert():
    X, y, new, truth = digits()
    model = ConfusionGraphClassifier(base=MultinomialNB(), expert=KNeighborsClassifier(3), threshold=0.01, candidates=4)
    model.fit(X, y)
    assert model.score(new, truth) > model.base_.score(new, truth)


def test_given_folds_are_followed():
    X, y, _, _ = digits(300)
    folds = np.arange(300) % 3 - 1
    model = ConfusionGraphClassifier(cv=folds).fit(X, y)
    said = out_of_fold(CentroidClassifier(), X, y, cv=folds)
    assert model.confusion_ == Confusion.from_predictions(y[folds >= 0], said.predictions[folds >= 0])


def test_progress_is_reported():
    X, y, _, _ = digits(200)
    seen = []
    with _progress.listening(lambda stage, done, total: seen.append((stage, done, total))):
        ConfusionGraphClassifier(candidates=3).fit(X, y)
    assert {("folds", 5, 5), ("experts", 10, 10)} <= set(seen)


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, np.eye(10, dtype=int)[DIGITS[1]], "y must name one class for each row. Got multi-label y instead"),
        ({}, np.zeros(len(DIGITS[1])), "y must have at least two classes"),
        ({"candidates": None, "threshold": None}, DIGITS[1], "threshold must be a share or 'sweep'"),
        ({"approach": "vote"}, DIGITS[1], "approach"),
        ({"candidates": 1}, DIGITS[1], "candidates"),
    ],
)
def test_refuses(parameters, y, message):
    with pytest.raises(ValueError, match=message):
        ConfusionGraphClassifier(**parameters).fit(DIGITS[0], y)


def test_intents_as_accurate_as_one_vs_rest_in_less_room(real_data):
    table = pl.read_parquet(real_data / "text" / "clinc150.parquet").filter(pl.col("label") != "oos")
    train, test = (table.filter(split=part) for part in ("train", "test"))
    words = TfidfVectorizer(sublinear_tf=True)
    X, new = words.fit_transform(train["text"].to_list()), words.transform(test["text"].to_list())
    y, truth = train["label"].to_numpy().astype(str), test["label"].to_numpy().astype(str)
    model, flat = ConfusionGraphClassifier(n_jobs=2).fit(X, y), LinearSVC(random_state=0).fit(X, y)
    ours, theirs = model.predict(new) == truth, flat.predict(new) == truth
    difference = ours.astype(float) - theirs
    assert difference.mean() + 1.96 * difference.std() / len(difference) ** 0.5 >= 0
    assert model.n_numbers_ < flat.coef_.size
