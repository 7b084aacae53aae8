import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import cosine_similarity

from untwin.represent.similarity import category_similarity


def double_loop(X, y, self_pairs):
    X, y = X[X.any(axis=1)], y[X.any(axis=1)]
    cosine, classes = cosine_similarity(X), np.unique(y)
    intra, inter = [], []
    for a, first in enumerate(classes):
        rows = np.flatnonzero(y == first)
        pairs = [cosine[i, j] for i in rows for j in rows if self_pairs or i != j]
        intra.append(np.mean(pairs) if pairs else np.nan)
        inter += [np.mean([cosine[i, j] for i in rows for j in np.flatnonzero(y == c)]) for c in classes[a + 1 :]]
    return np.array(intra), np.mean(inter)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_equals_the_double_loop(seed, self_pairs, sparse):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (25, 6)) * rng.normal(1, 0.5, (25, 6))
    y = np.array(["ape", "bee", "cat", "dog"])[rng.integers(0, 4, 25)]
    y[:2] = "ape", "bee"
    X[:2] = 1  # two classes at least, with rows that are not empty
    intra, inter = double_loop(X, y, self_pairs)
    found = category_similarity(csr_array(X) if sparse else X, y, self_pairs=self_pairs)
    with_rows = np.isin(found.classes, y[X.any(axis=1)])
    assert_allclose(found.per_class[with_rows], intra, atol=1e-12)
    assert np.isnan(found.per_class[~with_rows]).all()
    assert_allclose(found.inter, inter, atol=1e-12)
    if not np.isnan(intra).all():
        assert_allclose(found.intra, np.nanmean(intra), atol=1e-12)
        assert_allclose(found.ratio, np.nanmean(intra) / inter, rtol=1e-9)


def test_classes_without_a_common_term_are_infinitely_far_apart():
    found = category_similarity([[1, 0], [2, 0], [0, 1], [0, 3]], [0, 0, 1, 1])
    assert (found.intra, found.inter, found.ratio) == (1.0, 0.0, np.inf)


def test_one_class_has_no_pair_of_classes():
    found = category_similarity([[1, 0], [1, 1]], ["a", "a"])
    assert np.isnan(found.inter)
    assert np.isnan(found.ratio)
    assert_allclose(found.intra, np.sqrt(0.5))


def test_nothing_but_empty_rows():
    assert np.isnan(category_similarity(np.zeros((2, 3)), ["a", "b"]).intra)


def test_rows_and_labels_must_match():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        category_similarity([[1, 0], [1, 1]], ["a"])


def test_the_record_is_read_only():
    found = category_similarity([[1, 0], [1, 1]], ["a", "b"])
    with pytest.raises(ValueError, match="read-only"):
        found.per_class[0] = 1
