"""Separation, reconstruction error, energy and term similarity against plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import cosine_similarity

from untwin.represent.analysis import separation
from untwin.represent.sprinkle import SprinkledLSI
from untwin.structure.plan import SprinklingPlan

RNG = np.random.default_rng(0)
X = (RNG.random((60, 25)) < 0.2) * RNG.random((60, 25))
Y = np.array(["a", "b", "c"])[RNG.integers(3, size=60)]


@given(n=st.integers(3, 30), shift=st.sampled_from([0.0, 1e4]), sparse=st.booleans(), seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_separation_is_the_double_loop(n, shift, sparse, seed):
    rng = np.random.default_rng(seed)
    Z, y = rng.normal(size=(n, 4)) + shift * (not sparse), np.r_[0, 1, rng.integers(4, size=n - 2)]
    distances = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    same = y[:, None] == y
    expected = distances[same].sum() / distances[~same].sum()
    assert separation(csr_array(Z) if sparse else Z, y) == pytest.approx(expected, rel=1e-6)


def test_separation_needs_two_classes():
    with pytest.raises(ValueError, match="at least two classes"):
        separation(np.ones((4, 2)), ["a"] * 4)


def test_rounding_is_no_distance_between_classes():
    rows = 1 / 3 + 1e-9 * RNG.normal(size=(40, 3))
    with pytest.raises(ValueError, match="rows differ"):
        separation(rows, np.arange(40) % 2)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("training", ["projected", "reconstructed"])
def test_reconstruction_error_is_the_mean_square_of_the_dense_difference(training, whiten):
    space = SprinkledLSI(n_components=5, plan=SprinklingPlan.uniform(s=3), training=training, whiten=whiten)
    Z = space.fit_transform(csr_array(X), Y)
    coordinates = Z @ np.linalg.inv(space.whitening_) if whiten else Z
    dense = coordinates @ space.components_
    assert space.reconstruction_error(X, Z) == pytest.approx(((X - dense) ** 2).mean())
    projected = X @ space.components_.T @ space.components_
    assert space.reconstruction_error(csr_array(X)) == pytest.approx(((X - projected) ** 2).mean())


def test_sprinkling_trades_reconstruction_for_separation():
    plain = SprinkledLSI(n_components=5).fit(X)
    strong = SprinkledLSI(n_components=5, plan=SprinklingPlan.uniform(s=50)).fit(X, Y)
    assert strong.reconstruction_error(X) > plain.reconstruction_error(X)
    assert separation(strong.transform(X), Y) < separation(plain.transform(X), Y)
    assert strong.explained_energy_.sum() < plain.explained_energy_.sum() < 1


def test_explained_energy_is_what_the_components_hold():
    space = SprinkledLSI(n_components=5, plan=SprinklingPlan.uniform(s=3), training="reconstructed").fit(X, Y)
    np.testing.assert_allclose(space.explained_energy_, ((X @ space.components_.T) ** 2).sum(axis=0) / (X**2).sum())
    assert 1 - space.explained_energy_.sum() == pytest.approx(space.reconstruction_error(X) * X.size / (X**2).sum())


@pytest.mark.parametrize("plan", [None, SprinklingPlan.uniform(s=3)])
def test_terms_are_compared_as_columns_of_the_approximated_documents(plan):
    space = SprinkledLSI(n_components=5, plan=plan, training="reconstructed")
    dense = space.fit_transform(X, Y) @ space.components_
    expected = cosine_similarity(dense.T)
    assert space.term_similarity(3, 8) == pytest.approx(expected[3, 8])
    nearest = space.similar_terms(3, n=4)
    order = [i for i in np.argsort(-expected[3]) if i != 3][:4]
    assert [term for term, _ in nearest] == order
    np.testing.assert_allclose([similarity for _, similarity in nearest], expected[3, order])


def test_terms_have_the_names_of_the_frame_or_those_given():
    names = [f"t{i}" for i in range(25)]
    named = SprinkledLSI(n_components=5).fit(pd.DataFrame(X, columns=names))
    bare = SprinkledLSI(n_components=5).fit(X)
    assert (
        named.term_similarity("t3", "t8") == named.term_similarity(3, 8) == bare.term_similarity("t3", 8, names=names)
    )
    assert named.similar_terms("t3", 2) == bare.similar_terms(3, 2, names=names)
    assert len(named.similar_terms("t3", 1000)) == 24
    with pytest.raises(ValueError, match="pass names"):
        bare.term_similarity("t3", "t8")
    with pytest.raises(ValueError, match="Got 'zebra' instead"):
        named.similar_terms("zebra")
    with pytest.raises(ValueError, match="column from 0 to 24"):
        bare.similar_terms(25)
    with pytest.raises(ValueError, match="name all 25 terms"):
        bare.similar_terms(3, names=["t0"])
