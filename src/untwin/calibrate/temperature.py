"""Temperature scaling: one number that turns scores into probabilities.

Glossary
--------
S          n x C    scores on a scale where softmax makes sense: decision values, or logarithms of probabilities
T                   temperature, fitted to held-out rows: log p = log_softmax(S / T)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

if TYPE_CHECKING:
    from untwin._types import Array

LOG_RANGE = 3.0  # temperatures lie within e^-3 and e^3 of the spread of the scores: finite even if nothing is wrong
HOPELESS = np.float32(-1e30)  # for -inf: its exponential is 0 too, and so is their product
ENOUGH_CELLS = 1_000_000  # rows x classes that settle one number


def fit_temperature(scores: Array, codes: Array, *, cautious: bool = False) -> float:
    """Return the T that maximises the likelihood of the true classes under softmax(scores / T); many rows are sampled.

    `cautious`: add one row with equal weight on every class, so that a few rows, all of them right, do not give
    probabilities of one.

    >>> from scipy.special import log_softmax
    >>> scores = np.array([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 0.0]])
    >>> T = fit_temperature(scores, np.array([0, 0, 0, 1]))  # wrong once in four times
    >>> round(float(np.exp(log_softmax(scores[0] / T))[0]), 2)
    0.75
    >>> T = fit_temperature(scores, np.array([0, 0, 0, 1]), cautious=True)
    >>> round(float(np.exp(log_softmax(scores[0] / T))[0]), 2)
    0.7
    """
    step = max(1, scores.size // ENOUGH_CELLS)
    scores, codes = scores[::step].astype(np.float64), codes[::step]
    spread = float(scores[np.isfinite(scores)].std()) or 1.0
    behind = ((scores - scores.max(axis=1, keepdims=True)) / spread).astype(np.float32)  # the best class has 0
    np.maximum(behind, HOPELESS, out=behind)
    own = behind[np.arange(len(codes)), codes].mean(dtype=np.float64)
    if cautious:
        of_any_class = behind[behind > HOPELESS].mean(dtype=np.float64)
        own = (len(codes) * own + of_any_class) / (len(codes) + 1)

    def slope(log_temperature: float) -> float:
        """Return the derivative of the mean negative log-likelihood by 1 / T: it is convex, so the zero is unique."""
        odds = np.exp(behind / np.float32(np.exp(log_temperature)))
        expected = np.einsum("ij,ij->i", odds, behind) / odds.sum(axis=1)
        return float(expected.mean(dtype=np.float64) - own)

    if slope(-LOG_RANGE) <= 0:  # right everywhere: the colder, the better
        return spread * float(np.exp(-LOG_RANGE))
    if slope(LOG_RANGE) >= 0:
        return spread * float(np.exp(LOG_RANGE))
    # A root, unlike a minimum, hardly moves when the scores differ in their last digits, as with other threads.
    return spread * float(np.exp(brentq(slope, -LOG_RANGE, LOG_RANGE, xtol=1e-6)))
