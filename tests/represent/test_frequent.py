"""Leaving rare terms out again in each fold is counting inside the folds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from untwin import TextCounts, out_of_fold
from untwin.represent.frequent import FrequentTerms


def scattered_texts(n, n_classes):
    """Return texts whose classes share most words, many of which occur once or twice."""
    rng = np.random.default_rng(0)
    codes = np.arange(n) % n_classes
    words = rng.zipf(1.4, (n, 8)) % 400 + 3 * codes[:, np.newaxis] * (rng.random((n, 8)) < 0.4)
    return [" ".join(f"w{word}" for word in row) for row in words.tolist()], codes


@pytest.mark.parametrize("min_df", [1, 2, 3])
def test_counted_once_or_inside_each_fold_is_the_same(min_df):
    texts, y = scattered_texts(240, 4)
    folds, svm = np.arange(len(y)) // 4 % 4, LinearSVC(tol=1e-8, max_iter=100_000, random_state=0)
    counts = TextCounts(min_df=min_df)
    inside = out_of_fold(make_pipeline(counts, TfidfTransformer(), svm), texts, y, cv=folds).scores
    X = counts.fit_transform(texts)
    once = out_of_fold(make_pipeline(FrequentTerms(min_df), TfidfTransformer(), svm), X, y, cv=folds).scores
    leaky = out_of_fold(make_pipeline(TfidfTransformer(), svm), X, y, cv=folds).scores
    np.testing.assert_allclose(once, inside, atol=1e-6)
    assert np.abs(leaky - inside).max() > 1e-2


def test_rare_terms_go_and_columns_stay():
    counts = csr_array([[1, 0, 2, 0], [3, 1, 0, 0], [0, 0, 1, 0]])
    frequent = FrequentTerms(2).fit(counts)
    assert frequent.kept_.tolist() == [True, False, True, False]
    new = frequent.transform(csr_array([[0, 5, 1, 7]]))
    assert new.toarray().tolist() == [[0, 0, 1, 0]]
    assert new.nnz == 1


def test_nothing_is_copied_where_nothing_is_rare():
    counts = csr_array([[1.0, 2.0], [3.0, 1.0]])
    assert np.shares_memory(FrequentTerms(2).fit(counts).transform(counts).data, counts.data)
