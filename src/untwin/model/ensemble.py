"""The chosen ensemble, trained on all rows: one model, or the average of several calibrated log-probabilities."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from untwin._values import positions
from untwin.answer.probabilities import log_probabilities
from untwin.calibrate.top_class import UNCHANGED, TopClassCalibration
from untwin.classify.stack import StackedClassifier
from untwin.crossfit.outoffold import class_scores
from untwin.crossfit.together import log_shares

if TYPE_CHECKING:
    from untwin._types import Array, Floats32
    from untwin.answer.redirect import Redirect
    from untwin.model.selection.comparison import Member


@dataclass(frozen=True, slots=True, eq=False)
class Ensemble:
    """Fitted members, the temperature of their average, and the calibration of its top class.

    `trained` are the classes of the members, `redirect` says where these lead to, where classes were merged, renamed or
    retired since; None: all classes are as they were.
    """

    members: tuple[Member, ...]
    temperature: float
    classes: Array
    top_class: TopClassCalibration = UNCHANGED
    trained: Array | None = None
    redirect: Redirect | None = None

    @property
    def trained_classes(self) -> Array:
        """The classes that the members know."""
        return self.classes if self.trained is None else self.trained

    def log_proba(self, rows: Any) -> Floats32:
        """Return calibrated log-probabilities of prepared rows."""
        parts = [self._member_log_proba(member, rows) for member in self.members]
        if len(parts) > 1:
            parts = [log_probabilities(sum(parts[1:], start=parts[0]) / len(parts), self.temperature)]
        log_p = self.top_class(parts[0])
        return log_p if self.redirect is None else self.redirect(log_p)

    def untrained(self) -> Ensemble:
        """Return the same members without what their training has found, but for the second stage of a stack."""
        return replace(self, members=tuple(replace(one, model=_untrained(one.model)) for one in self.members))

    def _member_log_proba(self, member: Member, rows: Any) -> Floats32:
        model = member.model
        scores: Any = class_scores(model, rows)[0]
        S = scores if hasattr(model, "decision_function") else log_shares(scores)
        classes = self.trained_classes
        if S.shape[1] < len(classes):  # a member that was not trained on a class gives it probability 0
            known, S = S, np.full((len(S), len(classes)), -np.inf, dtype=np.float32)
            S[:, positions(model.classes_, classes)] = known
        return log_probabilities(S, member.temperature)


def _untrained(model: Any) -> Any:
    if not isinstance(model, StackedClassifier):
        return clone(model)
    second = copy(model)
    second.models_ = []
    return second
