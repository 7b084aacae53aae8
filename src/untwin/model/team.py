"""The winner, trained on all rows: one model, or two whose calibrated log-probabilities are averaged."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import Pipeline

from untwin._compat import rows_of
from untwin._values import positions
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.learnt_rows import LearntRows
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.model.calibration import log_probabilities, log_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from untwin.model.contest import Share
    from untwin.model.views import View

    Array = NDArray[Any]
    Floats = NDArray[np.float32]
    Indices = NDArray[np.intp]

LEARNS_ON = (KNNClassifier, LatentClassClassifier)  # new rows, new columns and new classes, without the old rows
TOUCHED_ONLY = (MultiLevelClassifier, ConfusionGraphClassifier)  # the same, with the old rows of what is touched


@dataclass(frozen=True, slots=True, eq=False)
class Team:
    """Fitted models, each with the temperature of its scores, and the temperature of their average."""

    members: tuple[Share, ...]
    temperature: float
    classes: Array

    @classmethod
    def fitted(cls, shares: Sequence[Share], temperature: float, views: Sequence[View], y: Array) -> Team:
        """Train every model on all rows of its view."""
        members = tuple(replace(share, model=clone(share.model).fit(views[share.view].rows, y)) for share in shares)
        return cls(members, temperature, np.unique(y))

    def log_proba(self, seen: Sequence[Any]) -> Floats:
        """Return calibrated log-probabilities of rows, given as each view sees them."""
        parts = [self._said(member, seen[member.view]) for member in self.members]
        if len(parts) == 1:
            return parts[0]
        return log_probabilities(sum(parts[1:], start=parts[0]) / len(parts), self.temperature)

    def refitted(self, views: Sequence[View], y: Array) -> Team:
        """Return the same models, trained anew on the rows that the views hold now."""
        return Team.fitted(self.members, self.temperature, views, y)

    def learnt_on(self, views: Sequence[View], y: Array, new: Indices) -> tuple[Team, tuple[str, ...]]:
        """Return the team after the rows `new` have come; and the names of those that had to be trained anew."""
        members, anew = [], []
        for member in self.members:
            rows = views[member.view].rows
            if _learns_on(member.model):
                model = _learnt_on(member.model, rows, y, new)
            else:
                anew.append(member.name)
                model = clone(member.model).fit(rows, y)
            members.append(replace(member, model=model))
        return Team(tuple(members), self.temperature, np.unique(y)), tuple(anew)

    def _said(self, member: Share, rows: Any) -> Floats:
        known = log_scores(member.model, rows)
        S = np.full((len(known), len(self.classes)), -np.inf)
        S[:, positions(member.model.classes_, self.classes)] = known
        return log_probabilities(S, member.temperature)


def _learns_on(model: Any) -> bool:
    """Tell whether a model can learn rows without being trained anew; weights in front of it are no hindrance."""
    if isinstance(model, Pipeline):
        front, last = model[:-1], model[-1]
        return isinstance(last, TOUCHED_ONLY) and all(isinstance(step, TfidfTransformer) for _, step in front.steps)
    return isinstance(model, LEARNS_ON + TOUCHED_ONLY)


def _learnt_on(model: Any, rows: Any, y: Array, new: Indices) -> Any:
    """Return a model that has learnt the rows `new`; the old ones are lent to those that need them.

    Weights in front are those of all rows; experts that no new row touches keep what they learnt from the old weights.
    """
    if isinstance(model, Pipeline):
        front = clone(model[:-1]).fit(rows, y)
        last = _learnt_on(model[-1], front.transform(rows), y, new)
        return Pipeline([*front.steps, (model.steps[-1][0], last)])
    taught = copy(model)
    if isinstance(model, TOUCHED_ONLY):
        taught.learnt_rows_ = LearntRows(rows_of(rows, np.arange(new[0])), y[: new[0]])
    return taught.partial_fit(rows_of(rows, new), y[new])
