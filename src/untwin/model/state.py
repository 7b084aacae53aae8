"""The fitted state of a model: the view of the rows, the ensemble, its out-of-fold answers, and neighbours.

Glossary
--------
given             rows as the user hands them over: texts, a frame, a matrix
encoded           the same rows as the view turns them into numbers
preprocessing     fitted transformer that turns encoded rows into terms, or None
log_p   n x C     calibrated log-probabilities
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._compat import rows_of
from untwin._errors import InputError
from untwin.answer.answerer import TextAnswerer
from untwin.answer.error_curve import ErrorCurve
from untwin.answer.layers import FEW
from untwin.answer.predictions import Scored
from untwin.answer.spread import SpreadOfKnown
from untwin.model.features.view import apply_preprocessing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin._types import Array, Flags, Floats32, Indices
    from untwin.model.answering import Answerer
    from untwin.model.ensemble import Ensemble
    from untwin.model.explaining.explainer import Explainer
    from untwin.model.features.view import View
    from untwin.model.learning import LearningState
    from untwin.model.out_of_fold import OutOfFoldAnswers
    from untwin.model.promises import MeasuredPromises

FULL = "full"
MADE_AGAIN = ("answerer", "explainer", "sure", "known", "measured_promises")  # by a copy


@dataclass(frozen=True, eq=False)
class FittedState:
    """The data from which a model answers, explains and learns incrementally.

    `y` and `ids` are the labels and names (`row_ids`) of the training rows that the view holds. `n_arrived` counts all
    rows ever learnt, removed ones included. `preprocessing`: the view's, fitted to all rows, or None. `kept` is which
    weights there are: "full" if the members of the ensemble hold theirs, else the precision of what answers.
    `learning`: what learning goes on from; None if no row could be held out.
    """

    view: View
    ensemble: Ensemble
    answers: OutOfFoldAnswers
    preprocessing: Any
    y: Array
    ids: Array
    n_arrived: int
    kept: str = FULL
    learning: LearningState | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: what answers and explains is made again by a copy."""
        return {name: value for name, value in vars(self).items() if name not in MADE_AGAIN}

    @property
    def documents(self) -> Any:
        """The training rows as they were given if a person can read them (texts, a frame), else None."""
        return self.view.documents

    @property
    def n_terms(self) -> int:
        """How many terms of the counted texts a person can read."""
        return 0 if self.view.encoder is None else int(self.view.encoder.readable_.sum())

    def log_proba(self, given: Any) -> tuple[Floats32, Flags]:
        """Return calibrated log-probabilities of new rows, and which rows are texts without any known term.

        Such a row gets the class frequencies.
        """
        return self.score(given)[:2]

    def score(self, given: Any) -> Scored:
        """Return the same, and which rows are texts without any known word."""
        if self.answerer is not None:
            return self.answerer.score(given)
        encoded = self.view.encode(given)
        log_p = self.ensemble.log_proba(self.terms(encoded))
        mute = self._mute(encoded)
        log_p[mute] = np.log(np.unique(self.y, return_counts=True)[1] / len(self.y))
        return Scored(log_p, mute, self._strange(encoded))

    @cached_property
    def answerer(self) -> Answerer | None:
        """What answers about rows instead of view and ensemble, if it can: quicker, and smaller."""
        from untwin.model.answering import compile_state

        return compile_state(self)

    def answerer_at(self, precision: str) -> Answerer | None:
        """Return what answers with weights of a precision; raise InputError if these weights were not saved."""
        from untwin.model.answering import PRECISIONS, USUAL, compile_state

        if precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}. Got {precision!r} instead.")
        if precision == (USUAL if self.kept == FULL else self.kept):
            return self.answerer
        if self.kept == FULL:
            return compile_state(self, precision)
        message = f"The model was saved with the precision {self.kept!r}, and has no other weights. Got {precision!r}."
        hint = "Take a model that was saved with precision='full', or fit it again."
        raise InputError(message, code="weights-gone", hint=hint)

    def to_store(self, *, texts: bool, precision: str) -> FittedState:
        """Return what is to be stored beside the part that answers, if there is one: no weights but at "full"."""
        view = self.view.to_store(texts=texts)
        if precision == FULL or self.answerer_at(precision) is None:
            return replace(self, view=view)
        return replace(self, view=view, ensemble=self.ensemble.untrained(), kept=precision)

    @cached_property
    def explainer(self) -> Explainer:
        """What explains answers: an index of similar answers, and what reads rows by their terms."""
        from untwin.model.explaining.explainer import Explainer

        return Explainer.of_state(self)

    def log_proba_of_training_rows(self, rows: Indices) -> Floats32:
        """Return what the model, which has seen them, says of training rows."""
        from untwin.model.text_reading import counted_rows

        encoded = rows_of(self.view.rows, rows)
        if self.answerer is None:
            return self.ensemble.log_proba(self.terms(encoded))
        if isinstance(self.answerer, TextAnswerer):
            return self.answerer.log_proba_of_counts(counted_rows(encoded), few=len(rows) <= FEW)[0]
        return self.answerer.log_proba(encoded)[0]

    def log_proba_of_all_rows(self) -> Iterator[Floats32]:
        """Yield out-of-fold log-probabilities, many rows at a time; the model's own of rows never held out."""
        answers = self.answers
        for block in answers.scores.blocks():
            log_p, never = answers.scores.take(block).dense(), np.flatnonzero(~answers.held[block])
            if len(never):
                log_p[never] = self.log_proba_of_training_rows(answers.rows[block][never])
            yield log_p

    def without_evidence(self, given: Any) -> Flags:
        """Tell which texts hold no known term."""
        return self._mute(self.view.encode(given))

    @cached_property
    def sure(self) -> ErrorCurve:
        """Which share of the held-out rows is answered, and which share of these wrong, by their probability."""
        return ErrorCurve.of_answers(*self.answers.confidence_and_truth)

    @cached_property
    def known(self) -> SpreadOfKnown:
        """How widely the probabilities of held-out rows are spread."""
        return SpreadOfKnown.of(self.answers.scores.take(self.answers.held).spread())

    @cached_property
    def measured_promises(self) -> MeasuredPromises:
        """What sets of classes and heights of the tree promise."""
        from untwin.model.promises import MeasuredPromises

        return MeasuredPromises.of(self.answers)

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

    def _strange(self, encoded: Any) -> Flags:
        readable = getattr(self.view.encoder, "readable_", None)
        if readable is None:
            return self._mute(encoded)
        return np.asarray(encoded @ readable.astype(np.float64) == 0)
