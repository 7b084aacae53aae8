"""Linear SVMs of dense rows, one against the rest, all classes at once: Newton's method on few rows a class.

Glossary
--------
X        n x m    rows, with a last column of ones for the intercept
T        n x k    1 where a row belongs to a class, else -1
W        m x k    weights, one column a class
Z        n x k    X W
loss              of a class |w|^2 / 2 + C sum of max(0, r - t z)^2 over the rows: what `LinearSVC` minimises
r        n x 1    1; or the root of a row's weight, by which the row is multiplied too, so that its loss has that weight
S        n x k    t max(0, r - t z): what a row falls short by; zero for most rows of most classes
G        m x k    derivatives of the loss, W - 2 C X' S

Newton's step of a class solves with I + 2 C A'A, where A holds only the rows that fall short: a few in a hundred near
the minimum, so that A A' is small. What needs all rows, X W and X' S, is one product for all classes, which dense
arithmetic is good at. liblinear reads its rows number by number and once for each class: it takes ten times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from untwin._compat import as_dense, is_sparse
from untwin.linalg.blocks import slices

if TYPE_CHECKING:
    from untwin._types import Array, Indices

LARGEST_SYSTEM = 4000  # equations: beyond, one step costs more than liblinear needs for everything
NEARLY_DENSE = 0.2  # share of the numbers of a sparse matrix from which on its zeros are worth storing
NUMBERS_AT_ONCE = 4_000_000  # of Z; more classes come in turn
OVERSHOT = 1.3  # least squares on targets so far out leave few rows short; on -1 and 1 half of them would be
PRECISE = 1e-4  # a larger tolerance, which saves liblinear much time, saves next to nothing here
MOST_STEPS = 50
MOST_HALVINGS = 10
ENOUGH_FALL = 0.01  # of what is promised (Armijo)
SINGLE_PRECISION = 1e6  # condition of a system that single precision still solves


def nearly_dense(X: Any) -> bool:
    """Tell whether rows are no sparse matrix, or one with few zeros."""
    return not is_sparse(X) or X.nnz >= NEARLY_DENSE * X.shape[0] * X.shape[1]


def suits(X: Any) -> bool:
    """Tell whether rows are nearly dense, and few or narrow enough for systems as large as that side."""
    return min(X.shape) < LARGEST_SYSTEM and nearly_dense(X)


def densify(X: Any) -> Any:
    """Return a sparse matrix with few zeros as a dense one, anything else as it is."""
    return as_dense(X) if nearly_dense(X) else X


def one_against_rest(
    X: Array,
    codes: Indices,
    n_classes: int,
    *,
    C: float,
    tol: float,
    weights: Array | None = None,
    near: Array | None = None,
) -> Array:
    """Return W, (m, n_classes); a class's slope ends below `tol` times that at zero and its share, as liblinear's.

    Parameters
    ----------
    X : (n, m) dense rows
        Their precision is that of the work, unless C and long rows ask for more.
    codes : (n,) int
        The column of W for a row's own class; -1: it has none.
    n_classes : int
    C, tol : float
        As in `LinearSVC`, but `tol` is never above `PRECISE`.
    weights : (n,), above zero, or None
        How often each row counts.
    near : (m, n_classes) or None
        Weights to begin with, if some are known that are near the minimum.
    """
    r = np.ones((len(X), 1), X.dtype) if weights is None else np.sqrt(weights).astype(X.dtype)[:, np.newaxis]
    X = X if weights is None else r * X
    if 2 * C * float(np.vdot(X, X)) > SINGLE_PRECISION:  # no system's condition is above
        X, r = X.astype(np.float64), r.astype(np.float64)
    T = np.full((len(X), n_classes), -1, dtype=X.dtype)
    own = np.flatnonzero(codes >= 0)
    T[own, codes[own]] = 1
    with threadpool_limits(1, user_api="blas"):  # most systems are too small to share, and sums keep their order
        W = _near_by(X, r * T, C) if near is None else near.astype(X.dtype)
        for columns in slices(n_classes, NUMBERS_AT_ONCE // len(X)):
            _descend(W[:, columns], X, T[:, columns], r, C=C, tol=tol)
    return W


def _near_by(X: Array, T: Array, C: float) -> Array:
    """Return weights by least squares: all classes share one system."""
    system = System(X, C)
    return np.asarray(OVERSHOT * (X.T @ system.solve(T) if system.wide else system.solve(X.T @ T)))


def _descend(W: Array, X: Array, T: Array, r: Array, *, C: float, tol: float) -> None:
    """Follow Newton's steps to the minimum, in place; classes that are there wait for the others."""
    enough = _enough(X, T, r, C=C, tol=min(tol, PRECISE))
    live, Z = np.arange(W.shape[1]), X @ W
    for _ in range(MOST_STEPS):
        S = T * np.maximum(r - T * Z, 0)
        G = W[:, live] - 2 * C * (X.T @ S)
        far = np.linalg.norm(G, axis=0) > enough[live]
        if not far.any():
            return
        live, T, Z, S, G = live[far], T[:, far], Z[:, far], S[:, far], G[:, far]
        D = np.column_stack([_direction(X[np.flatnonzero(s)], g, C) for s, g in zip(S.T, G.T, strict=True)])
        XD = X @ D
        promised = np.einsum("ij,ij->j", G, D)
        steps = _steps((W[:, live], D), (T * Z - r, T * XD), promised, C)
        W[:, live] += steps * D
        Z += steps * XD


