"""How widely the probability of a row is spread over the classes, and which rows belong to no class that was learnt.

Glossary
--------
P       n x C   probabilities
spread  n       exp(entropy of the probabilities): over about how many classes a row is spread; 1 if one class has it
                all, C if all have the same
chance          that a row belongs to no class, if as many rows asked about belong to none as belong to one
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from untwin.answer.error_curve import require_share

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats

LOST = 0.05  # of the rows of known classes: how many may be called unknown
MOST_POINTS = 500
AT_ONCE = 512  # rows, so that their roots are never as large as all probabilities


class UnknownChance(NamedTuple):
    """The log-odds that a row belongs to no class are slope * log(spread) + shift; measured by leaving classes out."""

    slope: float
    shift: float

    def __call__(self, spread: Array) -> Floats:
        """Return the chance of each row.

        >>> UnknownChance(2.0, -2.0)(np.array([1.0, np.e])).round(3).tolist()
        [0.119, 0.5]
        """
        odds = self.slope * np.log(np.maximum(spread, 1.0)) + self.shift
        return np.asarray(np.exp(-np.logaddexp(0.0, -odds)))


@dataclass(frozen=True, slots=True, eq=False)
class SpreadOfKnown:
    """The spread of held-out rows, whose classes are all known: `spreads` (rising, evenly many rows between two).

    Examples
    --------
    >>> known = SpreadOfKnown.of(np.linspace(1, 2, 101))
    >>> round(known.threshold(0.05), 6)
    1.95
    >>> known.exceeds(np.array([1.2, 1.97]), 0.05).tolist()
    [False, True]
    """

    spreads: Floats

    @classmethod
    def of(cls, spread: Array) -> Self:
        """Return what to keep of the spread of held-out rows."""
        if not len(spread):
            return cls(np.empty(0))
        return cls(np.quantile(spread, np.linspace(0, 1, min(MOST_POINTS + 1, len(spread)))))

    def threshold(self, lost: float = LOST) -> float:
        """Return above which spread the share `lost` of the held-out rows is; infinity if there were none."""
        require_share(lost, "lost")
        return float(np.quantile(self.spreads, 1 - lost)) if len(self.spreads) else float("inf")

    def exceeds(self, spread: Array, lost: float = LOST) -> Flags:
        """Tell which rows look like none of the held-out ones, but for the share `lost` of these."""
        return np.asarray(spread > self.threshold(lost))


def spread_of(P: Array) -> Floats:
    """Return over about how many classes each row is spread.

    >>> spread_of(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])).round(6).tolist()
    [1.0, 2.0]
    """
    spread = np.empty(len(P))
    for start in range(0, len(P), AT_ONCE):
        part = P[start : start + AT_ONCE]
        spread[start : start + AT_ONCE] = -(part * np.log(np.maximum(part, np.finfo(np.float64).tiny))).sum(axis=1)
    return np.exp(spread)
