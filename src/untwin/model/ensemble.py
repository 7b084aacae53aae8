"""The chosen ensemble, trained on all rows: one model, or the average of several calibrated log-probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed

from untwin._values import positions
from untwin.calibrate.temperature import log_probabilities, on_log_scale
from untwin.calibrate.top_class import UNCHANGED, TopClassCalibration
from untwin.crossfit.outoffold import class_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from untwin._types import Array, Floats32
    from untwin.model.features.view import View
    from untwin.model.selection.comparison import Member


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """Fitted members, the temperature of their average, and the calibration of its top class."""

    members: tuple[Member, ...]
    temperature: float
    classes: Array
    top_class: TopClassCalibration

    @classmethod
    def fit(
        cls,
        members: Sequence[Member],
        temperature: float,
        views: Sequence[View],
        y: Array,
        *,
        top_class: TopClassCalibration = UNCHANGED,
        ready: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> Ensemble:
        """Train every member on all rows of its view, except those whose fitted model is in `ready` (by name)."""
        models = dict(ready or {})
        missing = [member for member in members if member.name not in models]
        work = (delayed(_train)(member.model, views[member.view].rows, y) for member in missing)
        trained = Parallel(n_jobs=n_jobs if len(missing) > 1 else None)(work)
        models |= zip((member.name for member in missing), trained, strict=True)
        members = tuple(replace(member, model=models[member.name]) for member in members)
        return cls(members, temperature, np.unique(y), top_class)

    def log_proba(self, seen: Sequence[Any]) -> Floats32:
        """Return calibrated log-probabilities of rows; `seen` holds the rows as each view encodes them."""
        parts = [self._member_log_proba(member, seen[member.view]) for member in self.members]
        if len(parts) > 1:
            parts = [log_probabilities(sum(parts[1:], start=parts[0]) / len(parts), self.temperature)]
        return self.top_class(parts[0])

    def refit(self, views: Sequence[View], y: Array) -> Ensemble:
        """Return the same members, trained again on the rows that the views hold now."""
        return Ensemble.fit(self.members, self.temperature, views, y, top_class=self.top_class)

    def _said(self, member: Member, rows: Any) -> Floats:
        model = member.model
        while isinstance(model, Pipeline):  # each step checks itself; the pipeline would check the steps once more
            rows, model = model[:-1].transform(rows), model[-1]
        scores, _ = class_scores(model, rows)
        S = on_log_scale(scores, probabilities=not hasattr(model, "decision_function"))
        if S.shape[1] < len(self.classes):  # a member that was not trained on a class gives it probability 0
            known, S = S, np.full((len(S), len(self.classes)), -np.inf)
            S[:, positions(model.classes_, self.classes)] = known
        return log_probabilities(S, member.temperature)


def _train(model: Any, rows: Any, y: Array) -> Any:
    return clone(model).fit(rows, y)
