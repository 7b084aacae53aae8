"""Classes that were merged or retired after a model was trained: what it says of them goes to others, at once.

Glossary
--------
T trained classes, C classes of now
heirs   T    the class of now that gets the probability of a trained class; -1: nobody, the others share what is left
own     C    the trained class that stands for a class of now where only one can: in explanations
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from untwin._types import Array, Floats32, Indices


class Redirect(NamedTuple):
    """Where the probabilities of trained classes go.

    Examples
    --------
    >>> log_p = np.log(np.array([[0.25, 0.25, 0.5]], dtype=np.float32))
    >>> np.exp(Redirect(np.array([0, 0, 1]), np.array([0, 2]))(log_p)).round(3).tolist()
    [[0.5, 0.5]]
    >>> np.exp(Redirect(np.array([0, 1, -1]), np.array([0, 1]))(log_p)).round(3).tolist()
    [[0.5, 0.5]]
    """

    heirs: Indices
    own: Indices

    @property
    def n_classes(self) -> int:
        """How many classes there are now."""
        return len(self.own)

    def __call__(self, log_p: Array) -> Floats32:
        """Return log-probabilities of the classes of now; NaN where there are none."""
        heirs = np.asarray(self.heirs)
        found = np.full((len(log_p), self.n_classes), -np.inf, dtype=np.float32)
        first = np.zeros(self.n_classes, dtype=np.bool_)
        for trained in np.flatnonzero(heirs >= 0).tolist():  # classes, each with all rows at once
            heir = int(heirs[trained])
            column = log_p[:, trained]
            with np.errstate(invalid="ignore"):
                found[:, heir] = np.logaddexp(found[:, heir], column) if first[heir] else column
            first[heir] = True
        return found if (heirs >= 0).all() else _shared(found)

    def after(self, earlier: Redirect | None) -> Redirect:
        """Return both in one: `earlier` leads to the classes that this one knows as trained."""
        if earlier is None:
            return self
        heirs = np.append(self.heirs, -1)[np.asarray(earlier.heirs)]  # the last one is for -1
        return Redirect(heirs, np.asarray(earlier.own)[self.own])


def _shared(log_p: Floats32) -> Floats32:
    """Return log-probabilities that add up to one again; the same for all classes where nothing is left."""
    most = log_p.max(axis=1, keepdims=True)
    lost = most[:, 0] == -np.inf
    log_p[lost], most[lost] = 0.0, 0.0
    behind = log_p - most
    shared: Floats32 = behind - np.log(np.exp(behind).sum(axis=1, keepdims=True))
    return shared
