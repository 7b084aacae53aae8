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
MOST_STEPS, CLOSE = 50, 1e-9


def chance_of(spread: Array, unknown: Flags) -> UnknownChance | None:
    """Return the chance fitted to rows of which some belong to no class; both kinds count half, however many there are.

    None: there are too few of a kind.

    >>> spread = np.repeat([1.0, 4.0], 1000)
    >>> chance = chance_of(spread, np.tile([False] * 9 + [True], 200) | (spread > 3))
    >>> chance(np.array([1.0, 4.0])).round(2).tolist()
    [0.09, 1.0]
    """
    if min(unknown.sum(), (~unknown).sum()) < FEWEST:
        return None
    x = np.log(np.maximum(spread, 1.0))
    weights = np.where(unknown, len(x) / (2 * unknown.sum()), len(x) / (2 * (~unknown).sum()))
    slope, shift = _likeliest(np.column_stack([x, np.ones(len(x))]), unknown, weights)
    if slope < 0:  # the surprise is convex, so that the best line with a slope of at least 0 has the slope 0
        slope, (shift,) = 0.0, _likeliest(np.ones((len(x), 1)), unknown, weights)
    return UnknownChance(float(slope), float(shift))


def _likeliest(A: Floats, unknown: Flags, weights: Floats) -> Floats:
    """Return the coefficients with the least surprise, by Newton's steps, which are halved while they are too long."""

    def surprise(line: Floats) -> float:
        odds = A @ line
        told = weights @ np.where(unknown, log_expit(odds), log_expit(-odds))
        return float(STEADINESS * line @ line / 2 - told)

    line = np.zeros(A.shape[1])
    least = surprise(line)
    for _ in range(MOST_STEPS):
        p = expit(A @ line)
        gradient = A.T @ (weights * (p - unknown)) + STEADINESS * line
        curvature = (A.T * (weights * p * (1 - p))) @ A + STEADINESS * np.eye(len(line))
        step = np.linalg.solve(curvature, gradient)
        while (found := surprise(line - step)) > least and np.abs(step).max() > CLOSE:
            step /= 2
        if np.abs(step).max() <= CLOSE:
            break
        line, least = line - step, found
    return line
