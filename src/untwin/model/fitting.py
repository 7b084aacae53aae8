"""Fit a model: choose views of the rows, compare candidates, and keep the best with its out-of-fold answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from untwin.model.features.choose import choose_views
from untwin.model.ordinal import class_order
from untwin.model.selection.sampling import shared_folds, workers
from untwin.model.selection.select import Selection, SelectionRules, select_best
from untwin.model.selection.specs import DataProfile, candidate_specs
from untwin.model.selection.strength import choose_strength
from untwin.model.state import FittedState

if TYPE_CHECKING:
    from untwin._types import Array
    from untwin.model.classifier import UntwinClassifier


def fit_state(model: UntwinClassifier, given: Any, y: Array, ids: Array) -> tuple[FittedState, Selection]:
    """Return the state fitted to rows named `ids`, and the selection that led to it."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError("y must name at least two classes. Got 1 class instead.")
    order = class_order(model.order, classes, model.scoring)
    n_jobs = workers(model.n_jobs, len(y))
    seed = int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
    parts = shared_folds(given, codes, model.cv)
    wanted = {"kind": model._kind, "encoder": model.encoder, "preset": model.preset}
    views = choose_views(given, codes, parts, **wanted, n_jobs=n_jobs, seed=seed)
    grades = None if order is None else tuple(np.asarray(model.order).tolist())  # including classes without a row yet
    now = DataProfile.of(views, codes, preset=model.preset, order=grades, random_state=seed)
    now = choose_strength(now, views[0], codes, parts, n_jobs)
    choice = select_best(candidate_specs(now), views, y, parts, SelectionRules(model.scoring, order, n_jobs, seed))
    known = FittedState.assemble(
        views,
        choice.ensemble,
        choice.answers,
        y,
        ids=ids,
        n_arrived=len(y),
        documents=None if model._kind == "matrix" else given,
    )
    return known, choice
