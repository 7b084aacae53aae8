"""`LatentClassClassifier(discrete=...)`: a semi-discrete table in place of the table itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from untwin.classify.latent.class_space import DiscreteTerms
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.linalg.sdd import semi_discrete

VARIANTS = [
    LatentClassClassifier(discrete=12),
    LatentClassClassifier(inverse=True, scale_terms=False, discrete=12),
    LatentClassClassifier(columns="means", discrete=12),
]


def counts(n=400, m=60, n_classes=5, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    rates = 0.2 + 2 * rng.random((n_classes, m)) ** 4
    return rng.poisson(rates[labels]).astype(float), labels


@pytest.mark.parametrize("model", VARIANTS)
@pytest.mark.parametrize("sparse", [True, False])
def test_scores_are_those_of_the_decomposed_table_written_out(model, sparse):
    rows, labels = counts()
    model = clone(model).fit(csr_array(rows) if sparse else rows, labels)
    scale = rows.sum(axis=0) ** (-0.5 if model.scale_terms else 0.0)
    members = labels[:, None] == model.classes_
    Z = scale[:, None] * (rows.T @ (members / (members.sum(axis=0) if model.columns == "means" else 1)))
    found = semi_discrete(Z, 12)
    Z = (found.P.unpacked() * found.d) @ found.Q.unpacked().T
    A, W, Ct = np.linalg.svd(Z, full_matrices=False)
    literal = (rows * scale) @ A @ np.diag(W**-1.0 if model.inverse else np.ones_like(W)) @ Ct
    given = csr_array(rows) if sparse else rows
    np.testing.assert_allclose(model.decision_function(given), literal, atol=1e-9 * abs(literal).max())
    np.testing.assert_allclose(model.singular_values_, W)


def test_many_terms_come_to_the_table_itself_and_few_are_small():
    rows, labels = counts()
    whole, near, small = (LatentClassClassifier(discrete=k).fit(rows[::2], labels[::2]) for k in (None, 60, 10))
    np.testing.assert_allclose(near.decision_function(rows), whole.decision_function(rows), atol=0.1)
    assert isinstance(small._space.terms, DiscreteTerms)
    assert small._space.terms.nbytes == 60 * 8 + (60 + 5) * 3 + 10 * 8
    assert small._space.terms.nbytes < whole._space.terms.nbytes / 2
    assert small.score(rows[1::2], labels[1::2]) > whole.score(rows[1::2], labels[1::2]) - 0.05


def test_it_learns_on_and_survives_pickling():
    rows, labels = counts()
    model = LatentClassClassifier(discrete=12).partial_fit(rows[:250, :50], labels[:250])
    model.partial_fit(rows[250:], labels[250:])
    given = rows.copy()
    given[:250, 50:] = 0
    whole = LatentClassClassifier(discrete=12).fit(given, labels)
    np.testing.assert_allclose(model.predict_proba(rows), whole.predict_proba(rows), atol=1e-9)
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict_proba(rows), model.predict_proba(rows))
