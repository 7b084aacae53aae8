"""The threshold of confidence above which answers keep to a target error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from untwin._types import Array, Flags


def surest_threshold(confidence: Array, right: Flags, error: float) -> float:
    """Return the lowest confidence at and above which at most the share `error` of held-out rows was wrong.

    Rows of equal confidence are sure together or not at all. Infinity: no row is sure.

    >>> surest_threshold(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True]), 0.25)
    0.6
    >>> surest_threshold(np.array([0.9, 0.8, 0.8]), np.array([True, True, False]), 0.0)
    0.9
    >>> surest_threshold(np.array([0.9, 0.8]), np.array([False, False]), 0.25)
    inf
    """
    if not 0 <= error <= 1:
        raise ValueError(f"The error that is allowed must be a share from 0 to 1. Got {error} instead.")
    order = np.argsort(-confidence, kind="stable")
    confidence, right = confidence[order], right[order]
    ends = np.append(confidence[1:] < confidence[:-1], True)[: len(confidence)]
    errors = np.cumsum(~right) / np.arange(1, len(right) + 1)
    kept = np.flatnonzero(ends & (errors <= error))
    return float(confidence[kept[-1]]) if kept.size else float("inf")
