"""The spaces that `AdaptiveSprinkling` tries: sprinkled at a strength, of several dimensions, joined with scores.

Glossary
--------
strength    trace of the plan's kernel / (C x mean squared length of a row): how much the class of a document weighs
            against its words; so one grid serves tf-idf rows of length one and counts of any size
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import normalize

from untwin._compat import as_dense
from untwin.linalg.blocks import squared_length
from untwin.structure.hierarchy import Hierarchy
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from untwin._types import Array
    from untwin.tables.confusion import Confusion

STRENGTHS = (0.1, 0.5)
CLASS_MULTIPLES = (1, 2)  # sizes of the space to try, by the number of classes ...
SMALLEST, LARGEST = 50, 300  # ... within these
BEST = ("adaptive", "uniform", "contrast", "hierarchy")
PLANS = ("adaptive", "uniform", "contrast", "ordinal", "hierarchy")
TERMS_BESIDE_SCORES = 0.5  # length of the terms' part of a joined row; the part of the scores has length one


@dataclass(frozen=True, slots=True)
class SpaceSpec:
    """How to make a plan from given rows and a confusion.

    `amount` is a strength if `relative`, else what the user gave as maximum sprinkling length.
    """

    kind: str | SprinklingPlan
    amount: float
    relative: bool

    @property
    def name(self) -> str:
        """Name of the plan."""
        return self.kind if isinstance(self.kind, str) else self.kind.kind

    def plan(self, X: Any, confusion: Confusion) -> SprinklingPlan:
        """Return the plan; without any confusion the adaptive ones are uniform."""
        if isinstance(self.kind, SprinklingPlan):
            return self.kind.aligned(confusion.classes)
        classes = confusion.classes
        if self.kind in ("adaptive", "contrast"):
            make = SprinklingPlan.adaptive if self.kind == "adaptive" else SprinklingPlan.contrast
            plan = make(confusion, self.amount)
        elif self.kind == "hierarchy":
            plan = SprinklingPlan.from_hierarchy(Hierarchy.from_confusion(confusion))
        else:
            plan = SprinklingPlan.ordinal(classes) if self.kind == "ordinal" else SprinklingPlan.uniform(classes)
        plan = plan if plan.trace else SprinklingPlan.uniform(classes)
        if self.relative:
            return plan.scaled(self.amount * len(classes) * squared_length(X) / X.shape[0])
        return plan if self.kind in ("adaptive", "contrast") else plan.scaled(self.amount * len(classes))


def candidate_specs(plan: str | SprinklingPlan, msl: float | str) -> list[SpaceSpec]:
    """Return the spaces to try for these parameters of `AdaptiveSprinkling`."""
    if isinstance(plan, SprinklingPlan):
        return [SpaceSpec(plan, 1.0, relative=False)]
    amounts = STRENGTHS if isinstance(msl, str) else (float(msl),)
    kinds = BEST if plan == "best" else (plan,)
    return [SpaceSpec(kind, amount, relative=isinstance(msl, str)) for kind in kinds for amount in amounts]


def dimensions(n_components: int | str, n_classes: int, shape: tuple[int, int]) -> list[int]:
    """Return the numbers of dimensions to try, none larger than the number of rows or terms.

    >>> dimensions("cv", 77, (5000, 3000)), dimensions("cv", 4, (5000, 3000)), dimensions(40, 4, (5000, 30))
    ([77, 154], [50, 100], [30])
    """
    if isinstance(n_components, str):
        wanted = [min(multiple * max(n_classes, SMALLEST), LARGEST) for multiple in CLASS_MULTIPLES]
    else:
        wanted = [int(n_components)]
    return sorted({min(k, *shape) for k in wanted})


def join_spaces(terms: Any, scores: Any) -> Array:
    """Return rows of a space of terms (directions only) beside their scores."""
    beside = np.asarray(as_dense(scores))
    return np.hstack([TERMS_BESIDE_SCORES * normalize(terms), beside.astype(terms.dtype, copy=False)])


@dataclass(frozen=True, slots=True, eq=False)
class JoinedSpace:
    """A fitted space of terms and a fitted score space, side by side."""

    terms: Any
    scores: Any

    def transform(self, X: Any) -> Array:
        """Return rows in both spaces."""
        return join_spaces(self.terms.transform(X), self.scores.transform(X))
