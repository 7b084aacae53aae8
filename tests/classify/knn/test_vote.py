import numpy as np
import pytest
from scipy.sparse import csr_array

from untwin.classify.knn.vote import likeliest, majority_labels, vote_shares, vote_weights

Y = csr_array(np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]))
PRIOR = np.array([0.25, 0.5, 0.25])


@pytest.mark.parametrize("weights", ["similarity", "uniform"])
def test_who_is_similar_to_nothing_has_no_vote(weights):
    assert vote_weights(np.zeros((1, 3)), metric="cosine", weights=weights).tolist() == [[0, 0, 0]]


def test_equal_rows_alone_vote_by_distance():
    near = np.array([[0.5, 2.0], [0.0, 2.0]], dtype=np.float32)
    assert vote_weights(near, metric="euclidean", weights="similarity").tolist() == [[2, 0.5], [1, 0]]
    assert vote_weights(near, metric="euclidean", weights="uniform").tolist() == [[1, 1], [1, 1]]


def test_shares_are_the_literal_weighted_counts():
    rng = np.random.default_rng(0)
    weights, rows = rng.random((20, 3)), rng.integers(0, 4, (20, 3))
    shares = vote_shares(weights, rows, Y, PRIOR)
    dense = Y.toarray()
    literal = [w @ dense[r] / w.sum() for w, r in zip(weights, rows, strict=True)]
    np.testing.assert_allclose(shares, literal, rtol=1e-14)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-14)


def test_nobody_votes_then_the_prior_answers():
    assert vote_shares(np.zeros((1, 2)), np.array([[0, 1]]), Y, PRIOR).tolist() == [PRIOR.tolist()]


def test_expected_grade_follows_the_order_not_the_names():
    shares = np.array([[0.5, 0.0, 0.5], [0.9, 0.1, 0.0], [0.0, 0.5, 0.5]])
    grades = np.array([0, 2, 1])  # the classes a, b, c in the order a, c, b
    assert likeliest(shares).tolist() == [0, 0, 1]
    assert likeliest(shares, grades).tolist() == [0, 0, 2]  # 0.5 and 1.5 lie between two grades: the lower one


def test_half_of_the_votes_is_no_majority():
    shares = np.array([[0.5, 0.5], [0.51, 0.2]])
    assert majority_labels(shares, at_least_one=False).tolist() == [[False, False], [True, False]]
    assert majority_labels(shares, at_least_one=True).tolist() == [[True, False], [True, False]]
