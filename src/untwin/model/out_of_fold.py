"""Out-of-fold answers: predictions for training rows by models that were not trained on them.

They are kept after those models are gone.

Glossary
--------
n rows with an answer, C classes
rows       n        their numbers among the training rows: all of these, or a sample where they are too many
log_p      n x C    calibrated log-probabilities; NaN where a row was never held out
predicted  n        the answer; anything where a row was never held out
folds      n        the fold that held the row out; -1 never. Rows learnt later are a fold of their own: they were
                    answered before they were learnt
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from untwin._values import freeze, positions
from untwin.calibrate.reliability import calibration_error
from untwin.crossfit.outoffold import OutOfFold
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from untwin._types import Array, Flags, Floats, Floats32, Indices

    Answer = Callable[[Array, Array], Array]  # class names by log-probabilities and the classes of their columns


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFoldAnswers:
    """Answers of models to rows they were not trained on; arrays as in the glossary."""

    classes: Array
    rows: Indices
    log_p: Floats32
    predicted: Array
    folds: Indices

    @classmethod
    def nothing(cls, classes: Array, n: int) -> OutOfFoldAnswers:
        """Return answers without any content, for data where no row can be held out."""
        log_p = np.full((n, len(classes)), np.nan, dtype=np.float32)
        return cls(classes, np.arange(n), log_p, np.full(n, classes[0]), np.full(n, -1, dtype=np.intp))

    @property
    def held(self) -> Flags:
        """Whether each row was held out."""
        return np.asarray(self.folds >= 0)

    def joined(
        self, rows: Indices, log_p: Floats32, predicted: Array, asked: Flags, classes: Array
    ) -> OutOfFoldAnswers:
        """Return these answers and those to new rows, made before the rows were learnt; `classes` are all classes now.

        Rows that are not `asked` get no answer: their class was unknown then, or they repeat a training row.
        """
        new = np.full((len(rows), len(classes)), -np.inf, dtype=np.float32)
        new[:, positions(self.classes, classes)] = log_p
        new[~asked] = np.nan
        return OutOfFoldAnswers(
            classes,
            np.concatenate([self.rows, rows]),
            np.vstack([self.among(classes).log_p, new]),
            np.concatenate([self.predicted, predicted]),
            np.concatenate([self.folds, np.where(asked, self.folds.max(initial=-1) + 1, -1)]),
        )

    def without(self, gone: Indices, n_rows: int) -> OutOfFoldAnswers:
        """Return the answers without the training rows `gone` of `n_rows`; the rows left are numbered again."""
        left = np.setdiff1d(np.arange(n_rows), gone)
        number = np.full(n_rows, -1, dtype=np.intp)
        number[left] = np.arange(len(left))
        kept = number[self.rows] >= 0
        return replace(
            self,
            rows=number[self.rows[kept]],
            log_p=self.log_p[kept],
            predicted=self.predicted[kept],
            folds=self.folds[kept],
        )

    def among(self, classes: Array) -> OutOfFoldAnswers:
        """Return the same answers with columns for all of `classes`; new classes have probability 0."""
        log_p = np.full((len(self.log_p), len(classes)), -np.inf, dtype=np.float32)
        log_p[:, positions(self.classes, classes)] = self.log_p
        log_p[~self.held] = np.nan
        return replace(self, classes=classes, log_p=log_p)

    def moved(self, heirs: csr_array, classes: Array, y: Array, answer: Answer) -> OutOfFoldAnswers:
        """Return the answers after labels have changed: the probability of each old class goes to its heirs.

        `heirs` (old x new classes) holds the share of a class's probability that each new class gets. A row counts as
        never held out if its class has no old class, or if all its probability was on classes that are gone. `y` are
        the labels of all training rows now; `answer` turns log-probabilities into class names.
        """
        P = np.exp(self.log_p.astype(np.float64)) @ heirs
        total = P.sum(axis=1)
        spoken_of = np.isin(y[self.rows], classes[np.asarray(heirs.sum(axis=0)) > 0])
        asked = self.held & spoken_of & (total > 0)
        log_p = np.full(P.shape, np.nan)
        with np.errstate(divide="ignore"):  # some classes have probability 0
            log_p[asked] = np.log(P[asked] / total[asked, np.newaxis])
        predicted = np.resize(classes, len(asked))  # anything, but of these classes
        predicted[asked] = answer(log_p[asked], classes)
        folds = np.where(asked, self.folds, -1)
        return replace(self, classes=classes, log_p=log_p.astype(np.float32), predicted=predicted, folds=folds)

    def confusion(self, y: Array) -> Confusion:
        """Return true x predicted of the held-out rows; `y` are the labels of all training rows."""
        return Confusion.from_predictions(y[self.rows][self.held], self.predicted[self.held], classes=self.classes)

    def out_of_fold(self, y: Array) -> OutOfFold:
        """Return the answers in the form of `untwin.crossfit.out_of_fold`; scores are log-probabilities."""
        labels = y[self.rows]
        parts = [
            Confusion.from_predictions(labels[here], self.predicted[here], classes=self.classes)
            for fold in np.unique(self.folds[self.held])
            for here in [self.folds == fold]
        ]
        predictions = np.ma.MaskedArray(freeze(self.predicted), mask=freeze(~self.held), hard_mask=True)
        never = np.setdiff1d(labels[~self.held], labels[self.held])
        scores = freeze(self.log_p.astype(np.float64))
        return OutOfFold(
            self.confusion(y), tuple(parts), predictions, scores, freeze(self.folds), tuple(never.tolist())
        )

    def judged(self, y: Array) -> tuple[Floats, Flags]:
        """Return the confidence of the answers to held-out rows, and whether they were right."""
        confidence = np.exp(self.log_p[self.held].astype(np.float64)).max(axis=1, initial=0.0)
        return confidence, self.right(y)

    def right(self, y: Array) -> Flags:
        """Tell which held-out rows were answered right."""
        return np.asarray((self.predicted == y[self.rows])[self.held])

    def calibration_error(self, y: Array) -> float:
        """Return the expected calibration error of the held-out rows."""
        return calibration_error(*self.judged(y))
