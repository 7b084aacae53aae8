"""Fit a model: make the view of the rows, compare candidates, and keep the best with its out-of-fold answers."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from untwin._compat import number_of_threads
from untwin.model.features.choose import make_view
from untwin.model.ordinal import class_order
from untwin.model.selection.sampling import shared_folds
from untwin.model.selection.select import Selection, SelectionRules, select_best
from untwin.model.state import FittedState

if TYPE_CHECKING:
    from untwin._types import Array
    from untwin.model.classifier import UntwinClassifier


def fit_state(model: UntwinClassifier, given: Any, y: Array, ids: Array) -> tuple[FittedState, Selection]:
    """Return the state fitted to rows named `ids`, and the selection that led to it."""
    deadline = inf if model.time_budget is None else monotonic() + model.time_budget
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError("y must name at least two classes. Got 1 class instead.")
    rules = SelectionRules(
        preset=model.preset,
        scoring=model.scoring,
        order=class_order(model.order, classes, model.scoring),
        n_threads=number_of_threads(model.n_jobs),
        seed=int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max)),
        deadline=deadline,
    )
    parts = shared_folds(given, codes, model.cv)
    view = make_view(given, codes, kind=model._kind, encoder=model.encoder)
    choice = select_best(view, y, parts, rules)
    known = FittedState(
        view, choice.ensemble, choice.answers, choice.prepared.preprocessing, y, ids=ids, n_arrived=len(y)
    )
    return known, choice
