from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import normalize

from untwin.classify.centroids import CentroidClassifier


def rows(n=60, m=12, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.poisson(1 + 2 * (np.arange(m) % n_classes == y[:, None])).astype(float), y


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_cosines_with_the_mean_direction_of_each_class(container):
    X, y = rows()
    model = CentroidClassifier().fit(container(X), y)
    means = np.array([normalize(X[y == code]).mean(axis=0) for code in range(4)])
    np.testing.assert_allclose(model.decision_function(container(X)), cosine_similarity(X, means), atol=1e-12)
    np.testing.assert_array_equal(model.predict(container(X)), cosine_similarity(X, means).argmax(axis=1))


def test_centroids_of_sparse_rows_are_sparse():
    X, y = rows()
    model = CentroidClassifier().fit(csr_array(X * (X > 2)), y)
    assert model.centroids_.nnz <= (X > 2).sum()


def test_length_of_rows_does_not_count():
    X, y = rows()
    scale = np.random.default_rng(1).uniform(0.1, 10, len(X))[:, None]
    plain, scaled = (CentroidClassifier().fit(rows, y).decision_function(X) for rows in (X, X * scale))
    np.testing.assert_allclose(plain, scaled)


def test_cosines_of_centroids_are_symmetric_to_the_last_bit():
    """Trees of classes are grown from them, and refuse distances that differ either way."""
    rng = np.random.default_rng(0)
    X, y = csr_array((rng.random((200, 400)) * (rng.random((200, 400)) < 0.05)).astype(np.float32)), np.arange(200) % 9
    centroids = CentroidClassifier().fit(X, y).centroids_
    cosines = (centroids @ centroids.T).toarray()
    np.testing.assert_array_equal(cosines, cosines.T)


@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_a_row_of_zeros_has_no_cosine(container):
    X, y = rows()
    X[0] = 0
    model = CentroidClassifier().fit(container(X), y)
    assert not model.decision_function(container(X[:1])).any()
    others = CentroidClassifier().fit(container(X[1:]), y[1:])
    np.testing.assert_allclose(model.decision_function(container(X)), others.decision_function(container(X)))
