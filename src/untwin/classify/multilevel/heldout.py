"""Rows to hold out: all of them in turn if there are few, a part of them once if there are many.

A confusion, a temperature or a threshold needs some thousands of rows, however many there are; every further fold
would cost a further training.
"""

from __future__ import annotations

from math import ceil
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.crossfit.folds import NothingHeldOutError, deal_folds, exclude_small_classes, given_folds, sharing_units

if TYPE_CHECKING:
    from untwin._types import Indices


def held_out_folds(X: Any, codes: Indices, cv: Any, most: int, random_state: Any) -> tuple[Indices, Indices] | None:
    """Return `folds` and `parts` (see `crossfit.folds`), -1 for rows that are never held out; None if no row can be.

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
    >>> folds, parts = held_out_folds(X, codes, 3, 100, 0)
    >>> np.bincount(folds).tolist()
    [2, 2, 2]
    >>> held_out_folds(X, codes, 3, 2, 0)[0].tolist().count(0)
    2
    """
    unit = sharing_units(X)
    if not isinstance(cv, Integral):
        return exclude_small_classes(codes, unit, given_folds(cv, X, codes, None))[:2]
    try:
        if len(codes) <= most:
            return exclude_small_classes(codes, unit, deal_folds(codes, unit, int(cv), random_state))[:2]
        dealt = deal_folds(codes, unit, max(int(cv), ceil(len(codes) / most)), random_state)
        return exclude_small_classes(codes, unit, np.where(dealt == 0, 0, -1))[:2]
    except NothingHeldOutError:
        return None
