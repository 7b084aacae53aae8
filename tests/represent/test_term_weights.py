"""`TermWeights` against `TfidfTransformer`; leaving rare terms out again in each fold is counting inside the folds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from untwin import TextCounts, out_of_fold
from untwin.represent.term_weights import TermWeights


def scattered_texts(n, n_classes):
    """Return texts whose classes share most words, many of which occur once or twice."""
    rng = np.random.default_rng(0)
    codes = np.arange(n) % n_classes
    words = rng.zipf(1.4, (n, 8)) % 400 + 3 * codes[:, np.newaxis] * (rng.random((n, 8)) < 0.4)
    return [" ".join(f"w{word}" for word in row) for row in words.tolist()], codes


@pytest.fixture(scope="module")
def counts():
    return TextCounts().fit_transform(scattered_texts(120, 4)[0])


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, lambda X: X.toarray(), lambda X: X.astype(np.float64)])
def test_one_block_is_sublinear_tf_idf(counts, kind):
    train, new = counts[:80], counts[80:]
    theirs = TfidfTransformer(sublinear_tf=True).fit(train)
    ours = TermWeights().fit(kind(train))
    seen = np.diff(csr_array(train.T).indptr) > 0
    np.testing.assert_allclose(ours.idf_[seen], theirs.idf_[seen], rtol=1e-6)
    np.testing.assert_allclose(ours.transform(kind(train)).toarray(), theirs.transform(train).toarray(), atol=1e-6)
    expected = normalize(theirs.transform(new).toarray() * seen)  # of terms that training rows have
    np.testing.assert_allclose(ours.transform(kind(new)).toarray(), expected, atol=1e-6)


def test_each_block_of_a_row_has_length_one(counts):
    texts, _ = scattered_texts(120, 4)
    characters = TextCounts(analyzer="char_wb", ngram_range=(2, 3)).fit_transform(texts)
    both = csr_array(hstack([counts, characters], format="csr"))
    blocks = np.repeat([0, 1], [counts.shape[1], characters.shape[1]])
    mixed = np.random.default_rng(0).permutation(both.shape[1])  # blocks need not lie side by side
    found = TermWeights(block_of=blocks[mixed]).fit_transform(both[:, mixed]).toarray()
    for number, part in enumerate((counts, characters)):
        rows = np.empty(part.shape)
        rows[:, mixed[blocks[mixed] == number] - (number * counts.shape[1])] = found[:, blocks[mixed] == number]
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-5)
        np.testing.assert_allclose(rows, TermWeights().fit_transform(part).toarray(), atol=1e-6)


def test_terms_beyond_the_blocks_belong_to_the_first():
    counts = csr_array([[1, 2, 1, 1], [1, 0, 1, 0]])
    whole = TermWeights(block_of=[0, 1, 0, 0]).fit_transform(counts)
    np.testing.assert_array_equal(TermWeights(block_of=[0, 1]).fit_transform(counts).toarray(), whole.toarray())


@pytest.mark.parametrize("min_df", [1, 2, 3])
def test_counted_once_or_inside_each_fold_is_the_same(min_df):
    texts, y = scattered_texts(240, 4)
    folds, svm = np.arange(len(y)) // 4 % 4, LinearSVC(tol=1e-8, max_iter=100_000, random_state=0)
    counts, weights = TextCounts(min_df=min_df), TfidfTransformer(sublinear_tf=True)
    inside = out_of_fold(make_pipeline(counts, weights, svm), texts, y, cv=folds).scores
    X = counts.fit_transform(texts)
    once = out_of_fold(make_pipeline(TermWeights(min_df=min_df), svm), X, y, cv=folds).scores
    leaky = out_of_fold(make_pipeline(weights, svm), X, y, cv=folds).scores
    np.testing.assert_allclose(once, inside, atol=1e-4)  # in single precision
    assert np.abs(leaky - inside).max() > 1e-2


def test_rare_terms_go_and_columns_stay():
    counts = csr_array([[1, 0, 2, 0], [3, 1, 0, 0], [0, 0, 1, 0]])
    weights = TermWeights(min_df=2).fit(counts)
    assert (weights.idf_ > 0).tolist() == [True, False, True, False]
    new = weights.transform(csr_array([[0, 5, 1, 7]]))
    assert new.toarray().tolist() == [[0, 0, 1, 0]]
    assert new.nnz == 1


def test_a_stored_zero_is_no_term():
    counts = csr_array(([1, 0, 2], [0, 1, 1], [0, 2, 3]), shape=(2, 2))
    weights = TermWeights().fit(counts)
    np.testing.assert_allclose(weights.idf_, np.log(3 / 2) + 1, rtol=1e-6)
    assert weights.transform(counts).toarray().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_indices_stay_as_narrow_as_they_are(counts):
    """Wide ones take twice the memory, and liblinear refuses them."""
    weights = TermWeights().fit_transform(counts)
    assert weights.indices.dtype == weights.indptr.dtype == counts.indices.dtype == np.int32
    assert weights.has_sorted_indices


def test_empty_rows_and_no_rows():
    weights = TermWeights().fit(csr_array([[1, 2], [0, 1]]))
    assert weights.transform(csr_array((3, 2), dtype=np.int32)).nnz == 0
    assert weights.transform(csr_array([[0, 0], [0, 4]])).toarray().tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("block_of", [[0, -1], [0, 1, 1]])
def test_blocks_that_do_not_fit_are_refused(block_of):
    with pytest.raises(ValueError, match=r"block|broadcast"):
        TermWeights(block_of=block_of).fit_transform(csr_array([[1, 2]]))


def test_counts_are_not_negative():
    with pytest.raises(ValueError, match="Negative values"):
        TermWeights().fit(csr_array([[1, -2]]))
