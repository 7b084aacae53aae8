"""`MultiLevelClassifier` against literal descents, and what its users rely on."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from untwin import _progress
from untwin.classify.linear import LinearSVM
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.classify.multilevel.descent import UNASKED
from untwin.structure.hierarchy import Hierarchy


@pytest.fixture(scope="module")
def texts(documents):
    return documents()


@pytest.fixture(scope="module")
def fitted(texts):
    X, y = texts
    return MultiLevelClassifier().fit(X[::2], y[::2])


def test_scores_are_sums_on_the_way_down_averaged_over_trees(texts, fitted, scored_plainly):
    X = texts[0][1::2]
    expected = scored_plainly(fitted, X)
    np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-5)
    assert np.array_equal(fitted.predict(X), fitted.classes_[expected.argmax(axis=1)])


def test_one_classifier_for_all_classes_stands_beside_the_default_trees_only(texts):
    X, y = texts
    X, y = X[:300], y[:300]
    default = MultiLevelClassifier(cv=None).fit(X, y)
    assert [tree.flat for tree in default.trees_] == [False, False, False, True]
    svm = LinearSVM().fit(X, y)
    np.testing.assert_allclose(default.trees_[-1].experts[0].margins(X), svm.decision_function(X), atol=1e-5)
    for options in ({"hierarchy": ["centroids"]}, {"routing": "hard"}, {"groups": [y[:2].tolist()]}):
        model = MultiLevelClassifier(**options, cv=None).fit(X, y)
        assert not any(tree.flat for tree in model.trees_)
    few = MultiLevelClassifier(cv=None).fit(X, y == y[0])
    assert [tree.flat for tree in few.trees_] == [True]


def test_groups_do_no_harm(documents):
    """On DBpedia, a dozen rows a class, groups alone lost 1.9 points; here are as few."""
    X, y = documents(n_rows=2000, n_classes=80)
    default, flat = (model.fit(X[::2], y[::2]) for model in (MultiLevelClassifier(cv=None), LinearSVM()))
    assert default.score(X[1::2], y[1::2]) > flat.score(X[1::2], y[1::2]) - 0.005


def test_more_than_two_levels(documents, descended_plainly):
    X, y = documents(n_rows=1400, n_classes=140)
    model = MultiLevelClassifier(hierarchy="centroids", groups=2, cv=None).fit(X[::2], y[::2])
    assert any((branch.below >= 0).any() for branch in model.trees_[0].branches[1:])
    np.testing.assert_allclose(
        model.set_params(routing=1000).decision_function(X), descended_plainly(model.trees_[0], X), atol=1e-5
    )
    narrow, wide = (model.set_params(routing=beam).score(X[1::2], y[1::2]) for beam in (1, 10))
    assert wide >= narrow > 0.3


def test_hard_routing_is_the_papers(texts):
    X, y = texts
    model = MultiLevelClassifier(hierarchy="confusion", routing="hard", cv=None).fit(X[::2], y[::2])
    tree = model.trees_[0]
    root = tree.branches[0]
    expected = []
    for row in range(1, 200, 2):
        child = tree.experts[0].margins(X[[row]]).argmax()
        number = root.below[child]
        if number < 0:
            expected.append(root.classes[root.child == child][0])
        else:
            branch = tree.branches[number]
            best = tree.experts[number].margins(X[[row]]).argmax()
            expected.append(branch.classes[branch.child == best][0])
    assert np.array_equal(model.predict(X[1:200:2]), model.classes_[expected])


def test_groups_of_one_class_compete_with_others_when_routing_is_hard(documents):
    X, y = documents(n_classes=6)
    groups = [["c00", "c01", "c02"], ["c03"], ["c04"], ["c05"]]
    model = MultiLevelClassifier(groups=groups, routing="hard", cv=None).fit(X[::2], y[::2])
    chosen = model.trees_[0].experts[0].margins(X).argmax(axis=1)
    assert np.array_equal(model.trees_[0].groups[np.searchsorted(model.classes_, model.predict(X))], chosen)


def test_a_beam_changes_only_what_is_outside(texts):
    X, y = texts
    model = MultiLevelClassifier(hierarchy="centroids", routing=1000, cv=None).fit(X[::2], y[::2])
    every = model.decision_function(X)
    some = model.set_params(routing=2).decision_function(X)
    asked = np.isclose(every, some)
    group_sizes = np.bincount(model.trees_[0].groups)
    assert (some[~asked] <= UNASKED).all()
    assert (asked.sum(axis=1) <= np.sort(group_sizes)[-3:].sum()).all()
    assert (asked.sum(axis=1) >= 2).all()


def test_trees_average_given_and_grown(texts):
    X, y = texts
    tree = Hierarchy.from_distances(1.0 - np.eye(30), np.unique(y))
    model = MultiLevelClassifier(hierarchy=[tree, "centroids", "confusion", "both"], cv=None).fit(X[::2], y[::2])
    assert len(model.trees_) == 4
    assert model.hierarchies_[0] is tree
    assert model.hierarchies_[2].metric == "l1"
    assert model.score(X[1::2], y[1::2]) > 0.6


def test_paper_two_naive_bayes_above_svm(texts):
    X, y = texts
    model = MultiLevelClassifier(
        hierarchy="confusion",
        base=MultinomialNB(),
        root=MultinomialNB(),
        expert=LinearSVC(random_state=0),
        groups="inflection",
        routing="hard",
        select=0.5,
        cv=None,
    ).fit(X[::2], y[::2])
    assert isinstance(model.trees_[0].experts[0].model, MultinomialNB)
    assert all(expert.coef is not None for expert in model.trees_[0].experts[1:])
    assert model.score(X[1::2], y[1::2]) > 0.5


def test_select_spares_the_root(texts):
    X, y = texts
    model = MultiLevelClassifier(select=20, cv=None).fit(X, y)
    root, *experts = model.trees_[0].experts
    assert root.terms.size > 20
    assert {expert.terms.size for expert in experts if len(expert.classes) > 1} == {20}


def test_probabilities_are_calibrated_on_rows_held_out(texts, fitted):
    X, y = texts
    P = fitted.predict_proba(X[1::2])
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-5)
    right = fitted.predict(X[1::2]) == y[1::2]
    assert abs(P.max(axis=1).mean() - right.mean()) < 0.08
    confidence, judged = fitted.judged_
    assert len(confidence) == 750
    assert (np.diff(confidence) <= 0).all()
    assert abs(judged.mean() - right.mean()) < 0.08
    uncalibrated = MultiLevelClassifier(cv=None).fit(X[::2], y[::2])
    assert uncalibrated.temperature_ == 1.0
    assert np.array_equal(uncalibrated.decision_function(X), fitted.decision_function(X))


def test_held_out_rows_are_judged_by_a_twin_with_the_same_groups(texts):
    X, y = texts
    groups = [[f"c{code:02}" for code in range(start, 30, 6)] for start in range(6)]
    model = MultiLevelClassifier(groups=groups, cv=3).fit(X, y)
    rows = np.arange(0, 300)
    twin = MultiLevelClassifier(groups=groups, cv=None).fit(X[300:], y[300:])
    codes = np.searchsorted(model.classes_, y)
    said = model._out_of_fold(X, codes, np.arange(len(codes)) >= 300, rows)
    assert np.array_equal(said, twin.decision_function(X[rows]))
    assert model.groups_ == [tuple(group) for group in groups]


def test_approximate_labels_keep_to_the_error_rate(texts, fitted):
    X, y = texts
    confidence, right = fitted.judged_
    for rate in (0.02, 0.1):
        said = fitted.predict_group(X[1::2], error_rate=rate)
        wrong = (said.labels != y[1::2])[said.sure]
        assert wrong.mean() < rate + 0.06
        threshold = fitted._threshold(rate)
        assert (~right)[confidence >= threshold].mean() <= rate
    loose = fitted.predict_group(X[1::2], error_rate=1.0)
    assert loose.sure.mean() > said.sure.mean()
    in_group = np.array([label in fitted.groups_[group] for label, group in zip(y[1::2], said.groups, strict=True)])
    assert in_group.mean() > fitted.score(X[1::2], y[1::2])


def test_approximate_labels_need_held_out_rows(texts):
    X, y = texts
    with pytest.raises(ValueError, match="set cv"):
        MultiLevelClassifier(cv=None).fit(X, y).predict_group(X)


def test_report_counts_what_it_says(texts, fitted, descended_plainly):
    X, y = texts[0][1::2], texts[1][1::2]
    flat = LinearSVC(random_state=0).fit(texts[0][::2], texts[1][::2])
    report = fitted.report(X, y, flat=flat)
    tree, group_of = fitted.trees_[0], dict(zip(fitted.classes_, fitted.trees_[0].groups, strict=True))
    truth = np.array([group_of[label] for label in y])
    assert report.root == (tree.experts[0].margins(X).argmax(axis=1) == truth).mean()
    decision, hits = flat.decision_function(X), 0
    for row, label in enumerate(y):
        inside = [code for code, name in enumerate(flat.classes_) if group_of[name] == group_of[label]]
        hits += flat.classes_[max(inside, key=lambda code: decision[row, code])] == label
    assert report.flat == hits / len(y)
    assert report.end_to_end == fitted.score(X, y)
    inside = np.array([[group_of[name] == group_of[label] for name in fitted.classes_] for label in y])
    told = np.where(inside, descended_plainly(tree, X), -np.inf).argmax(axis=1)
    assert report.experts == (fitted.classes_[told] == y).mean()
    assert 0 < fitted.report(X, y).flat < 1


def test_no_row_is_judged_by_a_model_that_has_seen_it():
    """With labels drawn at random nothing can be learnt, so held-out rows are right as often as chance has it."""
    rng = np.random.default_rng(0)
    X, y = csr_array(rng.random((600, 300)) < 0.05, dtype=float), rng.integers(0, 6, 600)
    model = MultiLevelClassifier().fit(X, y)
    assert model.score(X, y) > 0.8
    right = model.judged_[1].mean()
    assert abs(right - 1 / 6) < 3 * np.sqrt(1 / 6 * 5 / 6 / 600)


def test_threads_change_nothing_and_progress_is_reported(texts, fitted):
    X, y = texts
    seen = []
    with _progress.listening(lambda stage, done, total: seen.append((stage, done, total))):
        model = MultiLevelClassifier(n_jobs=2).fit(X[::2], y[::2])
    assert np.array_equal(model.decision_function(X), fitted.decision_function(X))
    n_experts = sum(len(tree.experts) for tree in model.trees_)
    assert ("experts", n_experts, n_experts) in seen


def test_classes_of_one_document_and_names_of_any_kind(documents):
    X, y = documents(n_rows=300, n_classes=10)
    y = np.array([int(name[1:]) * 10 for name in y])
    y[0], y[1] = 777, 778
    model = MultiLevelClassifier().fit(X, y)
    assert model.classes_.tolist() == [*range(0, 100, 10), 777, 778]
    assert model.predict(X).dtype == y.dtype
    assert model.predict_proba(X).shape == (300, 12)
    single = MultiLevelClassifier().fit(X[:12], np.arange(12))
    assert single.judged_ is None
    assert single.score(X[:12], np.arange(12)) > 0.9


def test_dense_rows():
    X, y = load_digits(return_X_y=True)
    model = MultiLevelClassifier(cv=None).fit(X[::2] / 16, y[::2])
    assert model.score(X[1::2] / 16, y[1::2]) > 0.9


def test_unknown_kinds_of_tree_are_refused(texts):
    with pytest.raises(ValueError, match="hierarchy must be of centroids"):
        MultiLevelClassifier(hierarchy=["words"], cv=None).fit(*texts)


def test_multi_label_is_refused(texts):
    with pytest.raises(ValueError, match="y"):
        MultiLevelClassifier().fit(texts[0][:4], np.array([[0, 1], [1, 1], [1, 0], [0, 0]]))


def test_the_model_is_smaller_than_one_vs_rest(documents):
    X, y = documents(n_rows=1000, n_classes=100, n_terms=4000)
    experts = MultiLevelClassifier(hierarchy=["centroids", "confusion", "both"], cv=None).fit(X, y)
    flat = LinearSVC(random_state=0, tol=0.1).fit(X, y)
    assert len(pickle.dumps(experts)) < len(pickle.dumps(flat))
