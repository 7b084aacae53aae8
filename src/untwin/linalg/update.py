"""Updates of a truncated SVD: new rows, new columns, changed entries, withdrawn rows, without the matrix itself.

Glossary
--------
A        n x w = U diag(S) V', known by U, S, V only (k triples).
P, R     n x c, w x c: the change A + P R', sparse or dense. New rows B are P = [0; I], R = B', new columns likewise.
H        k x c = U'P, the part of P inside the span of U; P - U H is the part outside.
Q, T     P - U H = Q T with Q orthonormal (n x q), and Q = (P - U H) M: where rounding allows, Q is never formed.
core     (k + q) x (k + q'): A + P R' = [U Q] core [V Q']'. Its SVD turns the two bases into the new U and V.

The update is exact for what the decomposition holds; truncating it again to `keep` triples is the only loss, and the
discarded values are returned. A chain of updates stays orthonormal, yet drifts away from the SVD of the whole by at
most the sum of the first discarded singular values. Folding-in is the cheap alternative: it changes neither basis, so
that it loses orthogonality as well. See Zha and Simon, "On updating problems in latent semantic indexing", 1999, and
Brand, "Fast low-rank modifications of the thin singular value decomposition", 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag, eigh, svd
from scipy.sparse import csr_array, issparse

from untwin._compat import as_dense
from untwin.linalg.blocks import product
from untwin.linalg.orthonormal import orthonormal
from untwin.linalg.svd import TruncatedSVD, fixed_signs

if TYPE_CHECKING:
    from untwin._types import Array


class Updated(NamedTuple):
    """A decomposition after an update, and the singular values that did not fit in, largest first."""

    decomposition: TruncatedSVD
    discarded: Array


def with_rows(decomposition: TruncatedSVD, B: Any, keep: int) -> Updated:
    """Return the decomposition of A with the rows B (b x w) below, cut to `keep` triples.

    >>> old = TruncatedSVD(np.array([[1.0]]), np.array([3.0]), np.array([[1.0], [0.0]]))
    >>> (U, S, V), discarded = with_rows(old, np.array([[0.0, 2.0]]), keep=2)
    >>> S, (U * S) @ V.T
    (array([3., 2.]), array([[3., 0.], [0., 2.]]))
    """
    U, S, V = decomposition
    return _join(_Appended(U, B.shape[0]), S, _outside(V, B.T), keep)


def with_columns(decomposition: TruncatedSVD, C: Any, keep: int) -> Updated:
    """Return the decomposition of A with the columns C (n x c) to its right, cut to `keep` triples."""
    U, S, V = decomposition
    return _join(_outside(U, C), S, _Appended(V, C.shape[1]), keep)


def with_change(decomposition: TruncatedSVD, P: Any, R: Any, keep: int) -> Updated:
    """Return the decomposition of A + P R', cut to `keep` triples."""
    U, S, V = decomposition
    return _join(_outside(U, P), S, _outside(V, R), keep)


def without_rows(decomposition: TruncatedSVD, rows: Any) -> TruncatedSVD:
    """Return the decomposition of A without some of its rows (numbers or a mask); nothing else is lost."""
    U, S, V = decomposition
    Q, R = orthonormal(np.delete(U, rows, axis=0))
    left, values, right = svd(R * S, full_matrices=False)
    kept = values > np.finfo(U.dtype).eps * len(values) * S.max(initial=0)
    return _fix_signs(Q @ left[:, kept].astype(Q.dtype), values[kept], V @ right[kept].T.astype(V.dtype))


def without_columns(decomposition: TruncatedSVD, columns: Any) -> TruncatedSVD:
    """Return the decomposition of A without some of its columns."""
    U, S, V = decomposition
    V, S, U = without_rows(TruncatedSVD(V, S, U), columns)
    return _fix_signs(U, S, V)


def fold_in_rows(decomposition: TruncatedSVD, B: Any) -> TruncatedSVD:
    """Return A with the rows B (b x w) as the old V sees them: nothing is turned, U is no longer orthonormal."""
    U, S, V = decomposition
    return TruncatedSVD(np.concatenate([U, product(_csr(B), V) / S]), S, V)


def fold_in_columns(decomposition: TruncatedSVD, C: Any) -> TruncatedSVD:
    """Return A with the columns C (n x c) as the old U sees them: nothing is turned, V is no longer orthonormal."""
    U, S, V = decomposition
    return TruncatedSVD(U, S, np.concatenate([V, product(_csr(C.T), U) / S]))


def loss_of_orthogonality(basis: Array) -> float:
    """Return |Q'Q - I| (the largest singular value) of the columns of a basis Q."""
    gram = (basis.T @ basis).astype(np.float64)
    return float(abs(np.linalg.eigvalsh(gram - np.eye(len(gram)))).max(initial=0))


