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
