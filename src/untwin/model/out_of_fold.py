"""Out-of-fold answers: predictions for training rows by models that were not trained on them.

They are kept after those models are gone.

Glossary
--------
n rows that were to be held out, C classes
rows        n        their numbers among the training rows: all of these, or a sample where they are too many
true        n        number of the label of each row, in `classes`
said        n        number of the answer; -1 where a row was never held out
log_p       n x C    calibrated log-probabilities, made of the best `scores`; NaN where a row was never held out
folds       n        the fold that held the row out; -1 never. Rows learnt later are a fold of their own: they were
                     answered before they were learnt
confidence  n        probability of the answer; 0 without one
wrong                positions (among the n rows) of the errors, the most confident first
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from untwin._values import freeze
from untwin.calibrate.reliability import calibration_error
from untwin.crossfit.outoffold import OutOfFold
from untwin.model.best_scores import BestScores, enough_for
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats, Floats32, Indices
    from untwin.calibrate.top_class import TopClassCalibration


@dataclass(frozen=True, eq=False, repr=False)
class OutOfFoldAnswers:
    """Answers of models to rows they were not trained on, beside the labels of the rows; arrays as in the glossary.

    Examples
    --------
    >>> log_p = np.log(np.array([[0.75, 0.25], [0.875, 0.125]]))
    >>> answers = OutOfFoldAnswers.of(np.array(["cat", "dog"]), np.arange(2), np.array([0, 1]), np.array([0, 0]),
    ...     log_p=log_p, folds=np.array([0, 1]))
    >>> answers
    OutOfFoldAnswers(2 rows, 2 classes, 2 held out)
    >>> answers.wrong.tolist(), answers.confidence.round(3).tolist()
    ([1], [0.75, 0.875])
    """

    classes: Array
    rows: Indices
    true: Indices
    said: Indices
    scores: BestScores
    folds: Indices

    def __post_init__(self) -> None:
        n, C = len(self.rows), len(self.classes)
        for name in ("true", "said", "folds"):
            if np.shape(getattr(self, name)) != (n,):
                raise ValueError(f"{name} must have shape {(n,)}. Got {np.shape(getattr(self, name))} instead.")
        if (len(self.scores.rest), self.scores.n_classes) != (n, C):
            raise ValueError(f"scores must be those of {n} rows and {C} classes. Got others instead.")
        if n and not (0 <= self.true.min() <= self.true.max() < C > self.said.max()):
            raise ValueError(f"true and said must be numbers of {C} classes. Got others instead.")
        if not np.array_equal(self.said >= 0, self.folds >= 0):
            raise ValueError("Rows must have an answer where they were held out, and only there.")

    @classmethod
    def of(
        cls,
        classes: Array,
        rows: Indices,
        true: Indices,
        said: Indices,
        *,
        log_p: Array,
        folds: Indices,
        top_class: TopClassCalibration | None = None,
    ) -> OutOfFoldAnswers:
        """Return answers by their log-probabilities, which `top_class` corrects, and of which the best are kept."""
        best = BestScores.of(log_p, enough_for(log_p, true), top_class=top_class)
        return cls(classes, rows, true, said, best, folds)

    @classmethod
    def nothing(cls, y: Array) -> OutOfFoldAnswers:
        """Return answers without any content, for labels of which no row can be held out."""
        classes, true = np.unique(y, return_inverse=True)
        never = np.full(len(y), -1, dtype=np.intp)
        log_p = np.full((len(y), len(classes)), np.nan, dtype=np.float32)
        return cls.of(classes, np.arange(len(y)), true, never, log_p=log_p, folds=never)

    def __repr__(self) -> str:
        return f"OutOfFoldAnswers({len(self.rows)} rows, {len(self.classes)} classes, {self.held.sum()} held out)"

    @property
    def log_p(self) -> Floats32:
        """Calibrated log-probabilities of all classes, made each time that they are asked for: they may be many."""
        return self.scores.dense()

    @cached_property
    def held(self) -> Flags:
        """Whether each row was held out."""
        return freeze(self.folds >= 0)

    @property
    def y(self) -> Array:
        """The label of each row."""
        return self.classes[self.true]

    @property
    def predicted(self) -> Array:
        """The answer to each row; any class where a row was never held out."""
        return self.classes[self.said]

    @cached_property
    def sizes(self) -> Indices:
        """The number of rows of each class."""
        return freeze(np.bincount(self.true, minlength=len(self.classes)))

    @cached_property
    def confusion(self) -> Confusion:
        """True x predicted of the held-out rows."""
        return self.confusion_of(self.held)

    @cached_property
    def confidence(self) -> Floats:
        """The probability of each answer; 0 without one."""
        held = np.flatnonzero(self.held)
        confidence = np.zeros(len(self.rows))
        confidence[held] = np.exp(self.scores.take(held).of_classes(self.said[held]))
        return freeze(confidence)

    @cached_property
    def wrong(self) -> Indices:
        """Positions of the errors, the most confident first."""
        errors = np.flatnonzero(self.held & (self.said != self.true))
        return freeze(errors[np.argsort(-self.confidence[errors], kind="stable")])

    @property
    def confidence_and_truth(self) -> tuple[Floats, Flags]:
        """The highest probability of each held-out row, and whether its answer was right."""
        return np.exp(self.scores.take(self.held).highest()), (self.said == self.true)[self.held]

    @property
    def calibration_error(self) -> float:
        """The expected calibration error of the held-out rows."""
        return calibration_error(*self.confidence_and_truth)

    @property
    def out_of_fold(self) -> OutOfFold:
        """The answers in the form of `untwin.crossfit.out_of_fold`; scores are log-probabilities."""
        held, y = self.held, self.y
        parts = tuple(self.confusion_of(self.folds == fold) for fold in np.unique(self.folds[held]))
        predictions = np.ma.MaskedArray(freeze(self.predicted), mask=freeze(~held), hard_mask=True)
        never = tuple(np.setdiff1d(y[~held], y[held]).tolist())
        return OutOfFold(
            self.confusion, parts, predictions, freeze(self.log_p.astype(np.float64)), freeze(self.folds), never
        )

    def confusion_of(self, some: Flags) -> Confusion:
        """Return true x predicted of some held-out rows."""
        return Confusion.from_codes(self.true[some], self.said[some], self.classes)
