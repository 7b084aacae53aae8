"""What a model keeps only to learn on: the fold of each row, and what linear SVMs go on from.

Glossary
--------
asked     rows that candidates were compared on: all, or a sample where rows are too many
part      the rows that one set of models is trained on: all of them (number -1), or all but those of a fold
parts     for each row that was asked, the fold whose models are not trained on it; -1: all are

Held-out answers are made again whenever something is learnt, by models of each fold that went on from where they were.
So they stay what the model would say of rows that it has not seen, and show at once what a change has done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from untwin.classify.centroids import CentroidClassifier
from untwin.classify.linear import LinearSVM, LogisticModel, NaiveBayes
from untwin.classify.linear.resume import Origin
from untwin.classify.stack import StackedClassifier
from untwin.crossfit.folds import deal_folds_in_runs, identical_rows

if TYPE_CHECKING:
    from untwin._types import Array, Indices
    from untwin.classify.linear.resume import ResumePoint
    from untwin.crossfit.together import PreparedFold
    from untwin.model.ensemble import Ensemble

WHOLE = -1  # the number of the part with all rows
FOLD_PASSES = 4  # of the SVM in folds: more change hardly an answer
PASSES = 6  # of the SVM that is kept
BY_NUMBER = (LinearSVM, LogisticModel, NaiveBayes, CentroidClassifier)  # know nothing of classes but their names


@dataclass(frozen=True, slots=True, eq=False)
class LearningState:
    """What learning goes on from; `points` are those of all rows, then of each fold, or none without a linear SVM.

    `changed` counts the rows that were added, removed or relabelled since the fit, `uncalibrated` those since
    probabilities were calibrated.
    """

    parts: Indices
    points: tuple[ResumePoint, ...]
    changed: int = 0
    uncalibrated: int = 0

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return int(self.parts.max(initial=-1)) + 1

    def point(self, part: int) -> ResumePoint | None:
        """Return what the linear SVM of a part goes on from."""
        return self.points[part + 1] if self.points else None


@dataclass(slots=True)
class PointKeeper:
    """Fits models to parts, and keeps what their linear SVMs go on from."""

    points: dict[int, ResumePoint] = field(default_factory=dict)

    def fit(self, model: Any, prepared: PreparedFold) -> Any:
        """Return a clone of the model, fitted to the training rows of a fold."""
        return self.keep(prepared.number, clone(model).fit(prepared.train, prepared.codes))

    def keep(self, part: int, fitted: Any) -> Any:
        """Take from a fitted model what it goes on from, and return it."""
        point = vars(fitted).pop("point_", None)
        if point is not None:
            self.points[part] = point
        return fitted

    def state(self, parts: Indices, **counts: int) -> LearningState:
        """Return what has been kept, in the order of the parts."""
        numbers = [WHOLE, *range(int(parts.max(initial=-1)) + 1)]
        known = all(number in self.points for number in numbers)
        return LearningState(parts, tuple(self.points[number] for number in numbers) if known else (), **counts)


@dataclass(frozen=True, slots=True, eq=False)
class Labelling:
    """Rows with their classes, and which of them were asked, and which parts they are in."""

    classes: Array
    codes: Indices
    asked: Indices
    parts: Indices

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return int(self.parts.max(initial=-1)) + 1

    def has_rows_and_classes_of(self, other: Labelling) -> bool:
        """Tell whether only labels differ from those of another labelling."""
        pairs = [(getattr(self, name), getattr(other, name)) for name in ("classes", "asked", "parts")]
        return len(self.codes) == len(other.codes) and all(np.array_equal(*pair) for pair in pairs)

    def trained_on(self, part: int) -> Indices:
        """Return the rows that the models of a part are trained on."""
        return np.arange(len(self.codes)) if part == WHOLE else self.asked[self.parts != part]


def origin_of(part: int, now: Labelling, before: Labelling, rows: Indices, *, same_rows: bool) -> tuple[Origin, int]:
    """Return where rows and classes of a part come from, and how many classes it had.

    `rows` are the numbers that all rows of `now` had before; -1: new.
    """
    trained, trained_before = now.trained_on(part), before.trained_on(part)
    place = np.full(len(before.codes) + 1, -1)  # the last one is for new rows
    place[trained_before] = np.arange(len(trained_before))
    old = place[rows[trained]]
    known = np.unique(before.codes[trained_before])
    was = np.where(old >= 0, np.searchsorted(known, before.codes[rows[trained]]), -1)
    names = now.classes[np.unique(now.codes[trained])]
    return Origin(old, was, places_of(names, before.classes[known]), same_rows), len(known)


def places_of(names: Array, known: Array) -> Indices:
    """Return where each of `names` stands in the sorted `known`; -1: nowhere.

    >>> places_of(np.array(["ape", "cat"]), np.array(["bee", "cat"])).tolist()
    [-1, 1]
    """
    place = np.minimum(np.searchsorted(known, names), len(known) - 1)
    return np.where(known[place] == names, place, -1)


def deal_more(parts: Indices, codes: Indices, rows: Any, n_folds: int, turn: int) -> Indices:
    """Return the fold of each row: rows without one (-1) get that of an identical row, or are dealt to all folds.

    `turn` is the fold to begin with: rows that come one by one are spread as well.
    """
    if not n_folds or (parts >= 0).all():
        return parts
    unit = identical_rows(rows)
    of_unit = np.full(unit.max() + 1, -1)
    of_unit[unit[parts >= 0]] = parts[parts >= 0]
    dealt = of_unit[unit]
    left = np.flatnonzero(dealt < 0)
    if len(left):
        units = np.unique(unit[left], return_inverse=True)[1]
        dealt[left] = (deal_folds_in_runs(codes[left], units, n_folds) + turn) % n_folds
    return dealt


def first_stage_of(ensemble: Ensemble) -> dict[str, Any]:
    """Return the classifiers that the members are, or that a stack learns from, untrained, by name."""
    found: dict[str, Any] = {}
    for member in ensemble.members:
        found |= dict(member.model.estimators) if _is_stack(member.model) else {member.name: member.model}
    return {name: clone(model) for name, model in found.items()}


def _is_stack(model: Any) -> bool:
    return isinstance(model, StackedClassifier)


def for_part(model: Any, part: int, n_jobs: int | None) -> Any:
    """Return an untrained classifier with the passes and threads that suit a part."""
    if not isinstance(model, LinearSVM):
        return clone(model)
    passes = passes_of(model) if part == WHOLE or model.passes is None else FOLD_PASSES
    return clone(model).set_params(passes=passes, n_jobs=n_jobs)


def passes_of(svm: LinearSVM) -> int | None:
    """Return the passes of an SVM that is kept; None for one that ends by itself."""
    return None if svm.passes is None else PASSES
