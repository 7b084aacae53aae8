"""Rows to hold out: all of them in turn where they are few, a part of them once where they are many.

A confusion, a temperature or a threshold needs some thousands of rows, however many there are; every further fold
would cost a further training.
"""

from __future__ import annotations

from math import ceil
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.crossfit.folds import dealt_folds, given_folds, sharing_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[np.intp]


def held_out_folds(X: Any, codes: Indices, cv: Any, most: int, random_state: Any) -> Indices | None:
    """Return a fold number for each row, -1 for rows that are never held out; None if no row can be.

    Parameters
    ----------
    X : rows; identical ones share a fold
    codes : (n,) class of each row
    cv : int, splitter or (n,) fold numbers
        A number of folds is dealt; of more than `most` rows about so many are held out, once. Anything else is
        followed to the letter.
    most : int
    random_state : int, RandomState or None

    Examples
    --------
    >>> X, codes = np.arange(6.0)[:, np.newaxis], np.array([0, 0, 0, 1, 1, 1])
    >>> np.bincount(held_out_folds(X, codes, 3, 100, 0)).tolist()
    [2, 2, 2]
    >>> held_out_folds(X, codes, 3, 2, 0).tolist().count(0)
    2
    """
    if not isinstance(cv, Integral):
        return given_folds(cv, X, codes, None)
    unit = sharing_units(X)
    units_a_class = np.bincount(np.unique(np.column_stack([unit, codes]), axis=0)[:, 1])
    if units_a_class.max() < 2:
        return None
    if len(codes) <= most:
        return dealt_folds(codes, unit, int(cv), random_state)
    folds = dealt_folds(codes, unit, max(int(cv), ceil(len(codes) / most)), random_state)
    return np.where(folds == 0, 0, -1)
