"""A few labels change and nothing else: only the classes that lost or won a row are learnt again.

Weights of terms do not depend on labels, so that in each fold all other classes keep their weights, and their scores of
held-out rows with them. That takes the scores of before, which are there once a model has learnt on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from untwin.classify.centroids import CentroidClassifier
from untwin.classify.linear import LinearSVM, NaiveBayes
from untwin.classify.linear.resume import too_many
from untwin.model.learning import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from untwin._types import Array, Floats32, Indices
    from untwin.classify.linear.resume import ResumePoint
    from untwin.crossfit.together import HeldOutScores, PreparedFold, SharedFolds
    from untwin.model.learning import Labelling, LearningState, PointKeeper

MOST_KEPT = 1 << 24  # scores that are kept from one change to the next: 64 MiB


class SomeClasses(NamedTuple):
    """A model of some classes; it has a column of scores for each, also where they are two."""

    classes_: Indices
    fitted: Any

    def decision_function(self, rows: Any) -> Array:
        """Return the score of each of these classes."""
        return np.asarray(self.fitted.scores(rows))


class Relabelling:
    """The folds whose training rows have other labels now, and how their models learn on.

    `fits` tells whether that is enough: there are the same rows and classes, and the models are made class by class.
    """

    def __init__(
        self, before: Labelling, now: Labelling, learning: LearningState, scores: Mapping[str, Floats32]
    ) -> None:
        self._before, self._now, self._learning, self._scores = before, now, learning, scores
        self._same = now.has_rows_and_classes_of(before)
        self._changed = np.flatnonzero(before.codes != now.codes) if self._same else np.arange(0)

    def fits(self, models: Mapping[str, Any], rows: Any) -> bool:
        """Tell whether these models of these rows can learn class by class."""
        if not self._same or not issparse(rows) or set(self._scores) != set(models):
            return False
        by_class = all(isinstance(model, LinearSVM | NaiveBayes | CentroidClassifier) for model in models.values())
        return by_class and all(self._has_its_classes(part) for part in range(self._now.n_folds))

    def _has_its_classes(self, part: int) -> bool:
        """Tell whether a part has the classes that it had, few of them moved, and what its SVM goes on from."""
        trained, point = self._now.trained_on(part), self._learning.point(part)
        known = np.unique(self._now.codes[trained])
        if point is None or point.alpha is None or len(known) < 3 or too_many(np.isin(known, self._moved(part))):
            return False
        return np.array_equal(known, np.unique(self._before.codes[trained]))

    def scores(
        self, shared: SharedFolds, models: Mapping[str, Any], keeper: PointKeeper, beside: Callable[[int], None]
    ) -> dict[str, HeldOutScores]:
        """Return the scores of all held-out rows; `keeper` gets what the next change goes on from."""
        moved = [part for part in range(self._now.n_folds) if len(self._moved(part))]
        for part in set(range(self._now.n_folds)) - set(moved):
            keeper.points[part] = self._learning.points[part - WHOLE]
        touched = replace(shared, folds=np.where(np.isin(shared.folds, moved), shared.folds, -1))

        def fit(model: Any, prepared: PreparedFold) -> SomeClasses:
            return self._fit(clone(model), prepared, keeper)

        return touched.scores(models, beside=[beside], fit=fit, before=self._scores)

    def _moved(self, part: int) -> Indices:
        """Return the classes that lost or won a row of a part."""
        rows = self._changed
        trained = rows if part == WHOLE else np.intersect1d(rows, self._now.trained_on(part))
        return np.unique(np.concatenate([self._before.codes[trained], self._now.codes[trained]]))

    def _fit(self, model: Any, prepared: PreparedFold, keeper: PointKeeper) -> SomeClasses:
        part, moved = prepared.number, self._moved(prepared.number)
        if not isinstance(model, LinearSVM):
            return SomeClasses(moved, model.fit_classes(prepared.train, prepared.codes, moved))
        trained = self._now.trained_on(part)
        known = np.unique(prepared.codes)
        before, now, some = (
            np.searchsorted(known, codes) for codes in (self._before.codes[trained], prepared.codes, moved)
        )
        point: ResumePoint = self._learning.points[part - WHOLE]
        return SomeClasses(moved, keeper.keep(part, model.resume_classes(prepared.train, now, point, before, some)))


def kept_scores(found: Mapping[str, HeldOutScores]) -> dict[str, Floats32] | None:
    """Return the scores to keep until the next change; None where they are too many."""
    scores = {name: one.scores for name, one in found.items()}
    return scores if sum(part.size for part in scores.values()) <= MOST_KEPT else None
