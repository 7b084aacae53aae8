"""What became of promises on labelled rows: sure answers that are right, sets that hold the right class, heights."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwin.answer.error_curve import ErrorCurve
from untwin.answer.heights import LEVELS, NO_ANSWER

if TYPE_CHECKING:
    from untwin._types import Array, Flags
    from untwin.answer.predictions import Predictions
    from untwin.answer.promises import Promises

SHARES = np.linspace(0.05, 1.0, 20)
COVERAGES = (0.8, 0.9, 0.95, 0.98, 0.99)
TARGETS = (0.01, 0.02, 0.05, 0.1)


class SharePoint(NamedTuple):
    """The surest answers: from which probability on, which share of the rows they are, how many of them are wrong."""

    threshold: float
    share: float
    error: float


class SetPoint(NamedTuple):
    """Sets of classes: the promised coverage, the share that holds the right class, the mean size."""

    coverage: float
    held: float
    size: float


class HeightPoint(NamedTuple):
    """Answers at heights: the target, shares of the rows at each of them, the error among answers, bits told a row.

    `by_class_error` and `by_class_share` are the same for answers by classes alone.
    """

    target: float
    at_class: float
    at_group: float
    at_larger_group: float
    cannot_say: float
    error: float
    bits: float
    by_class_share: float
    by_class_error: float


class Kept(NamedTuple):
    """All of it; points of rows answered from few to all."""

    shares: tuple[SharePoint, ...]
    sets: tuple[SetPoint, ...]
    heights: tuple[HeightPoint, ...]


def share_points(confidence: Array, right: Flags) -> tuple[SharePoint, ...]:
    """Return the error of the surest answers, by their share.

    >>> [tuple(point) for point in share_points(np.array([0.9, 0.6]), np.array([True, False]))]
    [(0.9, 0.5, 0.0), (0.6, 1.0, 0.5)]
    """
    points = ErrorCurve.of_answers(confidence, right).at_shares(SHARES)
    return tuple(SharePoint(*point) for point in points)


def kept_on(promises: Promises, found: Predictions, classes: Array, true: Array) -> Kept:
    """Return what became of promises on rows whose classes have the numbers `true`; -1 is none that the model knows."""
    if not len(true):
        return Kept((), (), ())
    right, confidence = found.codes == true, found.probabilities.max(axis=1)
    sets = tuple(_set_point(promises, found, classes, true, coverage) for coverage in COVERAGES)
    heights = []
    for target in TARGETS:
        ends = promises.at_height(found, classes, target_error=target)
        said, held = ends.levels < NO_ANSWER, ends.hold(true)
        at_class, at_group, at_larger, nowhere = (np.bincount(ends.levels, minlength=len(LEVELS)) / len(true)).tolist()
        alone = confidence >= promises.sure.threshold(target)
        heights.append(
            HeightPoint(
                target,
                at_class,
                at_group,
                at_larger,
                nowhere,
                _mean(~held[said]),
                float((ends.bits * held).mean()),
                float(alone.mean()),
                _mean(~right[alone]),
            )
        )
    return Kept(share_points(confidence, right), sets, tuple(heights))


def _set_point(promises: Promises, found: Predictions, classes: Array, true: Array, coverage: float) -> SetPoint:
    sets = promises.shortlists(found, classes, coverage=coverage)
    held = ((sets.ranked == true[:, np.newaxis]) & sets.inside).any(axis=1)
    return SetPoint(coverage, float(held.mean()), float(sets.sizes.mean()))


def _mean(wrong: Flags) -> float:
    return float(wrong.mean()) if len(wrong) else 0.0
