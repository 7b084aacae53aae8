"""The fitted state of a model: views of the rows, the ensemble, its out-of-fold answers, and neighbours.

Glossary
--------
given             rows as the user hands them over: texts, a frame, a matrix
seen              the same rows as the encoder of each view turns them into numbers, one item for each view
explaining_view   the first view whose terms a person can read; its terms explain answers
preprocessing     fitted transformers applied to the explaining view before its models, or None
log_p   n x C     calibrated log-probabilities
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from untwin._compat import rows_of
from untwin.calibrate.threshold import surest_threshold
from untwin.model.neighbours import NeighbourSpace

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats32
    from untwin.classify.knn.explain import Explanation
    from untwin.model.ensemble import Ensemble
    from untwin.model.features.view import View
    from untwin.model.out_of_fold import OutOfFoldAnswers

SAMPLE = 1000  # rows of a table from which the frequency of its terms is estimated


@dataclass(frozen=True, slots=True, eq=False)
class FittedState:
    """The data from which a model answers, explains and learns incrementally.

    `y` and `ids` are the labels and names (`row_ids`) of the training rows that the views hold. `n_arrived` counts all
    rows ever learnt, removed ones included. `preprocessing`: fitted transformers applied to the explaining view before
    its models, or None. `documents`: the training rows as they were given if a person can read them (texts, a frame),
    else None.
    """

    views: tuple[View, ...]
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
        views: tuple[View, ...],
        ensemble: Ensemble,
        answers: OutOfFoldAnswers,
        y: Array,
        *,
        ids: Array,
        n_arrived: int,
        documents: Any,
    ) -> FittedState:
        """Return the state with a new neighbour space; views that neither answers nor explanations use are dropped."""
        views, ensemble = drop_unused_views(views, ensemble)
        log_p = log_proba_of_rows(ensemble, views, answers)
        space = NeighbourSpace.of_rows(log_p, ensemble.classes, answers.y)
        return cls(
            views,
            ensemble,
            answers,
            space,
            fit_preprocessing(explaining_view_of(views), y),
            y,
            ids,
            n_arrived,
            documents,
        )

    @property
    def explaining_view(self) -> View:
        """The view whose terms explain answers."""
        return explaining_view_of(self.views)

    @property
    def n_terms(self) -> int:
        """How many columns the counted texts have."""
        return sum(view.rows.shape[1] for view in self.views if view.encoder is not None)

    def log_proba(self, given: Any) -> tuple[Floats32, Flags]:
        """Return calibrated log-probabilities of new rows, and which rows are texts without any known term.

        Such a row gets the class frequencies.
        """
        seen = [view.seen(given) for view in self.views]
        log_p = self.ensemble.log_proba(seen)
        mute = self._mute(seen, len(log_p))
        log_p[mute] = np.log(np.unique(self.y, return_counts=True)[1] / len(self.y))
        return log_p, mute

    def without_evidence(self, given: Any) -> Flags:
        """Tell which texts hold no known term."""
        n_rows = len(given) if isinstance(given, list) else given.shape[0]
        return self._mute([view.seen(given) for view in self.views], n_rows)

    def threshold(self, target_error: float) -> float:
        """Return the probability from which on at most this share of the answers to held-out rows was wrong."""
        return surest_threshold(*self.answers.judged, target_error)

    def terms(self, rows: Any) -> Any:
        """Return rows of the explaining view after its preprocessing."""
        return rows if self.preprocessing is None else self.preprocessing.transform(rows)

    def explain(self, given: Any, log_p: Floats32, top: int) -> list[Explanation]:
        """Return explanations of new rows: training rows with similar answers, and the terms shared with them."""
        classes, view = self.ensemble.classes, self.explaining_view
        near = np.unique(self.space.near(log_p, classes))
        similar = csr_array(self.terms(rows_of(view.rows, self.answers.rows[near])))
        found = similar.multiply(self._term_weights()).tocsr()
        found.eliminate_zeros()
        places = csr_array(
            (np.ones(len(near)), (near, np.arange(len(near)))), shape=(len(self.answers.rows), len(near))
        )
        terms = csr_array(self.terms(view.seen(given))), places @ found
        reasons = self.space.explain(log_p, classes, terms, view.term_names(self.preprocessing), top)
        return [self._with_ids(reason) for reason in reasons]

    def _term_weights(self) -> Any:
        """Return the weight of each term in explanations of a table: 0 for a term that every row has.

        Terms of texts are weighted by tf-idf already. Terms of cells are 0 or 1, and some occur in nearly every row.
        """
        rows = self.explaining_view.rows
        if not isinstance(rows, pl.DataFrame):
            return 1.0
        some = rows_of(rows, np.arange(0, len(rows), max(1, len(rows) // SAMPLE)))
        terms = csr_array(self.terms(some))
        return 1.0 - np.bincount(terms.indices, minlength=terms.shape[1]) / terms.shape[0]

    def _with_ids(self, reason: Explanation) -> Explanation:
        names = self.ids[self.answers.rows[[near.row for near in reason.neighbours]]].tolist()
        near = zip(reason.neighbours, names, strict=True)
        return replace(reason, neighbours=tuple(one._replace(row=name) for one, name in near))

    def _mute(self, seen: list[Any], n: int) -> Flags:
        counted = [rows for view, rows in zip(self.views, seen, strict=True) if view.encoder is not None]
        if not counted:
            return np.zeros(n, dtype=np.bool_)
        return np.asarray(sum(np.diff(rows.indptr) for rows in counted) == 0)


def drop_unused_views(views: tuple[View, ...], ensemble: Ensemble) -> tuple[tuple[View, ...], Ensemble]:
    """Return the views that answers or explanations need, and the ensemble with its view numbers updated."""
    used = {member.view for member in ensemble.members}
    kept = [number for number, view in enumerate(views) if number in used or view is explaining_view_of(views)]
    members = tuple(replace(member, view=kept.index(member.view)) for member in ensemble.members)
    return tuple(views[number] for number in kept), replace(ensemble, members=members)


def explaining_view_of(views: tuple[View, ...]) -> View:
    """Return the first view whose terms a person can read, or the first view if there is none."""
    return next((view for view in views if view.telling), views[0])


def fit_preprocessing(view: View, y: Array) -> Any:
    """Return the preprocessing of a view's models, fitted to all rows, or None if it has none."""
    return make_pipeline(*map(clone, view.preprocessing)).fit(view.rows, y) if view.preprocessing else None


def log_proba_of_rows(ensemble: Ensemble, views: tuple[View, ...], answers: OutOfFoldAnswers) -> Floats32:
    """Return the out-of-fold log-probabilities of the rows; those of the ensemble for rows that were never held out."""
    log_p = answers.log_p.copy()
    never = np.flatnonzero(~answers.held)
    if len(never):
        log_p[never] = ensemble.log_proba([rows_of(view.rows, answers.rows[never]) for view in views])
    return log_p
