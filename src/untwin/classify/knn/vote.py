"""The vote of neighbours: weights, shares of the classes, and the predicted class.

Glossary
--------
values     b x k    similarity (cosine) or distance (Euclidean) of the k neighbours of b rows
weights    b x k    what each neighbour's vote counts
Y          n x C    classes of the training rows, one column a class; several ones in a row for multi-label data
shares     b x C    share of the votes that each class gets; for multi-label data a row may sum to more than one
grades     C        place of each class in a given order
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats, Indices


def vote_weights(values: Array, *, metric: str, weights: str) -> Floats:
    """Return what each neighbour's vote counts: "uniform", or by "similarity".

    By similarity means: the cosine itself, a negative one counting nothing; of the distance its inverse, and where a
    neighbour is at distance zero only such neighbours vote. A row whose similarity to all neighbours is zero has none.

    >>> vote_weights(np.array([[0.8, 0.4, -0.1]]), metric="cosine", weights="similarity").tolist()
    [[0.8, 0.4, 0.0]]
    >>> vote_weights(np.array([[0.0, 0.0, 2.0]]), metric="euclidean", weights="similarity").tolist()
    [[1.0, 1.0, 0.0]]
    """
    near = np.asarray(values, dtype=np.float64)
    if weights == "uniform":
        related = near.any(axis=1, keepdims=True) | (metric == "euclidean")
        return np.broadcast_to(related, near.shape).astype(np.float64)
    if metric == "cosine":
        return np.clip(near, 0, None)
    same = near == 0
    inverse = np.divide(1.0, near, out=np.zeros_like(near), where=~same)
    return np.where(same.any(axis=1, keepdims=True), same, inverse)


def vote_shares(weights: Floats, neighbours: Indices, Y: csr_array, prior: Floats) -> Floats:
    """Return the share of the votes for each class; the `prior` where nobody votes.

    >>> Y = csr_array([[1, 0], [0, 1], [1, 0]])
    >>> vote_shares(np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([[2, 1], [0, 1]]), Y, np.array([0.5, 0.5])).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    b, k = weights.shape
    total = weights.sum(axis=1)
    voters = np.divide(weights, total[:, None], out=np.zeros_like(weights), where=total[:, None] > 0)
    votes = csr_array((voters.ravel(), neighbours.ravel(), np.arange(0, b * k + 1, k)), shape=(b, Y.shape[0]))
    shares = (votes @ Y).toarray()
    shares[total == 0] = prior
    return np.asarray(shares)


def likeliest(shares: Floats, grades: Array | None = None) -> Indices:
    """Return the class with the largest share; of ordered classes the one nearest to the mean grade. Ties: the first.

    On film reviews the mean grade had a smaller mean absolute error than the largest share, and tied with the median.

    >>> likeliest(np.array([[0.4, 0.3, 0.3]])).tolist()
    [0]
    >>> likeliest(np.array([[0.4, 0.3, 0.3]]), grades=np.array([0, 1, 2])).tolist()
    [1]
    """
    if grades is None:
        return np.asarray(shares.argmax(axis=1))
    apart = abs((shares @ grades)[:, None] - grades)
    in_order = np.argsort(grades)
    return np.asarray(in_order[apart[:, in_order].argmin(axis=1)])


def majority_labels(shares: Floats, *, at_least_one: bool) -> Flags:
    """Return the labels that more than half of the votes carry; `at_least_one`: else the one with the largest share.

    >>> majority_labels(np.array([[0.7, 0.6, 0.1], [0.2, 0.4, 0.1]]), at_least_one=True).tolist()
    [[True, True, False], [False, True, False]]
    """
    chosen = shares > 0.5
    if at_least_one:
        alone = np.flatnonzero(~chosen.any(axis=1))
        chosen[alone, shares[alone].argmax(axis=1)] = True
    return chosen
