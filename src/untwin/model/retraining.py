"""Update an ensemble with more rows: members that can learn incrementally do; the others are trained again."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import Pipeline

from untwin._compat import rows_of
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.learnt_rows import LearntRows
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.represent.frequent import FrequentTerms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Indices
    from untwin.model.ensemble import Ensemble
    from untwin.model.features.view import View

LEARNS_ON = (KNNClassifier, LatentClassClassifier)  # new rows, new columns and new classes, without the old rows
TOUCHED_ONLY = (MultiLevelClassifier, ConfusionGraphClassifier)  # the same, with the old rows of what is touched
WEIGHTS = (FrequentTerms, TfidfTransformer)  # preprocessing they may have: fast to fit again


def retrain(ensemble: Ensemble, views: Sequence[View], y: Array, new: Indices) -> tuple[Ensemble, tuple[str, ...]]:
    """Return the ensemble after it has learnt the rows `new`, and the names of members trained again on all rows."""
    members, anew = [], []
    for member in ensemble.members:
        rows = views[member.view].rows
        if _can_learn_rows(member.model):
            model = _learn_rows(member.model, rows, y, new)
        else:
            anew.append(member.name)
            model = clone(member.model).fit(rows, y)
        members.append(replace(member, model=model))
    return replace(ensemble, members=tuple(members), classes=np.unique(y)), tuple(anew)


def _can_learn_rows(model: Any) -> bool:
    """Tell whether a model can learn new rows incrementally; term weights may be its preprocessing."""
    if isinstance(model, Pipeline):
        preprocessing, last = model[:-1], model[-1]
        return isinstance(last, TOUCHED_ONLY) and all(isinstance(step, WEIGHTS) for _, step in preprocessing.steps)
    return isinstance(model, LEARNS_ON + TOUCHED_ONLY)


def _learn_rows(model: Any, rows: Any, y: Array, new: Indices) -> Any:
    """Return a copy of the model that has learnt the rows `new`; models that need the old rows get them too.

    Term weights are fitted again on all rows. Experts that no new row concerns stay as they are, trained on the old
    weights.
    """
    if isinstance(model, Pipeline):
        preprocessing = clone(model[:-1]).fit(rows, y)
        last = _learn_rows(model[-1], preprocessing.transform(rows), y, new)
        return Pipeline([*preprocessing.steps, (model.steps[-1][0], last)])
    taught = copy(model)
    if isinstance(model, TOUCHED_ONLY):
        taught.learnt_rows_ = LearntRows(rows_of(rows, np.arange(new[0])), y[: new[0]])
    return taught.partial_fit(rows_of(rows, new), y[new])
