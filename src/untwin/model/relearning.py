"""Train the chosen members on changed rows: they go on from where they were, and so do those of each fold.

The choice of candidates, C and the folds of rows stay. Preprocessing is fitted to the rows that there are now. What
cannot go on is trained from nothing: naive Bayes and centroids are sums, which costs next to nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from untwin._compat import rows_of
from untwin.classify.linear import LinearSVM
from untwin.classify.stack import StackedClassifier
from untwin.crossfit.folds import NothingHeldOutError, exclude_small_classes
from untwin.crossfit.together import HeldOutScores, SharedFolds
from untwin.model.ensemble import Ensemble
from untwin.model.learning import (
    BY_NUMBER,
    WHOLE,
    Labelling,
    PointKeeper,
    deal_more,
    first_stage_of,
    for_part,
    origin_of,
)
from untwin.model.out_of_fold import OutOfFoldAnswers
from untwin.model.relabelling import Relabelling, kept_scores
from untwin.model.selection.comparison import Comparison
from untwin.model.selection.second_stage import HeldOutSecondStage
from untwin.model.selection.select import expected_scores
from untwin.model.state import FULL
from untwin.represent.term_weights import TermWeights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from untwin._types import Array, Floats32, Indices
    from untwin.crossfit.together import PreparedFold
    from untwin.model.features.view import View
    from untwin.model.selection.comparison import CandidateResult, Member
    from untwin.model.selection.select import SelectionRules
    from untwin.model.state import FittedState

UNCALIBRATED = 0.01  # share of the rows: after fewer changes temperatures stay as they are


class RowChange(NamedTuple):
    """The rows, labels and names after a change. `rows`: the number that each row had before; -1: it is new.

    `n_changed` counts the rows that were added, removed or relabelled.
    """

    view: View
    y: Array
    ids: Array
    n_arrived: int
    rows: Indices
    n_changed: int


class Relearnt(NamedTuple):
    """The state after a change, the scores to expect, and the held-out scores of the first stage, if they are few."""

    state: FittedState
    scores: dict[str, float]
    held_out: dict[str, Floats32] | None


def relearn(
    known: FittedState, change: RowChange, rules: SelectionRules, before: Mapping[str, Floats32] | None
) -> Relearnt:
    """Return what a change leads to; raise NothingHeldOutError if no row can be held out.

    `before` are the held-out scores of the first stage, where they were kept.
    """
    if known.learning is None:
        raise NothingHeldOutError
    now, folds = _labelling(known, change)
    prepared, resumer = change.view.prepare(change.y), Resumer(known, change, now)
    rows = change.view.rows if len(now.asked) == len(change.y) else change.view.take(now.asked).rows
    codes, preprocessing = now.codes[now.asked], change.view.preprocessing
    shared = SharedFolds(rows, codes, len(now.classes), folds, now.parts, preprocessing, rules.n_threads)
    first, trained = first_stage_of(known.ensemble), dict[str, Any]()

    def train(n_jobs: int) -> None:
        for name, model in first.items():
            labels = now.codes if isinstance(model, BY_NUMBER) else change.y
            trained[name] = resumer.train(model, prepared.rows, labels, n_jobs)

    models = {name: for_part(model, 0, None) for name, model in first.items()}
    found = resumer.scores(shared, models, before, train)
    comparison = Comparison(now.classes, codes, folds, rules.scoring, rules.order)
    calibrated = _stays_calibrated(known, change, now.classes)
    scored = ScoredMembers(known.ensemble, comparison, shared, models, found, stays_calibrated=calibrated)
    winner, ensemble = scored.ensemble(trained, prepared.rows, change.y)
    after = replace(
        known,
        view=change.view,
        ensemble=ensemble,
        answers=OutOfFoldAnswers.of(
            now.classes,
            now.asked,
            codes,
            np.where(comparison.held, winner.predicted, -1),
            log_p=winner.log_p,
            folds=folds,
            top_class=ensemble.top_class,
        ),
        preprocessing=prepared.preprocessing,
        y=change.y,
        ids=change.ids,
        n_arrived=change.n_arrived,
        kept=FULL,
        learning=resumer.state(
            now.parts,
            changed=known.learning.changed + change.n_changed,
            uncalibrated=known.learning.uncalibrated + change.n_changed if calibrated else 0,
        ),
    )
    return Relearnt(after, expected_scores(comparison, winner.predicted), kept_scores(found))


def _labelling(known: FittedState, change: RowChange) -> tuple[Labelling, Indices]:
    """Return the rows after a change with their classes and parts, and the fold that holds each asked row out."""
    learning, before = known.learning, known.answers.rows
    if learning is None:
        raise NothingHeldOutError
    classes, codes = np.unique(change.y, return_inverse=True)
    place = np.full(len(known.y) + 1, -1)  # of rows that were asked; the last one is for new rows
    place[before] = np.arange(len(before))
    asked = np.flatnonzero((change.rows < 0) | (place[change.rows] >= 0))
    old = place[change.rows[asked]]
    parts = _without_lonely(np.where(old >= 0, learning.parts[old], -1), codes[asked])
    comparable = _comparable(change.view, asked, len(codes))
    dealt = deal_more(parts, codes[asked], comparable, learning.n_folds, known.n_arrived)
    folds, parts, _ = exclude_small_classes(codes[asked], np.arange(len(asked)), dealt)
    return Labelling(classes, codes, asked, parts), folds


def _without_lonely(parts: Indices, codes: Indices) -> Indices:
    """Return the parts of rows, or -1 where all rows of a class are in one: the class could not be held out.

    >>> _without_lonely(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])).tolist()
    [-1, 0, 1, -1]
    """
    inside = np.flatnonzero(parts >= 0)
    pairs = np.unique(np.column_stack([codes, parts])[inside], axis=0)
    lonely = np.bincount(pairs[:, 0], minlength=codes.max() + 1) == 1
    return np.where(lonely[codes], -1, parts)


def _comparable(view: View, asked: Indices, n_rows: int) -> Any:
    """Return rows in which equal ones can be found."""
    rows = view.rows if view.given is None else view.given
    return rows if len(asked) == n_rows else rows_of(rows, asked)


def _stays_calibrated(known: FittedState, change: RowChange, classes: Array) -> bool:
    """Tell whether so few rows have changed that probabilities need no other temperature."""
    uncalibrated = change.n_changed + (0 if known.learning is None else known.learning.uncalibrated)
    return uncalibrated <= UNCALIBRATED * len(change.y) and np.array_equal(classes, known.ensemble.classes)


class Resumer(PointKeeper):
    """Trains models of parts from where those of a state were."""

    def __init__(self, known: FittedState, change: RowChange, now: Labelling) -> None:
        super().__init__()
        self._rows, self._now = change.rows, now
        classes, learning = known.ensemble.classes, known.learning
        parts = np.full(len(known.answers.rows), -1) if learning is None else learning.parts
        self._before = Labelling(classes, np.searchsorted(classes, known.y), known.answers.rows, parts)
        self._learning = learning
        # Weights of terms need no labels: without them rows change only as much as the rarity of terms does.
        self._same_rows = isinstance(change.view.preprocessing, TermWeights | None)

    def scores(
        self,
        shared: SharedFolds,
        models: Mapping[str, Any],
        before: Mapping[str, Floats32] | None,
        beside: Callable[[int], None],
    ) -> dict[str, HeldOutScores]:
        """Return the scores of held-out rows by models that have learnt on."""
        if self._learning is not None and before is not None and self._same_rows:
            some = Relabelling(self._before, self._now, self._learning, before)
            if some.fits(models, shared.rows):
                return some.scores(shared, models, self, beside)
        return shared.scores(models, beside=[beside], fit=self.fit)

    def fit(self, model: Any, prepared: PreparedFold) -> Any:
        """Return a model fitted to the training rows of a fold."""
        return self._fit(model, prepared.number, prepared.train, prepared.codes)

    def train(self, model: Any, rows: Any, labels: Array, n_jobs: int) -> Any:
        """Return a model fitted to all rows."""
        return self._fit(for_part(model, WHOLE, n_jobs), WHOLE, rows, labels)

    def _fit(self, model: Any, part: int, rows: Any, labels: Array) -> Any:
        fresh, learning = clone(model), self._learning
        point = None
        if isinstance(fresh, LinearSVM) and learning is not None and self._now.n_folds == learning.n_folds:
            point = learning.point(part)
        if point is None:
            return self.keep(part, fresh.fit(rows, labels))
        origin, n_before = origin_of(part, self._now, self._before, self._rows, same_rows=self._same_rows)
        return self.keep(part, fresh.resume(rows, labels, point, origin, n_before))


class ScoredMembers:
    """The members of an ensemble with the held-out scores of their first stage."""

    def __init__(
        self,
        ensemble: Ensemble,
        comparison: Comparison,
        shared: SharedFolds,
        models: Mapping[str, Any],
        found: Mapping[str, HeldOutScores],
        *,
        stays_calibrated: bool,
    ) -> None:
        self._before, self._comparison, self._shared = ensemble, comparison, shared
        self._models, self._found, self._stays_calibrated = models, found, stays_calibrated
        self._second: dict[str, HeldOutSecondStage] = {}

    def ensemble(self, trained: Mapping[str, Any], rows: Any, y: Array) -> tuple[CandidateResult, Ensemble]:
        """Return the held-out answers of the ensemble, and it with the models that are trained on all rows."""
        before, comparison = self._before, self._comparison
        results = [self._result(member) for member in before.members]
        winner = comparison.average(results, before.temperature if self._stays_calibrated else None)
        top_class = before.top_class if self._stays_calibrated else comparison.top_class(winner.log_p)
        members = tuple(replace(member, model=self._model(member, trained, rows, y)) for member in winner.members)
        return winner, Ensemble(members, winner.temperature, comparison.classes, top_class)

    def _result(self, member: Member) -> CandidateResult:
        stack = isinstance(member.model, StackedClassifier)
        found = self._stack_scores(member.name, member.model) if stack else self._found[member.name]
        temperature = member.temperature if self._stays_calibrated else None
        return self._comparison.result(member.name, member.model, found, temperature)

    def _stack_scores(self, name: str, model: StackedClassifier) -> HeldOutScores:
        """Return the scores of a stack, whose second stage learns from the answers to other folds."""
        names = [name for name, _ in model.estimators]
        warm: list[float | None] = [*model.temperatures_.tolist()] if self._stays_calibrated else [None] * len(names)
        first = [
            self._comparison.result(name, self._models[name], self._found[name], temperature)
            for name, temperature in zip(names, warm, strict=True)
        ]
        temperatures = np.array([result.members[0].temperature for result in first])
        models = {name: self._models[name] for name in names}
        second = self._second[name] = HeldOutSecondStage(
            self._shared, models, temperatures, [one.log_p for one in first]
        )
        scores = np.full((len(self._shared.codes), self._shared.n_classes), np.nan, dtype=np.float32)
        for fold in np.unique(second.folds).tolist():
            scores[second.rows_of(fold)] = second.scores(fold, model.C)
        return HeldOutScores(scores, 0.0)

    def _model(self, member: Member, trained: Mapping[str, Any], rows: Any, y: Array) -> Any:
        if not isinstance(member.model, StackedClassifier):
            model = trained[member.name]
            if isinstance(model, BY_NUMBER):
                model.classes_ = self._comparison.classes
            return model
        stack: StackedClassifier = clone(member.model)
        models = [trained[name] for name, _ in stack.estimators]
        return stack.fit(rows, y, answers=self._second[member.name].answers, models=models)
