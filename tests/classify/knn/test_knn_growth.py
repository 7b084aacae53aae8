"""`KNNClassifier` learning on: it is the classifier that would be fitted to the rows it holds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from untwin.classify.knn import classifier as knn
from untwin.classify.knn.classifier import KNNClassifier

rng = np.random.default_rng(0)
X = rng.random((60, 8)) * (rng.random((60, 8)) < 0.6)
X[:30, 6:] = 0
Y = np.r_[np.array(["dog", "ox"])[rng.integers(2, size=30)], np.array(["ant", "ox"])[rng.integers(2, size=30)]]
NEW = rng.random((20, 8))


def same(one, other):
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.n_neighbors_ == other.n_neighbors_
    np.testing.assert_array_equal(one.predict(NEW), other.predict(NEW))
    np.testing.assert_array_equal(one.predict_proba(NEW), other.predict_proba(NEW))
    np.testing.assert_array_equal(one.class_prior_, other.class_prior_)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_rows_columns_and_classes_arrive(metric, sparse):
    made = csr_array if sparse else np.asarray
    model = KNNClassifier(metric=metric).fit(made(X[:30, :6]), Y[:30])
    model.partial_fit(made(X[30:]), Y[30:], classes=None)
    same(model, KNNClassifier(metric=metric).fit(made(X), Y))
    assert model.predict(made(NEW)).dtype == Y.dtype


@pytest.mark.parametrize("most", [0, 5, 1000])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("sparse", [True, False])
def test_rows_added_one_by_one_are_found_like_the_others(metric, sparse, most, monkeypatch):
    monkeypatch.setattr(knn, "RECENT_ROWS", most)
    made = csr_array if sparse else np.asarray
    twice = np.vstack([X[30:], X[30:], np.zeros((1, 8))])  # ties, and a row of zeros
    labels = np.r_[Y[30:], Y[30:], Y[:1]]
    model, whole = KNNClassifier(metric=metric).fit(made(X[:30]), Y[:30]), KNNClassifier(metric=metric)
    for row, label in zip(twice, labels, strict=True):
        model.partial_fit(made(row[None]), [label])
    whole.fit(made(np.vstack([X[:30], twice])), np.r_[Y[:30], labels])
    same(model, whole)
    asked = made(np.vstack([NEW, X, np.zeros((1, 8))]))
    for one, other in zip(model.kneighbors(asked), whole.kneighbors(asked), strict=True):
        np.testing.assert_array_equal(one, other)
    assert [str(a) for a in model.explain(asked[:3])] == [str(a) for a in whole.explain(asked[:3])]
    kept = model.ids_[1:]
    same(
        model.remove([0]),
        KNNClassifier(metric=metric).fit(made(np.vstack([X[:30], twice])[kept]), np.r_[Y[:30], labels][kept]),
    )


def test_the_first_call_is_fit_and_few_rows_have_few_neighbours():
    model = KNNClassifier().partial_fit(X[:3], Y[:3])
    assert model.n_neighbors_ == 3
    assert model.partial_fit(X[3:], Y[3:]).n_neighbors_ == 10


def test_rows_are_removed_and_relabelled_by_number_of_arrival():
    model = KNNClassifier().fit(X[:30], Y[:30]).remove([0, 7]).partial_fit(X[30:], Y[30:])
    assert model.ids_.tolist() == [i for i in range(60) if i not in (0, 7)]
    model.relabel([8, 59], ["yak", "dog"])
    y = Y.copy()
    y[[8, 59]] = "yak", "dog"
    kept = model.ids_
    same(model, KNNClassifier().fit(X[kept], y[kept]))
    with pytest.raises(ValueError, match="Got 7 instead"):
        model.remove([7])
    with pytest.raises(ValueError, match="one label for each of the 2 ids"):
        model.relabel([8, 9], ["yak"])


def test_removing_all_rows_is_refused_and_a_class_without_rows_stays_known():
    model = KNNClassifier().fit(X[:30], Y[:30])
    with pytest.raises(ValueError, match="at least one row"):
        model.remove(np.arange(30))
    model.remove(np.flatnonzero(Y[:30] == "dog"))
    assert model.classes_.tolist() == ["dog", "ox"]
    assert set(model.predict(NEW)) == {"ox"}


def test_multi_label_rows_arrive():
    table = (rng.random((60, 3)) < 0.5).astype(int)
    model = KNNClassifier().fit(X[:30], table[:30, :2]).partial_fit(X[30:], table[30:])
    wide = table.copy()
    wide[:30, 2] = 0
    same(model, KNNClassifier().fit(X, wide))
    with pytest.raises(ValueError, match="y must be an indicator matrix"):
        model.partial_fit(X[:2], [0, 1])


def test_a_batch_may_have_as_many_classes_as_rows():
    names = np.array([f"class {i}" for i in range(40)])
    model = KNNClassifier().fit(X, Y).partial_fit(X[:40], names).relabel(np.arange(40), names[::-1])
    assert len(model.classes_) == 43


def test_a_chosen_number_of_neighbours_stays():
    model = KNNClassifier(n_neighbors="cv").fit(X[:30], Y[:30])
    assert model.n_neighbors_ == model.partial_fit(X[30:], Y[30:]).n_neighbors_
