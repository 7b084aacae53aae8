"""`BestScores`: log-probabilities of many rows, of which the likeliest classes count.

Glossary
--------
n rows, C classes, k = 10 or C if that is less; more where many true classes are less likely
places    n x k    the likeliest classes of each row, by number, the likeliest first
values    n x k    their log-probabilities; NaN where a row was never held out
rest      n        the log-probability of each other class: these share what is left

All classes of all rows would be most of what a model of hundreds of classes holds, and nearly all of it next to zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from untwin.answer.shortlists import TrueClasses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from untwin._types import Array, Flags, Floats, Floats32, Indices

KEPT = 10
BEYOND = 0.005  # of the true classes: how many may be less likely than those that are kept
MORE_CELLS = 1 << 20  # rows x classes that may be kept for it
LEAST = -700.0  # the logarithm of a probability that is next to zero, where there is none
MOST_CELLS = 1 << 22  # rows x classes that are made at a time


@dataclass(frozen=True, slots=True, eq=False)
class BestScores:
    """The likeliest classes of rows, and what the others share.

    Examples
    --------
    >>> scores = BestScores.of(np.log(np.array([[0.125, 0.625, 0.25]])), kept=1)
    >>> scores.places.tolist(), np.exp(scores.dense()).round(4)
    ([[1]], array([[0.1875, 0.625 , 0.1875]], dtype=float32))
    """

    n_classes: int
    places: Array
    values: Array
    rest: Array

    def __post_init__(self) -> None:
        n, k = self.places.shape if self.places.ndim == 2 else (-1, -1)
        if not (self.values.shape == (n, k) and self.rest.shape == (n,) and 1 <= k <= self.n_classes):
            raise ValueError(f"Scores of {self.n_classes} classes must be of the same rows. Got others instead.")
        if not self.values.dtype == self.rest.dtype == np.float32 or self.places.dtype.kind not in "iu":
            raise ValueError("Scores must be numbers of single precision, and their places whole numbers.")
        if n and not 0 <= self.places.min() <= self.places.max() < self.n_classes:
            raise ValueError(f"Places of scores must be those of {self.n_classes} classes. Got others instead.")

    @classmethod
    def of(cls, log_p: Array, kept: int = KEPT, *, top_class: Callable[[Array], Array] | None = None) -> Self:
        """Return the best of these log-probabilities (n x C), after `top_class` has corrected them."""
        n_classes = log_p.shape[1]
        kept = min(kept, n_classes)
        parts = []
        for start in range(0, max(len(log_p), 1), at_once := max(1, MOST_CELLS // n_classes)):
            part = log_p[start : start + at_once]
            parts.append(cls._best(part if top_class is None else top_class(part), kept))
        return cls(n_classes, *map(np.concatenate, zip(*parts, strict=True)))

    @staticmethod
    def _best(log_p: Array, kept: int) -> tuple[Array, Array, Array]:
        """Return places, values and rest of some rows."""
        n_classes = log_p.shape[1]
        best = np.argpartition(-log_p, kept - 1, axis=1)[:, :kept]
        values = np.take_along_axis(log_p, best, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        best, values = (np.take_along_axis(part, order, axis=1) for part in (best, values))
        others = 1.0 - np.exp(values.astype(np.float64)).sum(axis=1)
        share = np.maximum(others, np.finfo(np.float32).tiny) / max(n_classes - kept, 1)
        places = best.astype(np.min_scalar_type(n_classes))
        return places, values.astype(np.float32), np.log(share).astype(np.float32)

    def take(self, rows: Indices | Flags | slice) -> Self:
        """Return the scores of some rows."""
        return replace(self, places=self.places[rows], values=self.values[rows], rest=self.rest[rows])

    def spread(self) -> Floats:
        """Return over about how many classes each row is spread; see `untwin.answer.spread`."""
        values, rest = (np.maximum(part.astype(np.float64), LEAST) for part in (self.values, self.rest))
        others = (self.n_classes - self.places.shape[1]) * np.exp(rest) * rest
        return np.asarray(np.exp(-(np.exp(values) * values).sum(axis=1) - others))

    def true_classes(self, codes: Indices) -> TrueClasses:
        """Return the places of classes among those of their rows; of others than the likeliest by their numbers."""
        places, shares = self.places.astype(np.intp), np.exp(self.values.astype(np.float64))
        found = places == codes[:, np.newaxis]
        kept, place = found.any(axis=1), found.argmax(axis=1)
        before = np.cumsum(shares, axis=1) - shares
        later = codes - (places < codes[:, np.newaxis]).sum(axis=1)  # how many of the others have a smaller number
        rest = shares.sum(axis=1) + later * np.exp(self.rest.astype(np.float64))
        rows = np.arange(len(codes))
        return TrueClasses(
            np.where(kept, place, places.shape[1] + later), np.where(kept, before[rows, place], np.minimum(rest, 1.0))
        )

    def of_classes(self, classes: Indices) -> Floats:
        """Return the log-probability of one class of each row."""
        here = self.places == classes[:, np.newaxis]
        kept = self.values[np.arange(len(here)), here.argmax(axis=1)]
        return np.asarray(np.where(here.any(axis=1), kept, self.rest), dtype=np.float64)

    def highest(self) -> Floats:
        """Return the log-probability of the likeliest class of each row."""
        first = self.values.max(axis=1)
        return np.asarray(first if self.values.shape[1] == self.n_classes else np.maximum(first, self.rest), np.float64)

    def blocks(self) -> Iterator[slice]:
        """Yield the rows, as many at a time as may be made `dense`."""
        at_once = max(1, MOST_CELLS // self.n_classes)
        for start in range(0, len(self.rest), at_once):
            yield slice(start, start + at_once)

    def dense(self) -> Floats32:
        """Return log-probabilities of all classes (n x C): gigabytes for tens of thousands of both."""
        log_p = np.repeat(self.rest[:, np.newaxis], self.n_classes, axis=1)
        np.put_along_axis(log_p, self.places.astype(np.intp), self.values, axis=1)
        return log_p


def enough_for(log_p: Array, true: Indices) -> int:
    """Return how many classes to keep so that nearly all true classes of rows are among them: promises need these.

    >>> enough_for(np.log(np.full((100, 50), 0.02)) - np.arange(50), np.full(100, 19))
    20
    """
    most = max(KEPT, MORE_CELLS // max(len(true), 1))
    if not len(true) or most == KEPT or log_p.shape[1] <= KEPT:
        return KEPT
    own = np.take_along_axis(log_p, np.asarray(true)[:, np.newaxis], axis=1)
    places = np.sort((log_p > own).sum(axis=1))
    return int(np.clip(places[int((1 - BEYOND) * (len(places) - 1))] + 1, KEPT, most))