# ---------------------------------------------------------------------- one side of the change


@dataclass(frozen=True, slots=True)
class _Appended:
    """A basis (p x k) and `count` unit vectors of places below it."""

    basis: Array
    count: int

    @property
    def coordinates(self) -> Array:
        """The unit vectors, by basis and new directions."""
        return np.concatenate([np.zeros((self.basis.shape[1], self.count)), np.eye(self.count)])

    def turn(self, W: Array) -> Array:
        k, W = self.basis.shape[1], W.astype(self.basis.dtype)
        return np.concatenate([self.basis @ W[:k], W[k:]])


@dataclass(frozen=True, slots=True)
class _Outside:
    """A basis (p x k) and the orthonormal directions Q = (P - basis H) M that P (p x c) has outside it."""

    basis: Array
    P: Any
    H: Array
    M: Array
    coordinates: Array  # (k + q) x c: P = [basis Q] coordinates

    def turn(self, W: Array) -> Array:
        """Return [basis Q] W."""
        k = self.basis.shape[1]
        through_P = self.M @ W[k:]
        turn = (W[:k] - self.H @ through_P).astype(self.basis.dtype)
        result: Array = self.basis @ turn
        sparse: bool = issparse(self.P)
        used = np.flatnonzero(np.diff(self.P.indptr)) if sparse else slice(None)  # new rows have few of all terms
        result[used] += product(self.P[used], through_P.astype(self.basis.dtype))
        return result


def _outside(basis: Array, P: Any) -> _Outside:
    """Find the directions of P outside the span of a basis.

    Their Gram matrix is P'P - H'H. It gives Q as a product with P itself, which is mostly sparse; but a direction that
    keeps the share x of its squared length outside is right to rounding / x only. Where that is too little, the part
    outside is written out and made orthonormal twice.
    """
    P = _csr(P)
    H = product(_csr(P.T), basis).T.astype(np.float64)
    rounding = np.finfo(basis.dtype).eps
    gram = as_dense(P.T.astype(np.float64) @ P.astype(np.float64))
    lengths = np.sqrt(gram.diagonal())
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    shares, vectors = eigh((gram - H.T @ H) * np.outer(inverse, inverse))
    outside = shares > 10 * len(shares) * rounding
    shares, vectors = shares[outside], vectors[:, outside]
    if shares.min(initial=1) < rounding**0.25:
        return _write_out(basis, P, H, lengths)
    roots = np.sqrt(shares)
    T = roots[:, None] * vectors.T * lengths
    return _Outside(basis, P, H, inverse[:, None] * vectors / roots, np.concatenate([H, T]))


def _write_out(basis: Array, P: Any, H: Array, lengths: Array) -> _Outside:
    block = as_dense(P) - basis @ H.astype(basis.dtype)
    block -= basis @ (basis.T @ block)
    rounding = 10 * len(lengths) * np.finfo(basis.dtype).eps
    Q, T = orthonormal(block, shortest=rounding * lengths.max())
    nothing = np.zeros((basis.shape[1], Q.shape[1]))
    return _Outside(basis, Q, nothing, np.eye(Q.shape[1]), np.concatenate([H, T]))


# ---------------------------------------------------------------------- both sides


def _join(left: _Appended | _Outside, S: Array, right: _Appended | _Outside, keep: int) -> Updated:
    """Return [U Q] core [V Q']' as an SVD, cut to `keep` triples and to what is more than rounding."""
    new = (len(side.coordinates) - len(S) for side in (left, right))
    core = block_diag(np.diag(S.astype(np.float64)), np.zeros(tuple(new)))
    core += left.coordinates @ right.coordinates.T
    W, values, Z = svd(core, full_matrices=False)
    rounding = 10 * len(core) * np.finfo(S.dtype).eps  # what the directions outside are right to, too
    rank = int((values > rounding * values.max(initial=0)).sum())
    kept = slice(0, min(keep, rank))
    new_svd = _fix_signs(left.turn(W[:, kept]), values[kept].astype(S.dtype), right.turn(Z[kept].T))
    return Updated(new_svd, values[kept.stop : rank])


def _fix_signs(U: Array, S: Array, V: Array) -> TruncatedSVD:
    """Return the triples with their signs fixed, in place: the arrays are ours."""
    signs = fixed_signs(V)
    U *= signs
    V *= signs
    return TruncatedSVD(U, S.astype(U.dtype), V)


def _csr(matrix: Any) -> Any:
    sparse: bool = issparse(matrix)
    return csr_array(matrix) if sparse else np.asarray(matrix)
