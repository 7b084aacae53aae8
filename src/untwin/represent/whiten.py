"""Within-class whitening: directions in which documents of one class differ count for less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh
from sklearn.covariance import ledoit_wolf

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    Array = NDArray[Any]


def within_class_whitening(Z: Array, Y: csr_array) -> Array:
    """Return W (k x k, symmetric) such that the rows of Z W scatter about their class means alike in all directions.

    Z (n x k) are documents, Y (n x C) their membership in classes. W is the inverse square root of the pooled
    covariance within classes, shrunk as Ledoit and Wolf propose. Means are not taken off: zero stays zero.
    """
    weight = Y.sum(axis=0)
    means = (Y.T @ Z) / np.maximum(weight, np.finfo(float).tiny)[:, None]
    memberships = Y.tocoo()
    scatter = Z[memberships.row] - means[memberships.col]
    scatter *= np.sqrt(memberships.data)[:, None]
    covariance, _ = ledoit_wolf(scatter, assume_centered=True)
    values, vectors = eigh(covariance)
    if not values[0] > np.finfo(Z.dtype).eps * values[-1]:
        raise ValueError(
            "whiten=True needs documents that differ within their classes. Got none instead; use whiten=False."
        )
    whitening: Array = (vectors / np.sqrt(values)) @ vectors.T
    return whitening.astype(Z.dtype)
