"""Let the second stage of a stack answer held-out rows: for each fold it learns from the answers to the others.

The models of other folds have seen the labels of this one, which on few rows lets a stack look better than it is: 1.5
points on 240 rows without any signal. So up to `FEW_ROWS` rows it learns from models that know neither fold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.probabilities import log_probabilities
from untwin.classify.stack import FirstStageAnswers, held_out_scores, stack_features

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scipy.sparse import csr_array

    from untwin._types import Array, Floats32, Indices
    from untwin.crossfit.together import SharedFolds

FEW_ROWS = 2_000  # up to which a stack is judged by first stages that know neither its fold nor that of its rows


class HeldOutSecondStage:
    """The features of held-out rows, and what the second stage of each fold learns from.

    `log_p` are the log-probabilities of all rows by each classifier of the first stage, at these temperatures.
    """

    def __init__(
        self, shared: SharedFolds, first: Mapping[str, Any], temperatures: Array, log_p: Sequence[Floats32]
    ) -> None:
        self._shared = shared
        self.held = np.flatnonzero(shared.folds >= 0)
        every = len(self.held) == len(shared.folds)
        features = stack_features([part if every else part[self.held] for part in log_p])
        self.answers = FirstStageAnswers(temperatures, features, shared.codes[self.held])
        self.folds = shared.folds[self.held]
        self._without: dict[int, tuple[csr_array, Indices]] = {}
        if len(self.held) <= FEW_ROWS and len(shared.numbers) > 2:
            self._without = {fold: self._answers_without(fold, first) for fold in shared.numbers.tolist()}

    def rows_of(self, fold: int) -> Indices:
        """Return the rows of a fold."""
        return np.asarray(self.held[self.folds == fold])

    def scores(self, fold: int, C: float) -> Floats32:
        """Return the scores of the rows of a fold by a second stage that has learnt from the others."""
        _, features, codes = self.answers
        train, test = np.flatnonzero(self.folds != fold), np.flatnonzero(self.folds == fold)
        learnt = self._without.get(fold) or (features[train], codes[train])
        return held_out_scores(*learnt, features[test], n_classes=self._shared.n_classes, C=C)

    def _answers_without(self, fold: int, first: Mapping[str, Any]) -> tuple[csr_array, Indices]:
        """Return features and classes of the rows of other folds, by models that know neither their fold nor this."""
        shared = self._shared.take(np.flatnonzero(self._shared.parts != fold))
        held, found = np.flatnonzero(shared.folds >= 0), shared.scores(first)
        pairs = zip(found.values(), self.answers.temperatures, strict=True)
        log_p = [log_probabilities(part.scores[held], temperature) for part, temperature in pairs]
        return stack_features(log_p), shared.codes[held]
