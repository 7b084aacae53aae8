"""The fitted state of a model: the view of the rows, the ensemble, its out-of-fold answers, and neighbours.

Glossary
--------
given             rows as the user hands them over: texts, a frame, a matrix
encoded           the same rows as the view turns them into numbers
preprocessing     fitted transformer that turns encoded rows into terms, or None
log_p   n x C     calibrated log-probabilities
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._compat import rows_of
from untwin.calibrate.threshold import surest_threshold
from untwin.model.features.view import apply_preprocessing
from untwin.model.neighbours import NeighbourSpace

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats32
    from untwin.answer.answerer import TextAnswerer
    from untwin.model.ensemble import Ensemble
    from untwin.model.explaining.explainer import Explainer
    from untwin.model.features.view import PreparedRows, View
    from untwin.model.out_of_fold import OutOfFoldAnswers


@dataclass(frozen=True, eq=False)
class FittedState:
    """The data from which a model answers, explains and learns incrementally.

    `y` and `ids` are the labels and names (`row_ids`) of the training rows that the view holds. `n_arrived` counts all
    rows ever learnt, removed ones included. `preprocessing`: the view's, fitted to all rows, or None. `documents`: the
    training rows as they were given if a person can read them (texts, a frame), else None.
    """

    view: View
    ensemble: Ensemble
    answers: OutOfFoldAnswers
    space: NeighbourSpace
    preprocessing: Any
    y: Array
    ids: Array
    n_arrived: int
    documents: Any

    @classmethod
    def assemble(
        cls,
        view: View,
        prepared: PreparedRows,
        ensemble: Ensemble,
        answers: OutOfFoldAnswers,
        y: Array,
        *,
        ids: Array,
        n_arrived: int,
        documents: Any,
    ) -> FittedState:
        """Return the state with a new neighbour space."""
        log_p = log_proba_of_rows(ensemble, view, prepared.preprocessing, answers)
        space = NeighbourSpace.of_rows(log_p, ensemble.classes, y[answers.rows])
        return cls(view, ensemble, answers, space, prepared.preprocessing, y, ids, n_arrived, documents)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what answers and explains is made again by a copy."""
        return {name: value for name, value in vars(self).items() if name not in ("answerer", "explainer")}

    @property
    def n_terms(self) -> int:
        """How many terms of the counted texts a person can read."""
        return 0 if self.view.encoder is None else int(self.view.encoder.readable_.sum())

    def log_proba(self, given: Any) -> tuple[Floats32, Flags]:
        """Return calibrated log-probabilities of new rows, and which rows are texts without any known term.

        Such a row gets the class frequencies.
        """
        if self.answerer is not None:
            return self.answerer.log_proba(given)
        encoded = self.view.encode(given)
        log_p = self.ensemble.log_proba(self.terms(encoded))
        mute = self._mute(encoded)
        log_p[mute] = np.log(np.unique(self.y, return_counts=True)[1] / len(self.y))
        return log_p, mute

    @cached_property
    def answerer(self) -> TextAnswerer | None:
        """What answers about texts instead of view and ensemble, if it can: quicker, and smaller."""
        from untwin.model.answering import compile_state

        return compile_state(self)

    @cached_property
    def explainer(self) -> Explainer:
        """What explains answers: an index of similar answers, and what reads rows by their terms."""
        from untwin.model.explaining.explainer import Explainer

        return Explainer.of_state(self)

    def log_proba_of_training_row(self, row: int) -> Floats32:
        """Return what the model, which has seen it, says of a training row."""
        from untwin.model.answering import counted_rows

        encoded = rows_of(self.view.rows, [row])
        counts = None if self.view.encoder is None else counted_rows(encoded)
        if counts is None or self.answerer is None:
            return self.ensemble.log_proba(self.terms(encoded))
        return self.answerer.log_proba_of_counts(counts, few=True)[0]

    def without_evidence(self, given: Any) -> Flags:
        """Tell which texts hold no known term."""
        return self._mute(self.view.encode(given))

    def threshold(self, target_error: float) -> float:
        """Return the probability from which on at most this share of the answers to held-out rows was wrong."""
        return surest_threshold(*self.answers.confidence_and_truth, target_error)

    def terms(self, rows: Any) -> Any:
        """Return rows of the view after its preprocessing."""
        return apply_preprocessing(self.preprocessing, rows)

    def readable_terms(self, rows: Any) -> tuple[Any, Array | None]:
        """Return rows of the view by the terms that a person can read, and their names, if they have any."""
        return self.view.readable_terms(self.terms(rows), self.preprocessing)

    def _mute(self, encoded: Any) -> Flags:
        if self.view.encoder is None:
            return np.zeros(encoded.shape[0] if hasattr(encoded, "shape") else len(encoded), dtype=np.bool_)
        return np.asarray(np.diff(encoded.indptr) == 0)


def log_proba_of_rows(ensemble: Ensemble, view: View, preprocessing: Any, answers: OutOfFoldAnswers) -> Floats32:
    """Return the out-of-fold log-probabilities of the rows; those of the ensemble for rows that were never held out."""
    log_p = answers.log_p.copy()
    never = np.flatnonzero(~answers.held)
    if len(never):
        rows = rows_of(view.rows, answers.rows[never])
        log_p[never] = ensemble.log_proba(apply_preprocessing(preprocessing, rows))
    return log_p
