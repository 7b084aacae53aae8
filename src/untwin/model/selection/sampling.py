"""Folds shared by all candidates, and samples for data with many rows."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.crossfit.folds import NothingHeldOutError, deal_folds, exclude_small_classes, possible_folds

if TYPE_CHECKING:
    from untwin._types import Indices

STEPS = 10  # parts that make a sample, so that nine tenths of the rows are possible as well as a thousandth
MOST_SCORES = 60_000_000  # rows x classes: the scores of a candidate must fit into memory
FEWEST_ROWS_A_CLASS = 10  # of a sample
MANY_ROWS = 100_000  # from here on three folds say as much as five, for three fifths of the time


def shared_folds(rows: Any, codes: Indices, cv: Any) -> Indices | None:
    """Return the fold of each row, -1 for rows in every training part; None if no row can be held out.

    >>> shared_folds(["a", "b", "c"], np.array([0, 1, 2]), 5) is None
    True
    """
    if isinstance(cv, str):  # "auto"
        cv = 5 if len(codes) < MANY_ROWS else 3
    found = possible_folds(rows, codes, cv, in_runs=True)
    return None if found is None else found[1]


def can_hold_out(codes: Indices, parts: Indices) -> bool:
    """Tell whether folds chosen for all rows can hold out rows of a sample, which needs two classes or more."""
    try:
        exclude_small_classes(codes, np.arange(len(codes)), parts)
    except NothingHeldOutError:
        return False
    return len(np.unique(codes)) > 1


def sample_rows(codes: Indices, n_classes: int, random_state: int) -> Indices:
    """Return the rows on which candidates are compared: all, or a stratified sample that fits into memory."""
    return stratified_sample(codes, max(MOST_SCORES // n_classes, FEWEST_ROWS_A_CLASS * n_classes), random_state)


def stratified_sample(codes: Indices, size: int, random_state: int) -> Indices:
    """Return about `size` rows with the class frequencies of all rows; all rows if there are no more.

    >>> rows = stratified_sample(np.repeat([0, 1], [80, 20]), 25, 0)
    >>> np.bincount(np.repeat([0, 1], [80, 20])[rows]).tolist()
    [20, 5]
    """
    n = len(codes)
    if n <= size:
        return np.arange(n)
    n_parts = ceil(STEPS * n / size)
    taken = (
        np.arange(STEPS) * n_parts // STEPS
    )  # evenly among the parts, since rows of a class are dealt to one part after another
    return np.flatnonzero(np.isin(deal_folds(codes, np.arange(n), n_parts, random_state), taken))
