"""Truncated SVD of A = [X | Y F], by the way that suits its shape.

Glossary
--------
A        n x (m + r) = [X | Y F]: documents x terms, and sprinkled columns as an operator (see `blocks`).
U, S, V  A ~ U diag(S) V': n x k, k, (m + r) x k; singular values fall, and the entry of each column of V that is
         farthest from zero is positive.
p        the shorter side of A. Every solver looks for the leading directions of that side only; the other side
         follows by one product, which also makes A' U = V S (or A V = U S) exact whatever the solver missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, eigh, svd
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils import check_random_state

from untwin.linalg.krylov import leading_eigenvectors
from untwin.linalg.orthonormal import orthonormal

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import RandomState

    from untwin._types import Array
    from untwin.linalg.blocks import Blocks

Solver = Literal["auto", "gram", "randomized", "arpack"]

SMALL_SIDE = 1000  # up to here the Gram matrix is decomposed in a fraction of a second
ROOM_FOR_KRYLOV = 4  # a Krylov space that would grow to the whole side is no shortcut


class TruncatedSVD(NamedTuple):
    """A ~ U diag(S) V'."""

    U: Array
    S: Array
    V: Array


def truncated_svd(A: Blocks, k: int, *, solver: Solver = "auto", random_state: Any = None) -> TruncatedSVD:
    """Return the k leading singular triples of A, fewer if its rank is lower.

    Parameters
    ----------
    A : Blocks
        The matrix, sparse or dense, with sprinkled columns or without. float32 is computed in float32.
    k : int
    solver : {"auto", "gram", "randomized", "arpack"}
        "gram" decomposes the Gram matrix of the shorter side, exactly; "randomized" is block Lanczos from a random
        start, and finds all but some tenths of a per cent of the energy; "arpack" is the slow and exact reference;
        "auto" is "gram" when a side is short, else "randomized".
    random_state : int, RandomState or None

    Examples
    --------
    >>> import numpy as np
    >>> from untwin.linalg.blocks import Blocks
    >>> U, S, V = truncated_svd(Blocks(np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 2.0]])), 1)
    >>> S, V.T
    (array([3.]), array([[1., 0., 0.]]))
    """
    n, width = A.shape
    k, wide = min(k, n, width), n <= width
    if solver == "auto":
        solver = "gram" if min(n, width) <= max(SMALL_SIDE, ROOM_FOR_KRYLOV * k) else "randomized"
    find = {"gram": _by_gram, "randomized": _by_krylov, "arpack": _by_arpack}[solver]
    short = find(A, k, check_random_state(random_state))
    short, S, long = _align(short, A.transposed_times if wide else A.times)
    U, V = (short, long) if wide else (long, short)
    signs = fixed_signs(V)
    U *= signs
    V *= signs
    return TruncatedSVD(U, S, V)


def fixed_signs(V: Array) -> Array:
    """Return 1 or -1 for each column of V: what makes its entry farthest from zero positive."""
    return np.where(V.max(axis=0, initial=0) < -V.min(axis=0, initial=0), -1, 1).astype(V.dtype)


def _align(short: Array, across: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
    """Return the singular triples that A has on the directions found; `across` multiplies by A or A'."""
    image = across(short)
    rounding = np.finfo(image.dtype).eps * max(len(image), len(short))
    longest = np.sqrt(np.einsum("ij,ij->j", image, image).max(initial=0))
    long, R = orthonormal(image, shortest=rounding * longest)
    del image  # the largest array of all; its successor is about to be made
    left, S, right = svd(R, full_matrices=False)
    kept = rounding * S.max(initial=0) < S
    left, S, right = (part.astype(long.dtype) for part in (left[:, kept], S[kept], right[kept]))
    return short @ right.T, S, long @ left


def _gram_product(A: Blocks) -> Callable[[Array], Array]:
    """Return the product with the smaller of A A' and A' A."""
    if A.shape[0] <= A.shape[1]:
        return lambda block: A.times(A.transposed_times(block))
    return lambda block: A.transposed_times(A.times(block))


def _by_gram(A: Blocks, k: int, random_state: RandomState) -> Array:
    p, gram = min(A.shape), A.gram().astype(np.float64)
    try:
        vectors: Array = eigh(gram, subset_by_index=[p - k, p - 1])[1]
    except LinAlgError:  # what finds some of them gives up on a few matrices; what finds all does not
        vectors = eigh(gram, driver="evd")[1][:, p - k :]
    return vectors.astype(A.dtype)


def _by_krylov(A: Blocks, k: int, random_state: RandomState) -> Array:
    return leading_eigenvectors(_gram_product(A), min(A.shape), k, random_state, A.dtype)


def _by_arpack(A: Blocks, k: int, random_state: RandomState) -> Array:
    p, multiply = min(A.shape), _gram_product(A)
    if k == p:
        return _by_gram(A, k, random_state)  # ARPACK cannot find all
    gram = LinearOperator((p, p), matvec=lambda v: multiply(v.reshape(p, 1)).ravel(), dtype=A.dtype)
    vectors: Array = eigsh(gram, k, v0=random_state.standard_normal(p).astype(A.dtype))[1]
    return vectors
