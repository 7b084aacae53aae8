"""`SemiDiscreteLSI` against the documents of the decomposition written out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.metrics.pairwise import cosine_similarity

from untwin.linalg.sdd import semi_discrete
from untwin.represent.semidiscrete import SemiDiscreteLSI


@pytest.fixture(scope="module")
def documents():
    return csr_array(random_array((120, 60), density=0.15, rng=np.random.default_rng(0)))


@pytest.fixture(scope="module")
def dense(documents):
    """P diag(d) Q', written out."""
    found = semi_discrete(documents, 20)
    return (found.P.unpacked() * found.d) @ found.Q.unpacked().T


@pytest.mark.parametrize("sparse", [True, False])
def test_products_and_lengths_are_those_of_the_documents_written_out(documents, dense, sparse):
    X = documents if sparse else documents.toarray()
    space = SemiDiscreteLSI(n_components=20, training="reconstructed")
    Z, new = space.fit_transform(X[:120]), space.transform(X)
    np.testing.assert_allclose(Z @ Z.T, dense @ dense.T, atol=1e-9)
    np.testing.assert_allclose(Z @ new.T, dense @ documents.toarray().T, atol=1e-9)
    residual = documents.toarray() - dense
    np.testing.assert_allclose(space.discarded_energy_, (residual**2).sum() / (documents**2).sum(), rtol=1e-9)


def test_projected_documents_are_projections_on_the_directions(documents):
    space = SemiDiscreteLSI(n_components=20).fit(documents)
    Q = space.decomposition_.Q.unpacked().astype(float)
    projections = documents @ Q @ np.linalg.pinv(Q)
    np.testing.assert_allclose(cosine_similarity(space.transform(documents)), cosine_similarity(projections), atol=1e-9)
    np.testing.assert_array_equal(SemiDiscreteLSI(n_components=20).fit_transform(documents), space.transform(documents))


def test_more_directions_than_there_are_make_a_smaller_space():
    X = np.outer(np.arange(1.0, 9.0), [1.0, 1.0, -1.0]) + np.outer(np.arange(8.0), [0.0, 0.0, 1.0])
    space = SemiDiscreteLSI(n_components=200)
    Z = space.fit_transform(X)
    assert Z.shape == (8, 2)
    assert len(space.get_feature_names_out()) == 2
    assert space.discarded_energy_ < 1e-12
    np.testing.assert_allclose(Z @ Z.T, X @ X.T)


def test_float32_stays_and_two_bits_an_entry_are_kept(documents):
    space = SemiDiscreteLSI(n_components=20).fit(documents.astype(np.float32))
    assert space.transform(documents.astype(np.float32)).dtype == np.float32
    assert space.decomposition_.nbytes == (120 + 60) * 20 / 4 + 20 * 8
    restored = pickle.loads(pickle.dumps(space))
    np.testing.assert_array_equal(restored.transform(documents), space.transform(documents))


def test_zeros_only_are_refused():
    with pytest.raises(ValueError, match="other than zeros"):
        SemiDiscreteLSI().fit(np.zeros((3, 2)))