def _enough(X: Array, T: Array, r: Array, *, C: float, tol: float) -> Array:
    """Return how long the slope of a class may stay; never so short that rounding hides it."""
    own = (r * r).ravel() @ (T > 0) / np.vdot(r, r)
    share = np.maximum(tol * np.minimum(own, 1 - own), 10 * np.finfo(X.dtype).eps)
    return np.asarray(2 * C * share * np.linalg.norm(X.T @ (r * T), axis=0))


def _direction(A: Array, g: Array, C: float) -> Array:
    """Return -(I + 2 C A'A)^-1 g; with a larger ridge a shorter way, which descends too."""
    system = System(A, C)
    solved = (g - A.T @ system.solve(A @ g)) / system.ridge if system.wide else system.solve(g)
    return np.asarray(solved / (-2 * C))


class System:
    """A A' or A'A, whichever is smaller (the first: `wide`), and a ridge of 1 / 2C; more where rounding loses it."""

    def __init__(self, A: Array, C: float) -> None:
        self.wide = A.shape[0] < A.shape[1]
        product = A @ A.T if self.wide else A.T @ A
        self.ridge = 1 / (2 * C)
        try:
            self._factor = _factor(product, self.ridge)
        except LinAlgError:
            self.ridge += 4 * float(np.finfo(A.dtype).eps * np.trace(product))
            self._factor = _factor(product, self.ridge)

    def solve(self, b: Array) -> Array:
        """Return the solution for one or several right-hand sides."""
        return np.asarray(cho_solve(self._factor, b, check_finite=False))


def _factor(product: Array, ridge: float) -> Any:
    return cho_factor(product + ridge * np.eye(len(product), dtype=product.dtype), check_finite=False)


def _steps(weights: tuple[Array, Array], margins: tuple[Array, Array], promised: Array, C: float) -> Array:
    """Return how far each class goes: a whole step, or half as far until its loss falls as much as was promised.

    Weights and margins (less r, so that what falls short is negative) each come with what a whole step adds to them.
    """

    def losses(steps: Any) -> Array:
        w, t = (now + steps * more for now, more in (weights, margins))
        return np.asarray(_squares(w) / 2 + C * _squares(np.minimum(t, 0)))

    before, steps = losses(0.0), np.ones_like(promised)
    unseen = 4 * np.finfo(promised.dtype).eps * before  # changes that rounding hides
    for _ in range(MOST_HALVINGS):
        bad = losses(steps) > before + ENOUGH_FALL * steps * promised + unseen
        if not bad.any():
            break
        steps[bad] /= 2
    return steps


def _squares(columns: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", columns, columns, dtype=np.float64))
