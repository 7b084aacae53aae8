"""`Study`: what the views read from a fitted model, taken from it in one go, before any of them is made.

Glossary
--------
n rows that were asked about (positions 0 .. n - 1), C classes (numbers 0 .. C - 1, in the order of `classes_`)
true, said    n    numbers of the label and of the out-of-fold answer; `said` is -1 where nobody could be asked
confidence    n    probability of the answer
wrong              positions of the errors, the most confident first
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from untwin._values import positions
from untwin._wording import ELLIPSIS, cut
from untwin.calibrate.reliability import reliability_bins
from untwin.model.findings.twins import twin_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array

    from untwin._types import Array, Floats, Indices
    from untwin.calibrate.reliability import Bin
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.curves import SpaceCurves
    from untwin.model.findings import Finding
    from untwin.model.findings.evidence import Evidence
    from untwin.model.out_of_fold import OutOfFoldAnswers
    from untwin.structure.agreement import SoftLink
    from untwin.structure.hierarchy import GroupRange
    from untwin.tables.confusion import Confusion
    from untwin.tables.contingency import Contingency

LONGEST_TEXT = 2_000
LABEL_ERROR = "label-error"
MOST_LINKS = 20
FIRST_CLASSES = 3  # that name a group without terms


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """What all views read of a fitted model, taken once (`of`); the views ask nobody else.

    `curves` are None where there are none, or where they are not `measured`; `twins` are pairs of classes, `links` lead
    across the known tree, or across the groups where none is known; without `texts` no view quotes a document.
    """

    model: UntwinClassifier
    texts: bool
    measured: bool
    findings: list[Finding]
    group_range: GroupRange
    curves: SpaceCurves | None
    evidence: Evidence
    contingency: Contingency | None
    calibration: tuple[Bin, ...]
    pairs: Array
    pair_rates: csr_array
    twins: frozenset[tuple[Any, Any]]
    order: Indices
    links: list[SoftLink]

    @classmethod
    def of(cls, model: UntwinClassifier, *, texts: bool = True, measure: bool = True) -> Self:
        """Read a model; without `measure`, curves that it does not hold are not shown."""
        confusion, tree, parents = model.confusion_, model.hierarchy_, model.parents_
        measured = measure or "curves" in model.measured_
        evidence = model.evidence_
        return cls(
            model=model,
            texts=texts,
            measured=measured,
            findings=model.findings_,
            group_range=model.group_range_,
            curves=model.curves_ if measured else None,
            evidence=evidence,
            calibration=tuple(reliability_bins(*model.state_.answers.judged(model.state_.y))),
            contingency=evidence.contingency,
            pairs=confusion.pairs(),
            pair_rates=confusion.pair_rates(),
            twins=frozenset(twin_pairs(confusion)[["a", "b"]].tolist()),
            order=positions(tree.order(), model.classes_),
            links=tree.also_see(tree if parents is None else parents, top=MOST_LINKS),
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the classes as text."""
        return tuple(map(str, self.model.classes_.tolist()))

    @property
    def confusion(self) -> Confusion:
        """Out of fold, classes as in `names`."""
        return self.model.confusion_

    @property
    def answers(self) -> OutOfFoldAnswers:
        """What was said out of fold."""
        return self.model.state_.answers

    @cached_property
    def true(self) -> Indices:
        """Numbers of the labels."""
        return positions(self.evidence.y, self.model.classes_)

    @cached_property
    def said(self) -> Indices:
        """Numbers of the answers; -1 without one."""
        answered = self.answers.held & np.isin(self.answers.predicted, self.model.classes_)
        said = np.full(len(answered), -1, dtype=np.intp)
        said[answered] = positions(self.answers.predicted[answered], self.model.classes_)
        return said

    @cached_property
    def confidence(self) -> Floats:
        """Probability of the answer; 0 without one."""
        asked = np.flatnonzero(self.said >= 0)
        confidence = np.zeros(len(self.said))
        confidence[asked] = np.exp(self.answers.log_p[asked, self.said[asked]].astype(np.float64))
        return confidence

    @cached_property
    def wrong(self) -> Indices:
        """Positions of the errors, the most confident first."""
        errors = np.flatnonzero((self.said >= 0) & (self.said != self.true))
        return errors[np.argsort(-self.confidence[errors], kind="stable")]

    @cached_property
    def groups(self) -> list[Indices]:
        """Numbers of the classes of each group, in tree order."""
        return self.numbered(self.model.groups_)

    def numbered(self, groups: Sequence[tuple[Any, ...]]) -> list[Indices]:
        """Return groups of classes by their numbers."""
        return [positions(group, self.model.classes_) for group in groups]

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """Names for the groups."""
        return self.named(self.groups)

    def named(self, groups: list[Indices]) -> tuple[str, ...]:
        """Return names for groups of classes: their terms; where columns have no names, their first classes."""
        table, tree = self.contingency, self.model.hierarchy_
        if table is not None and len(groups) > 1:
            return tuple(tree.name_groups(table, [tuple(self.model.classes_[group]) for group in groups]))
        return tuple(self._listed(group) for group in groups)

    def _listed(self, group: Indices) -> str:
        names = [self.names[number] for number in group[:FIRST_CLASSES].tolist()]
        return ", ".join(names) + (", ..." if len(group) > FIRST_CLASSES else "")

    @cached_property
    def doubtful(self) -> Indices:
        """Positions of the rows that probably carry a wrong label, as they were found, the surest first."""
        found = [record["row"] for one in self.findings if one.code == LABEL_ERROR for record in one.evidence]
        position_of = {name: position for position, name in enumerate(self.ids)} if found else {}
        return np.array([position_of[name] for name in found], dtype=np.intp)

    @cached_property
    def ids(self) -> list[Any]:
        """What the rows are called."""
        return self.evidence.ids_of(np.arange(len(self.evidence.y)))

    def text(self, position: int, longest: int = LONGEST_TEXT) -> str:
        """Return what a row looked like, cut; empty where it is not known, or not to be quoted."""
        if self.evidence.texts is None or not self.texts:
            return ""
        return cut(self.evidence.texts[position], longest, ELLIPSIS)
