"""The threshold of confidence above which answers keep to a target error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwin.answer.error_curve import ErrorCurve

if TYPE_CHECKING:
    from untwin._types import Array, Flags


def surest_threshold(confidence: Array, right: Flags, error: float) -> float:
    """Return the lowest confidence at and above which at most the share `error` of held-out rows was wrong.

    Rows of equal confidence are sure together or not at all. Infinity: no row is sure.

    >>> import numpy as np
    >>> surest_threshold(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True]), 0.25)
    0.6
    >>> surest_threshold(np.array([0.9, 0.8, 0.8]), np.array([True, True, False]), 0.0)
    0.9
    >>> surest_threshold(np.array([0.9, 0.8]), np.array([False, False]), 0.25)
    inf
    """
    return ErrorCurve.of_answers(confidence, right, most_points=None).threshold(error)
