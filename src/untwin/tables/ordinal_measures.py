"""Measures for ordered classes: how far from the diagonal predictions are.

    q     C x C, sparse: counts, true x predicted
    i, j  places of the true and of the predicted class in the order

Weighted kappa compares the mean of |i - j|^power with what the same row and column sums would give by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin.tables._sparse import cell_rows, ratio

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from untwin._types import Floats


def mean_distance(counts: csr_array, power: int = 1) -> float:
    """Return the mean of |i - j|^power over all predictions; 0 when there are none."""
    distance = np.abs(cell_rows(counts) - counts.indices) ** power
    return float(ratio((counts.data * distance).sum(), counts.sum()))


def linear_kappa(counts: csr_array) -> float:
    """Return 1 - mean |i - j| over the mean by chance: |i - j| is the number of cuts between i and j."""
    true, predicted = (np.cumsum(share)[:-1] for share in _margins(counts))
    by_chance = float((true * (1 - predicted) + predicted * (1 - true)).sum())
    return _kappa(mean_distance(counts), by_chance)


def quadratic_kappa(counts: csr_array) -> float:
    """Return 1 - mean (i - j)^2 over the mean by chance, which needs two moments of the margins only."""
    true, predicted = _margins(counts)
    place = np.arange(len(true), dtype=float)
    by_chance = true @ place**2 + predicted @ place**2 - 2 * (true @ place) * (predicted @ place)
    return _kappa(mean_distance(counts, power=2), float(by_chance))


def _margins(counts: csr_array) -> tuple[Floats, Floats]:
    return ratio(counts.sum(axis=1), counts.sum()), ratio(counts.sum(axis=0), counts.sum())


def _kappa(observed: float, by_chance: float) -> float:
    """Return 1 - observed / by_chance; with nothing off the diagonal it is 1, whatever chance would do."""
    return 1 - observed / by_chance if observed else 1.0
