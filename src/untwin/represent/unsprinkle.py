"""The sprinkled columns dropped again, without the dense matrix that paper 1 builds.

Glossary
--------
A ~ U diag(S) V'    n x (m + r); V_X are the first m rows of V.
D = U diag(S) V_X'  n x m, dense: the paper's training documents. Never built.
V_X = Q R           Q (m x k') orthonormal, k' at most k.
z_i = R diag(S) u_i  k' numbers: D_i = Q z_i.

A new document x becomes Q'x. Then D_i . x = z_i . Q'x, |D_i| = |z_i| and
|x - D_i|^2 = |x|^2 - |Q'x|^2 + |Q'x - z_i|^2: nothing that a neighbour or a linear classifier asks is lost.
Q is free up to a rotation; here its columns are the right singular vectors of D, so that z has uncorrelated columns of
falling length, as in plain LSI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scipy.linalg import svd

from untwin.linalg.orthonormal import orthonormal
from untwin.linalg.svd import TruncatedSVD, fixed_signs

if TYPE_CHECKING:
    from untwin._types import Array

SHORTEST = 1e-5  # a direction of V with a shorter part in X says nothing about terms


class Unsprinkled(NamedTuple):
    """D = Z Q': `Q` (m x k'), the singular values `S` (k') of D, and its training documents `Z` (n x k')."""

    Q: Array
    S: Array
    Z: Array


def unsprinkle(decomposition: TruncatedSVD, n_terms: int) -> Unsprinkled:
    """Return D, the part of the decomposition that is about terms, as its own thin SVD.

    >>> import numpy as np
    >>> parts = unsprinkle(TruncatedSVD(np.eye(2), np.array([5.0, 1.0]), np.array([[0.6, 0], [0, 1], [0.8, 0]])), 2)
    >>> parts.S, parts.Z @ parts.Q.T
    (array([3., 1.]), array([[3., 0.], [0., 1.]]))
    """
    U, S, V = decomposition
    if len(V) == n_terms:
        return Unsprinkled(V, S, U * S)
    Q, R = orthonormal(V[:n_terms], shortest=SHORTEST, smallest=SHORTEST**2)
    left, values, right = svd(R * S, full_matrices=False)
    Q = Q @ left.astype(Q.dtype)
    signs = fixed_signs(Q)
    turn = right.T * (values * signs)
    return Unsprinkled(Q * signs, values.astype(S.dtype), U @ turn.astype(U.dtype))
