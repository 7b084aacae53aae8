"""`ConfusionGraphClassifier.partial_fit`: only what is touched is trained again, and that is what `fit` would train."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold

from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.learnt_rows import LearntRows

WAYS = [
    {},
    {"candidates": 3},
    {"candidates": None, "threshold": 0.0},
    {"approach": "max-wins", "threshold": 0.0},
    {"approach": "verify", "candidates": None, "threshold": 0.0},
]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return csr_array(X / 16), np.array([f"digit {code}" for code in range(10)])[y]


def known_experts(model):
    return model._experts.known(np.arange(len(model.classes_)))


def same(a, b):
    return np.array_equal(a.coef, b.coef) and np.array_equal(a.intercept, b.intercept)


def test_the_first_call_is_fit(digits):
    X, y = digits[0][:400], digits[1][:400]
    fitted, learnt = ConfusionGraphClassifier().fit(X, y), ConfusionGraphClassifier().partial_fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), learnt.decision_function(X))
    assert fitted.retrained_ == learnt.retrained_ == (10, 10)


@pytest.mark.parametrize("way", WAYS)
def test_where_all_is_touched_the_experts_are_those_of_fit_on_all_rows(digits, way):
    X, y = digits[0][:600], digits[1][:600]
    model = ConfusionGraphClassifier(**way).fit(X[:400], y[:400])
    model.threshold_ = whole_threshold = (whole := ConfusionGraphClassifier(**way).fit(X, y)).threshold_
    blend = model.blend_
    model.partial_fit(X[400:], y[400:])
    assert model.retrained_ == (model.n_experts_, model.n_experts_) == whole.retrained_
    ours, theirs = known_experts(model), known_experts(whole)
    assert ours.keys() == theirs.keys()
    assert all(same(ours[key], theirs[key]) for key in ours)
    assert model.confusion_ == whole.confusion_
    assert model.graph_ == whole.graph_
    assert (model.upper_bound_, model.threshold_) == (whole.upper_bound_, whole_threshold)
    assert model.blend_ == blend


@pytest.mark.parametrize("way", WAYS)
def test_untouched_experts_are_what_they_were(digits, way):
    X, y = digits[0][:400], digits[1][:400]
    model = ConfusionGraphClassifier(**way).fit(X, y)
    before = known_experts(model)
    rows = 400 + np.flatnonzero(digits[1][400:] == "digit 8")[:3]
    model.partial_fit(digits[0][rows], digits[1][rows])
    after = known_experts(model)
    kept = [key for key, expert in after.items() if key in before and same(expert, before[key])]
    assert 0 < model.retrained_.trained < model.retrained_.of == model.n_experts_
    distinct = model.retrained_.of - len(after)  # equal sub-graphs have one key
    assert model.n_experts_ - model.retrained_.trained - distinct <= len(kept) <= len(after)
    touched = [key for key in after if isinstance(key, tuple) and 8 in key]
    assert len(touched) <= model.retrained_.trained  # rows beyond the margin may leave the weights as they were


def test_a_pair_is_touched_by_rows_of_its_classes_only(digits):
    X, y = digits[0][:400], digits[1][:400]
    model = ConfusionGraphClassifier(approach="max-wins", candidates=None, threshold=0.0).fit(X, y)
    rows = 400 + np.flatnonzero(np.isin(digits[1][400:], ["digit 2", "digit 7"]))[:10]
    before = set(known_experts(model))
    model.partial_fit(digits[0][rows], digits[1][rows])
    expected = {pair for pair in known_experts(model) if {2, 7} & set(pair) or pair not in before}
    assert model.retrained_ == (len(expected), model.n_experts_)


@pytest.mark.parametrize("way", WAYS)
def test_new_classes_get_experts_and_edges_and_are_found(digits, way):
    X, y = digits
    late = np.isin(y, ["digit 1", "digit 8"])
    first, then = np.flatnonzero(~late[:900]), np.flatnonzero(late[:900])
    model = ConfusionGraphClassifier(**way).fit(X[first], y[first]).partial_fit(X[then], y[then])
    assert len(model.classes_) == 10
    assert model.confusion_.total == 900
    assert model.graph_.neighbours("digit 8")
    assert model.predict(X).dtype == y.dtype
    np.testing.assert_allclose(model.predict_proba(X[900:]).sum(axis=1), 1)
    order = np.concatenate([first, then])
    whole = ConfusionGraphClassifier(**way).fit(X[order], y[order])
    test = np.arange(900, len(y))
    asked = test[late[test]]
    assert model.score(X[asked], y[asked]) > whole.score(X[asked], y[asked]) - 0.05
    assert model.score(X[test], y[test]) > whole.score(X[test], y[test]) - 0.02


def test_new_columns_are_learnt_and_fewer_are_refused(digits):
    X, y = digits
    model = ConfusionGraphClassifier(cv=KFold(3)).fit(X[:400, :40], y[:400])
    with pytest.raises(ValueError, match="X has 30 features, but ConfusionGraphClassifier is expecting 40 features"):
        model.partial_fit(X[400:600, :30], y[400:600])
    before = model.score(X[900:, :40], y[900:])
    model.partial_fit(X[400:900], y[400:900])
    assert model.n_features_in_ == 64
    assert model.score(X[900:], y[900:]) > before


def test_what_cannot_be_learnt_changes_nothing(digits):
    X, y = digits[0][:300], digits[1][:300]
    folds = np.arange(300) % 3
    given = ConfusionGraphClassifier(cv=folds).fit(X, y)
    with pytest.raises(ValueError, match="number of folds or a splitter to learn on"):
        given.partial_fit(X[:2], y[:2])
    model = ConfusionGraphClassifier().fit(X, y)
    with pytest.raises(ValueError, match="Labels must be of one kind"):
        model.partial_fit(X[:2, :], [3, 4])
    model.learnt_rows_ = None
    with pytest.raises(ValueError, match="set learnt_rows_"):
        model.partial_fit(X[:2], y[:2])
    model.learnt_rows_ = LearntRows(X, y)
    assert model.partial_fit(X[:2], y[:2]).learnt_rows_.X.shape == (302, 64)
