"""Reliability: compare the confidence of answers with their accuracy.

Glossary
--------
confidence n        probability of the likeliest class
right      n        whether the likeliest class was the true one
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from untwin._types import Flags, Floats

BINS = 15


class Bin(NamedTuple):
    """Answers of similar confidence: the mean confidence, the accuracy, the number of rows."""

    confidence: float
    accuracy: float
    rows: int


def calibration_error(confidence: Floats, right: Flags) -> float:
    """Return the expected calibration error: the mean gap of confidence and accuracy over 15 bins of confidence.

    >>> calibration_error(np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False]))
    0.1
    """
    if not len(right):
        return 0.0
    bins = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
    gaps = np.bincount(bins, weights=right - confidence, minlength=BINS)
    return round(float(np.abs(gaps).sum() / len(right)), 12)


def reliability_bins(confidence: Floats, right: Flags) -> list[Bin]:
    """Return the bins of the calibration error, without empty ones.

    >>> reliability_bins(np.array([0.9, 0.9, 0.6]), np.array([True, False, True]))
    [Bin(confidence=0.6, accuracy=1.0, rows=1), Bin(confidence=0.9, accuracy=0.5, rows=2)]
    """
    bins = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
    rows = np.bincount(bins, minlength=BINS)
    filled = np.flatnonzero(rows)
    means = [np.bincount(bins, weights=of, minlength=BINS)[filled] / rows[filled] for of in (confidence, right)]
    columns = (*(mean.tolist() for mean in means), rows[filled].tolist())
    return [Bin(*values) for values in zip(*columns, strict=True)]
