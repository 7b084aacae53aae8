"""Semi-discrete decomposition: A ~ P diag(d) Q' with entries -1, 0 and 1 in P and Q (O'Leary and Peleg, 1983).

Glossary
--------
A        n x m    sparse or dense
P, Q     n x k, m x k    entries -1, 0, 1; two bits each (`packed`)
d        k        positive weights
R        n x m    the residual A - P diag(d) Q' of the terms so far; never formed
p, q, d           the next term: |R - d p q'|^2 = |R|^2 - (p'Rq)^2 / (|p|^2 |q|^2) at the best d = p'Rq / (|p|^2 |q|^2)

Terms are found one by one. With q fixed, the best p has the signs of s = R q at its J largest entries by absolute value
and zero elsewhere, where J maximises (sum of these J)^2 / J; with p fixed, q follows from R'p likewise. The two
alternate until the gain settles (Kolda and O'Leary, 1998). Unlike singular vectors the columns of P and Q are not
orthogonal: rows and columns can be taken away as they are, and new ones are added by giving them their best signs,
term by term, for the d that is there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, issparse

from untwin._progress import report
from untwin.linalg.blocks import squared_length
from untwin.linalg.packed import Signs

if TYPE_CHECKING:
    from untwin._types import Array, Floats

SETTLED = 0.01  # share by which one more alternation must raise the gain
MOST_ALTERNATIONS = 100


@dataclass(frozen=True, slots=True, eq=False)
class SemiDiscrete:
    """A ~ P diag(d) Q'; made by `semi_discrete`."""

    P: Signs
    d: Floats
    Q: Signs

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers."""
        return self.P.bits.nbytes + self.Q.bits.nbytes + self.d.nbytes

    def times(self, V: Array) -> Array:
        """Return P diag(d) Q'V for V of shape m, or m x c."""
        return self.P.times((self.Q.transposed_times(V).T * self.d).T)

    def transposed_times(self, U: Array) -> Array:
        """Return Q diag(d) P'U for U of shape n, or n x c."""
        return self.transpose().times(U)

    def transpose(self) -> SemiDiscrete:
        """Return the decomposition of A'."""
        return SemiDiscrete(self.Q, self.d, self.P)

    def squared_residual(self, A: Any) -> float:
        """Return |A - P diag(d) Q'|^2 without forming it."""
        image = self.Q.transposed_times(_rows(A.T)).T
        shared = (self.P.unpacked() * image).sum(axis=0) @ self.d
        own = self.d @ (self.P.gram() * self.Q.gram()) @ self.d
        return max(squared_length(A) - 2 * float(shared) + float(own), 0.0)

    def with_rows(self, B: Any) -> SemiDiscrete:
        """Return the decomposition with the rows B (b x m) below, each with the signs that fit it best, term by term.

        With the residual r of a row so far, its sign in a term is that of r'q if this reduces |r|, else zero: r'q must
        be more than half of d |q|^2. r'q follows from B q and the products of the columns of Q.
        """
        gram = self.Q.gram()
        products = self.Q.transposed_times(_rows(B.T)).T
        signs = np.zeros(products.shape, dtype=np.int8)
        for i, (weight, along) in enumerate(zip(self.d, gram, strict=True)):
            inside = products[:, i]
            signs[:, i] = np.where(2 * abs(inside) > weight * along[i], np.sign(inside), 0)
            products -= np.outer(signs[:, i], weight * along)
        return replace(self, P=self.P.above(Signs.of(signs)))

    def with_columns(self, C: Any) -> SemiDiscrete:
        """Return the decomposition with the columns C (n x c) to its right, each with the signs that fit it best."""
        return self.transpose().with_rows(C.T).transpose()

    def without_rows(self, rows: Any) -> SemiDiscrete:
        """Return the decomposition without some rows, by numbers or mask; all others stay as they are."""
        return replace(self, P=self.P.rows(np.delete(np.arange(len(self.P.bits)), rows)))

    def without_columns(self, columns: Any) -> SemiDiscrete:
        """Return the decomposition without some columns; all others stay as they are."""
        return self.transpose().without_rows(columns).transpose()


