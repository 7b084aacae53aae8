"""The chance that a row belongs to no class, by how widely its probability is spread: learnt from left-out classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, log_expit

from untwin.answer.spread import UnknownChance

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats

FEWEST = 10  # rows of each kind
STEADINESS = 1.0  # precision of a normal prior on slope and shift


def chance_of(spread: Array, unknown: Flags) -> UnknownChance | None:
    """Return the chance fitted to rows of which some belong to no class; both kinds count half, however many there are.

    None: there are too few of a kind.

    >>> spread = np.repeat([1.0, 4.0], 1000)
    >>> chance = chance_of(spread, np.tile([False] * 9 + [True], 200) | (spread > 3))
    >>> chance(np.array([1.0, 4.0])).round(2).tolist()
    [0.09, 1.0]
    """
    from scipy.optimize import minimize

    if min(unknown.sum(), (~unknown).sum()) < FEWEST:
        return None
    x = np.log(np.maximum(spread, 1.0))
    weights = np.where(unknown, len(x) / (2 * unknown.sum()), len(x) / (2 * (~unknown).sum()))

    def surprise(line: Floats) -> tuple[float, Floats]:
        """Return the negative log-likelihood of slope and shift, and its gradient."""
        odds = line[0] * x + line[1]
        told = weights @ np.where(unknown, log_expit(odds), log_expit(-odds))
        off = weights * (expit(odds) - unknown)
        return float(STEADINESS * line @ line / 2 - told), np.array([off @ x, off.sum()]) + STEADINESS * line

    found = minimize(surprise, np.array([1.0, -1.0]), jac=True, method="L-BFGS-B", bounds=[(0.0, None), (None, None)])
    return UnknownChance(*found.x.tolist())
