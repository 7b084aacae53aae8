"""Distances between classes: how different the rows of their confusion are.

    P     C x C, sparse: rows of the confusion, as rates or raw
    D     C x C, dense: D_ij = distance of rows i and j; symmetric, zero diagonal

Two classes are alike when they are confused with the same classes. Every metric here touches only pairs of stored
cells in the same column, so thousands of classes with a few dozen cells a row take seconds.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.spatial.distance import pdist, squareform

from untwin.tables._sparse import ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from untwin._types import Floats

Metric = Literal["l1", "l2", "kl", "cosine"]
DENSE = 0.1  # share of non-zero cells above which plain loops over dense rows are faster
SMOOTHING = 0.01  # share of the uniform distribution mixed into each row before "kl"


def row_distances(rows: csr_array, metric: Metric) -> Floats:
    """Return the C x C distances between the rows of a non-negative matrix.

    >>> from scipy.sparse import csr_array
    >>> rows = csr_array([[4, 0, 6, 0], [0, 4, 6, 0], [0, 0, 7, 3], [0, 0, 4, 6]], dtype=float)
    >>> row_distances(rows, "l1")[0].tolist()
    [0.0, 8.0, 8.0, 12.0]
    """
    if metric not in _METRICS:
        raise ValueError(f"metric must be one of {', '.join(_METRICS)}. Got {metric!r} instead.")
    distances = _METRICS[metric](rows)
    np.maximum(distances, 0, out=distances)  # equal rows may fall below zero by a rounding error
    np.fill_diagonal(distances, 0)
    return distances


def _l1(rows: csr_array) -> Floats:
    if rows.nnz > DENSE * rows.shape[0] ** 2:
        return squareform(pdist(rows.toarray(), "cityblock"))
    # |a - b| = a + b - 2 min(a, b), and the minimum is zero wherever one of the two is.
    return _from_shared(np.asarray(rows.sum(axis=1), float), _sums_of_minima(rows))


def _squared_l2(rows: csr_array) -> Floats:
    return _from_shared((rows * rows).sum(axis=1), (rows @ rows.T).toarray())


def _cosine(rows: csr_array) -> Floats:
    lengths = np.sqrt((rows * rows).sum(axis=1))
    unit = rows.multiply(ratio(1, lengths)[:, None]).tocsr()
    return np.asarray(1 - (unit @ unit.T).toarray())


def _symmetric_kl(rows: csr_array) -> Floats:
    # Sum (p - q)(log p - log q) with p = (1 - s) P + s / C. Constants cancel in both factors, and what is left of
    # log p, log p - log(s / C) = log(1 + (1 - s) P C / s), is zero where P is.
    mixed = rows * (1 - SMOOTHING)
    logs = mixed.copy()
    logs.data = np.log1p(mixed.data * (mixed.shape[1] / SMOOTHING))
    cross = (mixed @ logs.T).toarray()
    return _from_shared((mixed * logs).sum(axis=1), (cross + cross.T) / 2)


def _from_shared(own: Floats, shared: Floats) -> Floats:
    """Return own_i + own_j - 2 shared_ij, in the memory of `shared` (C x C is the largest thing here)."""
    shared *= -2
    shared += own[:, None] + own[None, :]
    return shared


def _sums_of_minima(rows: csr_array) -> Floats:
    """Return the C x C sums over columns of min(a, b): one small outer minimum for each column."""
    columns = rows.tocsc()
    sums = np.zeros((rows.shape[0], rows.shape[0]))
    for start, stop in pairwise(columns.indptr.tolist()):
        members, values = columns.indices[start:stop], columns.data[start:stop]
        sums[members[:, None], members] += np.minimum.outer(values, values)
    return sums


_METRICS: dict[str, Callable[[csr_array], Floats]] = {
    "l1": _l1,
    "l2": _squared_l2,
    "kl": _symmetric_kl,
    "cosine": _cosine,
}
