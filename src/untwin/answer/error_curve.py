"""`ErrorCurve`: how many held-out rows were answered, and how many of these wrong, by how sure an answer must be.

Glossary
--------
n rows that were held out, k thresholds
answered_at  n   up to which threshold each row is answered
wrong_at     n   up to which threshold its answer is wrong; -inf: it is right wherever it is answered
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Indices

MOST_POINTS = 500
HALF, MOST_ERROR = 0.5, 0.1


@dataclass(frozen=True, slots=True, eq=False)
class ErrorCurve:
    """What each threshold of confidence did to held-out rows.

    Attributes
    ----------
    thresholds : (k,) array
        Rising; at most `MOST_POINTS` of those that differ.
    answered, wrong : (k,) arrays
        How many rows are answered at each threshold, and how many of these answers are wrong.
    n_rows : int
        How many rows there were.

    Examples
    --------
    >>> curve = ErrorCurve.of_answers(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True]))
    >>> curve.threshold(0.25), curve.threshold(0.0)
    (0.6, 0.8)
    >>> curve.shares().tolist(), curve.errors().round(2).tolist()
    ([1.0, 0.75, 0.5, 0.25], [0.25, 0.33, 0.0, 0.0])
    """

    thresholds: Floats
    answered: Indices
    wrong: Indices
    n_rows: int

    @classmethod
    def of(cls, answered_at: Array, wrong_at: Array, most_points: int | None = MOST_POINTS) -> Self:
        """Return the curve of rows; `wrong_at` is never above `answered_at`."""
        found = np.unique(np.concatenate([answered_at, wrong_at[wrong_at > -np.inf]]).astype(np.float64))
        if most_points is not None and len(found) > most_points:
            found = found[np.linspace(0, len(found) - 1, most_points).round().astype(np.intp)]
        counts = [
            len(answered_at) - np.searchsorted(np.sort(upper), found, side="left") for upper in (answered_at, wrong_at)
        ]
        return cls(found, counts[0], counts[1], len(answered_at))

    @classmethod
    def of_answers(cls, confidence: Array, right: Array, most_points: int | None = MOST_POINTS) -> Self:
        """Return the curve of answers by their confidence, and whether each is right."""
        return cls.of(confidence, np.where(right, -np.inf, confidence), most_points)

    def threshold(self, error: float) -> float:
        """Return the lowest threshold at which at most the share `error` of the answers was wrong.

        Rows of equal confidence are answered together or not at all. Infinity: there is no such threshold.
        """
        require_share(error, "target_error")
        kept = np.flatnonzero(self.wrong <= error * self.answered)
        return float(self.thresholds[kept[0]]) if kept.size else float("inf")

    def shares(self) -> Floats:
        """Return the share of the rows that is answered at each threshold."""
        return np.asarray(self.answered / max(self.n_rows, 1))

    def errors(self) -> Floats:
        """Return the share of the answers that is wrong at each threshold."""
        return np.asarray(self.wrong / np.maximum(self.answered, 1))

    def at_shares(self, shares: Array) -> list[tuple[float, float, float]]:
        """Return (threshold, share answered, error) of the lowest thresholds that answer at most such shares.

        >>> ErrorCurve.of_answers(np.array([0.9, 0.8]), np.array([True, False])).at_shares([0.5, 1.0])
        [(0.9, 0.5, 0.0), (0.8, 1.0, 0.5)]
        """
        answered, errors = self.shares(), self.errors()
        places = [int(np.argmax(answered <= share + 1e-9)) for share in shares if (answered <= share + 1e-9).any()]
        kept = sorted(set(places), reverse=True)
        return [(float(self.thresholds[k]), float(answered[k]), float(errors[k])) for k in kept]


def default_target(accuracy: float | None) -> float:
    """Return the share of sure answers that may be wrong unless told otherwise: half of the error to expect, <= 10 %.

    >>> default_target(0.9), default_target(0.5), default_target(None)
    (0.05, 0.1, 0.1)
    """
    return MOST_ERROR if accuracy is None else round(min(HALF * (1.0 - accuracy), MOST_ERROR), 12)


def require_share(value: float, name: str) -> None:
    """Raise ValueError unless a value is a share."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be a share from 0 to 1. Got {value} instead.")
