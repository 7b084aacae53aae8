"""Scores of any classifier as calibrated log-probabilities, and how far they can be trusted.

Glossary
--------
S          n x C    scores on a scale where softmax makes sense: decision values, or logarithms of probabilities
T                   temperature, fitted to held-out rows: log p = log_softmax(S / T)
confidence n        probability of the likeliest class
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.crossfit.outoffold import class_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

LEAST_SHARE = 0.01  # of the probability that chance would give: no class is ruled out by a vote without it
BINS = 15


def on_log_scale(scores: Any, *, probabilities: bool) -> Floats:
    """Return S; a probability of zero becomes a small one, since a few neighbours cannot rule a class out."""
    S: Floats = np.asarray(scores, dtype=np.float64)
    return np.log(np.maximum(S, LEAST_SHARE / S.shape[1])) if probabilities else S


def log_scores(model: Any, rows: Any) -> Floats:
    """Return S of a fitted model for new rows, by the model's classes."""
    scores, _ = class_scores(model, rows)
    return on_log_scale(scores, probabilities=not hasattr(model, "decision_function"))


def log_probabilities(S: Any, temperature: float) -> NDArray[np.float32]:
    """Return log_softmax(S / T), in single precision from the differences on."""
    behind = ((S - S.max(axis=1, keepdims=True)) / temperature).astype(np.float32)
    return np.asarray(behind - np.log(np.exp(behind).sum(axis=1, keepdims=True)))


def calibration_error(confidence: Floats, right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error: the mean gap of confidence and accuracy over 15 bins of confidence.

    >>> calibration_error(np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False]))
    0.1
    """
    if not len(right):
        return 0.0
    bins = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
    gaps = np.bincount(bins, weights=right - confidence, minlength=BINS)
    return round(float(np.abs(gaps).sum() / len(right)), 12)
