"""Folds shared by all candidates, and samples for data with many rows."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.crossfit.folds import NothingHeldOutError, deal_folds, exclude_small_classes, possible_folds

if TYPE_CHECKING:
    from untwin._types import Indices

TRIAL_ROWS = 3000  # of the sample on which encodings are chosen and slow candidates are screened ...
TRIAL_ROWS_A_CLASS = 10  # ... more where classes are many ...
TRIAL_SHARE = 0.1  # ... or rows: whether pairs of words help cannot be judged on few rows
STEPS = 10  # parts that make a sample, so that nine tenths of the rows are possible as well as a thousandth
FEW_ROWS = 100  # trained faster than another process starts
MOST_SCORES = 50_000_000  # rows x classes: the scores of a candidate must fit into memory


def shared_folds(rows: Any, codes: Indices, cv: Any) -> Indices | None:
    """Return the fold of each row, -1 for rows in every training part; None if no row can be held out.

    >>> shared_folds(["a", "b", "c"], np.array([0, 1, 2]), 5) is None
    True
    """
    found = possible_folds(rows, codes, cv, in_runs=True)
    return None if found is None else found[1]


def two_folds(codes: Indices, parts: Indices, rows: Indices) -> Indices | None:
    """Return the fold (0 or 1) of some rows in the first two folds, -1 for the others; None if none can be held out.

    >>> codes, parts = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2])
    >>> two_folds(codes, parts, np.arange(6)).tolist()
    [0, 1, -1, 0, 1, -1]
    >>> two_folds(codes, parts, np.array([2, 3])) is None
    True
    """
    few = np.where(parts[rows] < 2, parts[rows], -1)
    return few if can_hold_out(codes[rows], few) else None


def can_hold_out(codes: Indices, parts: Indices) -> bool:
    """Tell whether folds chosen for all rows can hold out rows of a sample, which needs two classes or more."""
    try:
        exclude_small_classes(codes, np.arange(len(codes)), parts)
    except NothingHeldOutError:
        return False
    return len(np.unique(codes)) > 1


def workers(n_jobs: int | None, n_rows: int) -> int | None:
    """Return how many folds to work on at a time.

    >>> workers(2, 5), workers(2, 5000)
    (None, 2)
    """
    return n_jobs if n_rows > FEW_ROWS else None


def sample_rows(codes: Indices, n_classes: int, random_state: int) -> Indices:
    """Return the rows on which candidates are compared: all, or a stratified sample that fits into memory."""
    return stratified_sample(codes, max(MOST_SCORES // n_classes, TRIAL_ROWS_A_CLASS * n_classes), random_state)


def trial_sample(codes: Indices, n_classes: int, random_state: int) -> Indices:
    """Return the rows of the sample on which encodings are chosen and slow candidates are screened."""
    size = max(TRIAL_ROWS, TRIAL_ROWS_A_CLASS * n_classes, int(TRIAL_SHARE * len(codes)))
    return stratified_sample(codes, size, random_state)


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
