"""How well a space separates classes: the measure of paper 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms

from untwin.linalg.blocks import squared_length
from untwin.represent.membership import membership

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


ROUNDING = 1e-12  # scatter below this share of the squared lengths is what rounding leaves of none


def scatter(Z: Any, y: ArrayLike) -> tuple[float, float]:
    """Return W and B, the scatter of points within and between classes.

    W is the sum of squared distances over all pairs of rows of Z (sparse or dense) with the same label in y, B that
    over all pairs with different labels (Hastie, Tibshirani and Friedman, "Elements of statistical learning").
    No pair is visited: with n_c rows of class c that sum to s_c, W is the sum over classes of
    n_c (squared lengths of its rows) - |s_c|^2.

    >>> scatter([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    (1.0, 41.0)
    """
    Y, _ = membership(y)
    Z = check_array(Z, accept_sparse="csr", dtype=np.float64)
    nothing = ROUNDING * Y.shape[0] * squared_length(Z)
    if not issparse(Z):
        Z = Z - Z.mean(axis=0)  # distances do not change, rounding errors shrink
    squares = row_norms(Z, squared=True)
    sums = Y.T @ Z
    within = (Y.sum(axis=0) * (Y.T @ squares)).sum() - squared_length(sums)
    total = Y.shape[0] * squares.sum() - squared_length(sums.sum(axis=0))
    between = total - within
    return float(within), float(between) if between > nothing else 0.0


def separation(Z: Any, y: ArrayLike) -> float:
    """Return W / B (see `scatter`): the lower, the better separated.

    >>> separation([[0.0], [1.0], [5.0]], ["a", "a", "b"])  # 1 / (25 + 16)
    0.024390243902439025
    """
    within, between = scatter(Z, y)
    if between == 0:
        raise ValueError("y must hold at least two classes whose rows differ. Got no distance between classes instead.")
    return within / between
