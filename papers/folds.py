"""Folds of the experiments whose papers cross-validate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.crossfit.folds import deal_folds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Rows = NDArray[np.intp]


def stratified_parts(labels: NDArray[Any], n_folds: int, seed: int = 0) -> Iterator[tuple[Rows, Rows]]:
    """Yield training and test rows of each fold; classes smaller than the number of folds are spread as far as they go.

    >>> [test.tolist() for _, test in stratified_parts(np.array(["a", "b", "a", "b", "b"]), 2)]
    [[1, 2, 4], [0, 3]]
    """
    codes = np.unique(labels, return_inverse=True)[1]
    fold_of_row = deal_folds(codes, np.arange(len(codes)), n_folds, seed)
    for fold in range(n_folds):
        yield np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)