def semi_discrete(A: Any, k: int, *, start: SemiDiscrete | None = None) -> SemiDiscrete:
    """Return the semi-discrete decomposition of A (n x m, sparse or dense) with k terms, fewer if they leave nothing.

    With `start` it goes on from there: after rows or columns were added, more terms mend what they fitted badly.

    Examples
    --------
    >>> A = np.array([[3.0, 3.0, 0.0], [-3.0, -3.0, 0.0], [0.0, 0.0, 1.0]])
    >>> found = semi_discrete(A, 2)
    >>> found.d
    array([3., 1.])
    >>> found.P.unpacked() * found.d @ found.Q.unpacked().T
    array([[ 3.,  3.,  0.], [-3., -3.,  0.], [ 0.,  0.,  1.]])
    """
    residual = _Residual(A, start)
    rounding = np.finfo(np.float64).eps * squared_length(A)
    for i in range(len(residual.d), k):
        if residual.column_lengths.sum() <= rounding:
            break
        residual.subtract(*_best_term(residual))
        report("semi-discrete decomposition", i + 1, k)
    P, Q = (Signs.of(side.astype(np.int8).toarray()) for side in (residual.P, residual.Q))
    return SemiDiscrete(P, residual.d, Q)


def best_signs(s: Floats) -> Floats:
    """Return the signs x, entries -1, 0 and 1, that maximise (x's)^2 / |x|^2.

    >>> best_signs(np.array([3.0, 0.5, -2.0]))
    array([ 1.,  0., -1.])
    """
    sizes = abs(s)
    order = np.argsort(-sizes, kind="stable")
    total = np.cumsum(sizes[order])
    chosen = order[: int(np.argmax(total * total / np.arange(1, len(s) + 1))) + 1]
    signs = np.zeros(len(s))
    signs[chosen] = np.sign(s[chosen])
    return signs


class _Residual:
    """R = A - P diag(d) Q' by its products, with the squared lengths of its columns."""

    def __init__(self, A: Any, start: SemiDiscrete | None) -> None:
        self.A, self.A_transposed = _rows(A), _rows(A.T)
        self.P, self.Q = (csc_array((length, 0)) for length in A.shape)
        self.d = np.zeros(0)
        self.column_lengths = np.asarray((self.A * self.A).sum(axis=0), dtype=np.float64)
        if start is not None:
            P, Q = (side.unpacked().astype(np.float64) for side in (start.P, start.Q))
            fitted = Q * start.d
            self.column_lengths -= (fitted * (2 * (self.A_transposed @ P) - fitted @ start.P.gram())).sum(axis=1)
            self.P, self.Q, self.d = csc_array(P), csc_array(Q), start.d

    def times(self, q: Floats) -> Floats:
        result: Floats = self.A @ q - self.P @ (self.d * (self.Q.T @ q))
        return result

    def transposed_times(self, p: Floats) -> Floats:
        result: Floats = self.A_transposed @ p - self.Q @ (self.d * (self.P.T @ p))
        return result

    def subtract(self, p: Floats, image: Floats, q: Floats) -> None:
        """Take off the term of p and q; `image` is R'p."""
        length = np.count_nonzero(p)
        weight = float(image @ q) / (length * np.count_nonzero(q))
        self.column_lengths += weight * q * (weight * length * q - 2 * image)
        self.P, self.Q = (hstack([side, csc_array(x[:, None])], "csc") for side, x in ((self.P, p), (self.Q, q)))
        self.d = np.append(self.d, weight)


def _best_term(residual: _Residual) -> tuple[Floats, Floats, Floats]:
    """Return p, R'p and q of a term, from the longest column of R as the first q."""
    q = np.zeros(len(residual.column_lengths))
    q[np.argmax(residual.column_lengths)] = 1
    gain = 0.0
    for _ in range(MOST_ALTERNATIONS):
        p = best_signs(residual.times(q))
        image = residual.transposed_times(p)
        q = best_signs(image)
        before, gain = gain, float(image @ q) ** 2 / (np.count_nonzero(p) * np.count_nonzero(q))
        if gain <= (1 + SETTLED) * before:
            break
    return p, image, q


def _rows(A: Any) -> Any:
    sparse: bool = issparse(A)
    return csr_array(A, dtype=np.float64) if sparse else np.asarray(A, dtype=np.float64)
