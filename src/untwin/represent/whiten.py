"""Within-class whitening: directions in which documents of one class differ count for less."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh
from sklearn.covariance import ledoit_wolf

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from untwin._types import Array


def within_class_whitening(Z: Array, Y: csr_array) -> Array:
    """Return W (k x k, symmetric) such that the rows of Z W scatter about their class means alike in all directions.

    Z (n x k) are documents, Y (n x C) their membership in classes. W is the inverse square root of the pooled
    covariance within classes, shrunk as Ledoit and Wolf propose. Means are not taken off: zero stays zero. Where no two
    documents of a class differ, as in classes of one row, there is nothing to even out: W is the identity.
    """
    weight = Y.sum(axis=0)
    means = (Y.T @ Z) / np.maximum(weight, np.finfo(float).tiny)[:, None]
    memberships = Y.tocoo()
    scatter = Z[memberships.row] - means[memberships.col]
    scatter *= np.sqrt(memberships.data)[:, None]
    covariance, _ = ledoit_wolf(scatter, assume_centered=True)
    values, vectors = eigh(covariance)
    eps = float(np.finfo(Z.dtype).eps)
    if not values[0] > max(eps * values[-1], (eps * abs(Z).max()) ** 2):  # nothing but rounding
        return np.eye(Z.shape[1], dtype=Z.dtype)
    whitening: Array = (vectors / np.sqrt(values)) @ vectors.T
    return whitening.astype(Z.dtype)
