"""The winner, trained on all rows: one model, or two whose calibrated log-probabilities are averaged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from untwin._values import positions
from untwin.model.calibration import log_probabilities, log_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from untwin.model.contest import Share
    from untwin.model.view import View

    Array = NDArray[Any]
    Floats = NDArray[np.float32]


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

    def _said(self, member: Share, rows: Any) -> Floats:
        known = log_scores(member.model, rows)
        S = np.full((len(known), len(self.classes)), -np.inf)
        S[:, positions(member.model.classes_, self.classes)] = known
        return log_probabilities(S, member.temperature)
