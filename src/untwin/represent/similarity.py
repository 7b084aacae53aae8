"""Does a representation pull classes apart? How alike the rows of a class are, and those of different classes.

    U       n x m    rows of X at unit length; rows of zeros are left out
    n_k              rows of class k
    S_k     C x m    their sum
    intra_k          mean cosine of two rows of class k: (|S_k|^2 - n_k) / (n_k (n_k - 1)), or with self-pairs
                     |S_k|^2 / n_k^2
    inter            mean over pairs of classes of the mean cosine between them, S_j . S_k / (n_j n_k); the pairs sum to
                     half of |sum of S_k / n_k|^2 - sum of |S_k / n_k|^2, so that no pair is ever formed

All of it takes time proportional to the non-zeros of X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.extmath import row_norms

from untwin._values import freeze
from untwin.represent.membership import membership

if TYPE_CHECKING:
    from untwin._types import Array, Floats


@dataclass(frozen=True, slots=True, eq=False)
class CategorySimilarity:
    """Mean cosines inside and between classes; made by `category_similarity`.

    Attributes
    ----------
    classes : (C,) array
    per_class : (C,) array
        Mean cosine of two rows of each class; NaN for a class without a pair of rows.
    intra : float
        Mean of `per_class`, such classes left out.
    inter : float
        Mean cosine between two classes, over all pairs of classes that have rows.
    """

    classes: Array
    per_class: Floats
    intra: float
    inter: float

    @property
    def ratio(self) -> float:
        """Paper 3's AR ratio, intra over inter: the larger, the further apart the classes; infinite if inter is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.float64(self.intra) / self.inter)


def category_similarity(X: Any, y: Any, *, self_pairs: bool = False) -> CategorySimilarity:
    """Return intra- and inter-category similarity by cosine, and their ratio (paper 3).

    Parameters
    ----------
    X : (n, m) sparse or dense
        Rows in the representation to be judged. Rows of zeros have no direction and are left out.
    y : (n,) labels
    self_pairs : bool
        Count the similarity of a row with itself, which is 1, among the pairs of its class.

    Examples
    --------
    >>> found = category_similarity([[2, 0], [1, 1], [0, 3]], ["cat", "cat", "dog"])
    >>> found.per_class.round(3).tolist()
    [0.707, nan]
    >>> round(found.inter, 3), round(found.ratio, 3)
    (0.354, 2.0)
    """
    rows = normalize(X)
    Y, classes = membership(column_or_1d(y))
    check_consistent_length(rows, Y)
    filled = row_norms(rows, squared=True) > 0
    sizes = filled @ Y
    sums = Y.T @ rows
    squares = row_norms(sums, squared=True)
    alone = 0 if self_pairs else 1
    per_class = _divide(squares - alone * sizes, sizes * (sizes - alone))
    share = 1 / np.maximum(sizes, 1)
    centre = share @ sums
    n_filled = np.count_nonzero(sizes)
    between = _divide(centre @ centre - squares @ share**2, n_filled * (n_filled - 1))
    known = ~np.isnan(per_class)
    intra = float(per_class[known].mean()) if known.any() else np.nan
    return CategorySimilarity(freeze(classes), freeze(per_class), intra, float(between))


def _divide(above: Any, below: Any) -> Floats:
    """Return the quotient, NaN where the divisor is zero."""
    above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    quotient: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)
    return quotient
