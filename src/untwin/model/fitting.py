"""Fit a model: make the view of the rows, compare candidates, and keep the best with its out-of-fold answers."""

from __future__ import annotations

from math import inf
from numbers import Integral
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from untwin._compat import number_of_threads
from untwin.crossfit.folds import N_FOLDS
from untwin.model.features.choose import make_view
from untwin.model.ordinal import class_order
from untwin.model.selection.sampling import shared_folds
from untwin.model.selection.select import Selection, SelectionRules, select_best
from untwin.model.state import FittedState

if TYPE_CHECKING:
    from untwin._types import Array, Indices
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.features.view import View
    from untwin.model.relearning import RowChange


def fit_state(model: UntwinClassifier, given: Any, y: Array, ids: Array) -> tuple[FittedState, Selection]:
    """Return the state fitted to rows named `ids`, and the selection that led to it."""
    rules, codes = rules_of(model, y), np.unique(y, return_inverse=True)[1]
    parts = shared_folds(given, codes, model.cv)
    view = make_view(given, codes, kind=model._kind, encoder=model.encoder)
    return _fit(view, y, parts, rules, ids=ids, n_arrived=len(y))


def fit_again(model: UntwinClassifier, change: RowChange) -> tuple[FittedState, Selection]:
    """Return the state fitted from nothing to the rows after a change, and the selection.

    Texts are counted again, if they are there. Folds given by the user hold good no longer: rows are dealt to others.
    """
    view, rules, codes = change.view, rules_of(model, change.y), np.unique(change.y, return_inverse=True)[1]
    if view.encoder is not None and view.given is not None:
        view = make_view(view.given, codes, kind=model._kind, encoder=model.encoder)
    n_folds = model.cv if isinstance(model.cv, Integral | str | None) else N_FOLDS
    parts = shared_folds(view.rows if view.given is None else view.given, codes, n_folds)
    return _fit(view, change.y, parts, rules, ids=change.ids, n_arrived=change.n_arrived)


def rules_of(model: UntwinClassifier, y: Array) -> SelectionRules:
    """Return how the candidates for rows with labels `y` are chosen; the time budget begins."""
    deadline = inf if model.time_budget is None else monotonic() + model.time_budget
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError("y must name at least two classes. Got 1 class instead.")
    return SelectionRules(
        preset=model.preset,
        scoring=model.scoring,
        order=class_order(model.order, classes, model.scoring),
        n_threads=number_of_threads(model.n_jobs),
        seed=int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max)),
        deadline=deadline,
    )


def _fit(
    view: View, y: Array, parts: Indices | None, rules: SelectionRules, **names: Any
) -> tuple[FittedState, Selection]:
    choice = select_best(view, y, parts, rules)
    preprocessing = choice.prepared.preprocessing
    known = FittedState(view, choice.ensemble, choice.answers, preprocessing, y, learning=choice.learning, **names)
    return known, choice
