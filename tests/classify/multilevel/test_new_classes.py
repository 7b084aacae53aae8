"""`MultiLevelClassifier.partial_fit`: only what is touched is trained again, and that is what `fit` would train."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.naive_bayes import MultinomialNB

from untwin.classify.experts import Retrained
from untwin.classify.learnt_rows import LearntRows
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.classify.multilevel.groups import Branch
from untwin.classify.multilevel.new_classes import extend_branch, nearest_classes

GROUPS = [[f"c{code:02}" for code in range(start, 30, 6)] for start in range(6)]


@pytest.fixture(scope="module")
def texts(documents):
    return documents()


def experts_of(model):
    return [expert for tree in model.trees_ for expert in tree.experts]


def same(a, b):
    return np.array_equal(a.coef, b.coef) and np.array_equal(a.intercept, b.intercept)


def test_the_first_call_is_fit(texts):
    X, y = texts
    fitted, learnt = MultiLevelClassifier(cv=None).fit(X, y), MultiLevelClassifier(cv=None).partial_fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), learnt.decision_function(X))
    n = len(experts_of(fitted))
    assert fitted.retrained_ == learnt.retrained_ == Retrained(n, n)


@pytest.mark.parametrize("sparse", [True, False])
def test_where_all_is_touched_it_is_fit_on_all_rows(texts, sparse):
    X, y = texts if sparse else (texts[0].toarray(), texts[1])
    model = MultiLevelClassifier(groups=GROUPS, cv=None).fit(X[:900], y[:900])
    model.partial_fit(X[900:], y[900:])
    whole = MultiLevelClassifier(groups=GROUPS, cv=None).fit(X, y)
    assert model.retrained_ == whole.retrained_ == (7, 7)
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
    assert model.groups_ == whole.groups_
    np.testing.assert_array_equal(model.base_.predict(X), whole.base_.predict(X))


def test_given_groups_take_their_new_classes_as_in_fit(texts):
    X, y = texts
    late = np.isin(y, ["c01", "c12", "c29"])
    first, then = np.flatnonzero(~late), np.flatnonzero(late)
    order = np.concatenate([first, then])
    model = MultiLevelClassifier(groups=GROUPS[:5], cv=None).fit(X[first], y[first]).partial_fit(X[then], y[then])
    whole = MultiLevelClassifier(groups=GROUPS[:5], cv=None).fit(X[order], y[order])
    assert model.retrained_ == (3, 6)  # the root, two groups; c29 is a group of its own, without expert
    assert model.groups_ == whole.groups_
    for ours, theirs in zip(model.trees_[0].branches, whole.trees_[0].branches, strict=True):
        assert all(map(np.array_equal, ours, theirs))
    assert same(model.trees_[0].experts[0], whole.trees_[0].experts[0])


def test_untouched_experts_are_what_they_were(texts):
    X, y = texts
    model = MultiLevelClassifier(cv=None).fit(X[:900], y[:900])
    before = experts_of(model)
    rows = 900 + np.flatnonzero(np.isin(y[900:], ["c03", "c20"]))
    model.partial_fit(X[rows], y[rows])
    touched = [
        any(model.classes_[code] in ("c03", "c20") for code in branch.classes)
        for tree in model.trees_
        for branch in tree.branches
    ]
    assert 3 < sum(touched) < len(touched)
    assert model.retrained_ == (sum(touched), len(touched))
    for was, now, learnt in zip(before, experts_of(model), touched, strict=True):
        assert same(was, now) == (not learnt)


def test_new_classes_join_their_nearest_and_are_found(texts, scored_plainly):
    X, y = texts
    late = np.isin(y, ["c04", "c17"])
    known, new = np.flatnonzero(~late[:1000]), np.flatnonzero(late[:1000])
    model = MultiLevelClassifier().fit(X[known], y[known])
    names, temperature = model.classes_, model.temperature_
    model.partial_fit(X[new], y[new])
    assert model.classes_.tolist() == [f"c{code:02}" for code in range(30)]
    assert model.predict(X).dtype == y.dtype
    assert model.temperature_ == temperature
    centroids = model.base_.centroids_.toarray()
    for name in ("c04", "c17"):
        code = np.flatnonzero(model.classes_ == name)[0]
        cosines = np.where(np.isin(model.classes_, names), centroids @ centroids[code], -1)
        for tree in model.trees_:
            assert tree.groups[code] == tree.groups[cosines.argmax()] or (tree.groups == tree.groups[code]).sum() == 1
    test = np.arange(1000, 1500)
    whole = MultiLevelClassifier().fit(X[:1000], y[:1000])
    asked = test[late[test]]
    assert model.score(X[asked], y[asked]) > whole.score(X[asked], y[asked]) - 0.05
    assert model.score(X[test], y[test]) > whole.score(X[test], y[test]) - 0.03
    expected = scored_plainly(model, X[test])
    np.testing.assert_allclose(model.decision_function(X[test]), expected, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X[test]).sum(axis=1), 1, rtol=1e-5)


def test_new_columns_are_learnt_and_fewer_are_refused(texts):
    X, y = texts
    model = MultiLevelClassifier(groups=GROUPS, cv=None).fit(X[:800, :300], y[:800])
    with pytest.raises(ValueError, match="X has 200 features, but MultiLevelClassifier is expecting 300 features"):
        model.partial_fit(X[800:, :200], y[800:])
    model.partial_fit(X[800:], y[800:])
    assert model.n_features_in_ == 400
    whole = csr_array(X[:, :300])
    whole.resize(X.shape)
    rows = np.concatenate([whole[:800].toarray(), X[800:].toarray()])
    expected = MultiLevelClassifier(groups=GROUPS, cv=None).fit(csr_array(rows), y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    narrow = MultiLevelClassifier(groups=GROUPS, cv=None).fit(X[:800, :300], y[:800])
    only = 800 + np.flatnonzero(np.isin(y[800:], GROUPS[0]))
    before = narrow.trees_[0].experts[2].margins(X[:, :300])
    np.testing.assert_array_equal(narrow.partial_fit(X[only], y[only]).trees_[0].experts[2].margins(X), before)


def test_what_cannot_be_learnt_changes_nothing(texts):
    X, y = texts
    model = MultiLevelClassifier(cv=None).fit(X[:300], y[:300])
    with pytest.raises(ValueError, match="Labels must be of one kind"):
        model.partial_fit(X[300:302], [1, 2])
    del model.learnt_rows_
    with pytest.raises(ValueError, match="set learnt_rows_"):
        model.partial_fit(X[300:], y[300:])
    model.learnt_rows_ = LearntRows(X[:300], y[:300])
    assert model.partial_fit(X[300:], y[300:]).learnt_rows_.X.shape == X.shape


def test_a_base_of_another_kind_learns_all_rows(texts):
    X, y = texts
    model = MultiLevelClassifier(base=MultinomialNB(), hierarchy="confusion", cv=None).fit(X[:900], y[:900])
    model.partial_fit(X[900:], y[900:])
    expected = MultinomialNB().fit(X, y)
    np.testing.assert_array_equal(model.base_.predict(X), expected.predict(X))


def test_from_one_class_to_several():
    X, y = np.eye(4)[[0, 0, 1, 1, 2, 3]], np.array([1, 1, 2, 2, 3, 3])
    model = MultiLevelClassifier(cv=None).fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
    assert model.predict(X).tolist() == y.tolist()


def test_a_new_class_becomes_a_sibling_of_its_nearest():
    centroids = np.eye(3)[[0, 1, 1, 2, 2]]
    moved, newcomers = np.array([0, 1, 3]), np.array([2, 4])
    siblings = nearest_classes(centroids, moved, newcomers)
    assert siblings.tolist() == [1, 3]
    group = Branch(np.array([0, 1]), np.array([0, 1]), np.array([-1, -1]))
    grown = extend_branch(group, moved, newcomers, siblings)
    assert [part.tolist() for part in grown] == [[0, 1, 2], [0, 1, 2], [-1, -1, -1]]
