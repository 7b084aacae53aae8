import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from untwin.represent.weights import SupervisedWeights
from untwin.tables import Contingency

SUPERVISED = ["chi2", "ig"]


def corpus(seed, n=60, m=9, n_classes=4):
    rng = np.random.default_rng(seed)
    y = np.array(["ant", "bee", "cat", "dog", "eel"])[rng.integers(0, n_classes, n) * rng.integers(0, 2, n)]
    X = rng.poisson(0.6, (n, m)) * (rng.random((n, m)) < 0.8)
    X[:, 0], X[:, 1] = 0, 1  # a term that never occurs, and one that always does
    X[y == "ant", 2] = 0  # the largest class avoids this one
    return X.astype(float), y


def per_class(X, y, scheme):
    table = Contingency.from_counts(X, y)
    return table.chi2(per_class=True) if scheme == "chi2" else table.information_gain(per_class=True)


@pytest.mark.parametrize("scheme", SUPERVISED)
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_new_rows_get_the_maximum_over_the_classes_and_training_rows_their_own(scheme, seed):
    X, y = corpus(seed)
    w = per_class(X, y, scheme)
    weights = SupervisedWeights(scheme=scheme, norm=None)
    trained = weights.fit_transform(csr_array(X), y)
    own = np.searchsorted(weights.classes_, y)
    assert_allclose(trained.toarray(), X * w[own], atol=1e-12)
    assert_allclose(weights.weights_, w.max(axis=0), atol=1e-12)
    assert_allclose(weights.transform(X[::-1]).toarray(), X[::-1] * w.max(axis=0), atol=1e-12)


@pytest.mark.parametrize("scheme", SUPERVISED)
def test_a_class_that_avoids_a_frequent_term_can_be_the_maximum(scheme):
    X = np.repeat([[0.0], [1.0]], [30, 30], axis=0)
    y = np.repeat(["avoids", "b", "c", "d"], [30, 10, 10, 10])
    w = per_class(X, y, scheme)[:, 0]
    assert w.argmax() == 0
    assert_allclose(SupervisedWeights(scheme=scheme).fit(X, y).weights_, w[:1])


@pytest.mark.parametrize("scheme", SUPERVISED)
def test_many_classes_need_no_table_of_classes_by_terms(scheme):
    n = 20_000
    rng = np.random.default_rng(0)
    X = csr_array((np.ones(5 * n), (np.repeat(np.arange(n), 5), rng.integers(0, 50_000, 5 * n))), shape=(n, 50_000))
    y = rng.integers(0, 5_000, n)  # 5,000 x 50,000 numbers would be 2 GB
    weights = SupervisedWeights(scheme=scheme, norm=None).fit(X, y)
    few = X[:, :100].toarray()
    assert_allclose(weights.weights_[:100], per_class(few, y, scheme).max(axis=0), rtol=1e-9)


@pytest.mark.parametrize("norm", ["l1", "l2", None])
def test_tfidf_is_scikit_learns(norm):
    X, _ = corpus(1)
    found = SupervisedWeights(norm=norm).fit_transform(X)
    assert_allclose(found.toarray(), TfidfTransformer(norm=norm).fit_transform(X).toarray(), rtol=1e-12)


def test_presence_and_counts():
    X, _ = corpus(2)
    assert_array_equal(SupervisedWeights(scheme="bin", norm=None).fit_transform(X).toarray(), X > 0)
    assert_array_equal(SupervisedWeights(scheme="tf", norm=None).fit_transform(X).toarray(), X)
    assert_allclose(SupervisedWeights(scheme="tf", norm="l1").fit_transform(X).toarray(), normalize(X, norm="l1"))


@pytest.mark.parametrize("scheme", ["bin", "tf", "tfidf"])
def test_without_labels_training_rows_are_rows_like_all_others(scheme):
    X, y = corpus(3)
    weights = SupervisedWeights(scheme=scheme, select=4)
    assert_array_equal(weights.fit_transform(X, y).toarray(), weights.transform(X).toarray())


@pytest.mark.parametrize("scheme", SUPERVISED)
def test_with_labels_they_are_not(scheme):
    X, y = corpus(3)
    weights = SupervisedWeights(scheme=scheme)
    trained = weights.fit_transform(X, y).toarray()
    assert abs(trained - weights.transform(X).toarray()).max() > 0.1
    assert_array_equal(clone(weights).fit(X, y).weights_, weights.weights_)
    assert_allclose(np.linalg.norm(trained, axis=1), trained.any(axis=1))


@pytest.mark.parametrize("select_by", SUPERVISED)
@pytest.mark.parametrize(("select", "n_kept"), [(3, 3), (0.5, 4), (1.0, 9), (1, 1), (0.001, 1), (100, 9), (None, 9)])
def test_selection_keeps_the_best_terms_in_column_order(select, n_kept, select_by):
    X, y = corpus(4)
    table = Contingency.from_counts(X, y)
    score = table.chi2() if select_by == "chi2" else table.information_gain()
    weights = SupervisedWeights(scheme="ig", norm=None, select=select, select_by=select_by).fit(X, y)
    assert_array_equal(weights.kept_, np.sort(np.argsort(-score, kind="stable")[:n_kept]))
    everything = SupervisedWeights(scheme="ig", norm=None)
    trained = weights.fit_transform(X, y)
    assert_allclose(trained.toarray(), everything.fit_transform(X, y).toarray()[:, weights.kept_], atol=1e-14)
    assert_allclose(weights.transform(X).toarray(), everything.transform(X).toarray()[:, weights.kept_], atol=1e-14)


def test_ties_are_broken_by_column_order():
    X = np.array([[0, 1, 1, 1], [0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0]])
    assert SupervisedWeights(select=2).fit(X, [0, 0, 1, 1]).kept_.tolist() == [0, 1]


def test_names_of_the_kept_terms():
    X, y = corpus(5)
    weights = SupervisedWeights(select=3).fit(X, y)
    terms = np.array([f"term {i}" for i in range(9)])
    assert weights.get_feature_names_out(terms).tolist() == terms[weights.kept_].tolist()
    assert weights.get_feature_names_out().tolist() == [f"x{i}" for i in weights.kept_]


@pytest.mark.parametrize("parameters", [{"scheme": "chi2"}, {"scheme": "ig"}, {"select": 0.1}])
def test_labels_are_asked_for_where_they_are_needed(parameters):
    with pytest.raises(ValueError, match="requires y to be passed"):
        SupervisedWeights(**parameters).fit([[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="Unknown label type"):
        SupervisedWeights(**parameters).fit([[1, 0], [0, 1]], [0.5, 1.25])
    SupervisedWeights().fit([[1, 0], [0, 1]])


def test_negative_counts_are_refused():
    with pytest.raises(ValueError, match="Negative values"):
        SupervisedWeights().fit([[1, -1]])


def test_stored_zeros_are_no_terms_and_the_input_stays_as_it_was():
    X = csr_matrix((np.array([0.0, 2, 3]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    found = SupervisedWeights(scheme="bin", norm=None).fit_transform(X)
    assert_array_equal(found.toarray(), [[0, 1], [1, 0]])
    assert_array_equal(X.data, [0, 2, 3])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_output_is_sparse_and_keeps_its_precision(dtype):
    X, y = corpus(6)
    for rows in (X.astype(dtype), csr_array(X.astype(dtype))):
        found = SupervisedWeights(scheme="chi2").fit_transform(rows, y)
        assert issparse(found)
        assert found.dtype == dtype
    with sklearn.config_context(sparse_interface="sparray"):
        assert isinstance(SupervisedWeights().fit_transform(X), csr_array)


@pytest.mark.parametrize("scheme", SUPERVISED)
def test_a_pipeline_does_not_leak(scheme):
    """Training rows that carry their labels look perfect; held-out rows with shuffled labels must stay at chance."""
    rng = np.random.default_rng(7)
    X = csr_array(rng.poisson(0.05, (600, 2_000)))
    y = rng.permutation(np.repeat([0, 1, 2], 200))
    weights, knn = SupervisedWeights(scheme=scheme, select=0.2), KNeighborsClassifier(5, metric="cosine")
    trained = weights.fit_transform(X, y)
    assert knn.fit(trained, y).score(trained, y) > 0.9
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    accuracy = cross_val_score(make_pipeline(weights, knn), X, y, cv=cv).mean()
    assert abs(accuracy - 1 / 3) < 2.6 * np.sqrt(2 / 9 / 600)
