"""`Study`: what the views read from a fitted model, taken from it in one go, before any of them is made.

Glossary
--------
position    of a row among those that were asked about, as in `answers` (`untwin.model.out_of_fold`)
number      of a class, in the order of `classes_`
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from untwin._values import positions
from untwin._wording import ELLIPSIS, cut
from untwin.calibrate.reliability import reliability_bins
from untwin.model.chance import verdict
from untwin.model.explaining.training_rows import EvidenceInRows
from untwin.model.findings.dismissals import Dismissals
from untwin.model.findings.groups import confused_groups, name_groups

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scipy.sparse import csr_array

    from untwin._types import Array, Indices
    from untwin.calibrate.reliability import Bin
    from untwin.model.auditing import Audit
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.curves import SpaceCurves
    from untwin.model.findings import Finding
    from untwin.model.findings.dismissals import Dismissal
    from untwin.model.findings.evidence import Evidence
    from untwin.model.out_of_fold import OutOfFoldAnswers
    from untwin.structure.agreement import SoftLink
    from untwin.structure.hierarchy import GroupRange
    from untwin.tables.confusion import Confusion
    from untwin.tables.contingency import Contingency

LONGEST_TEXT = 2_000
MOST_LINKS = 20


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """What all views read of a fitted model or an audit, taken once (`of`); the views ask nobody else.

    `findings` are without those that were `dismissed`; `returned` are dismissals that do not hold any more.
    `definitions` say what a class is, where that is written down.
    `curves` are None where there are none, or where they are not `measured`: only the preset "best" measures them by
    itself. `wrong` are positions of errors, the most confident first; `class_measures` are support, precision, recall
    and F1 of each class. `guess` says if all answers could be guesses; `links` lead across the known tree, or across
    the groups where none is known; without `texts` no view quotes a document.
    """

    model: UntwinClassifier | Audit
    texts: bool
    measured: bool
    n_rows: int
    findings: list[Finding]
    dismissed: tuple[Dismissal, ...]
    returned: tuple[Dismissal, ...]
    definitions: Mapping[Any, str]
    group_range: GroupRange
    curves: SpaceCurves | None
    guess: str
    evidence: Evidence
    wrong: Indices
    contingency: Contingency | None
    calibration: tuple[Bin, ...]
    pairs: Array
    pair_rates: csr_array
    class_measures: tuple[Array, Array, Array, Array]
    order: Indices
    links: list[SoftLink]

    @classmethod
    def of(
        cls,
        model: UntwinClassifier | Audit,
        *,
        texts: bool = True,
        definitions: Mapping[Any, str] | None = None,
        dismissals: Dismissals | None = None,
    ) -> Self:
        """Read a model, which measures what it has not measured yet."""
        confusion, tree, parents = model.confusion_, model.hierarchy_, model.parents_
        measured = "curves" in model.measure().measured_
        evidence = model.evidence_
        judged = evidence.answers.confidence_and_truth
        sifted = (dismissals or Dismissals.nothing()).sift(model.findings_)
        return cls(
            model=model,
            texts=texts,
            measured=measured,
            n_rows=len(model.ids_),
            findings=sifted.findings,
            dismissed=sifted.dismissed,
            returned=sifted.returned,
            definitions=getattr(model, "definitions_", {}) if definitions is None else definitions,
            group_range=model.group_range_,
            curves=model.curves_ if measured else None,
            guess=verdict(model.scores_),
            evidence=evidence,
            wrong=evidence.answers.wrong,
            calibration=() if model.calibration_error_ is None else tuple(reliability_bins(*judged)),
            contingency=evidence.contingency,
            pairs=confusion.pairs(),
            pair_rates=confusion.pair_rates(),
            class_measures=(confusion.support, confusion.precision, confusion.recall, confusion.f1),
            order=positions(tree.order(), model.classes_),
            links=tree.also_see(tree if parents is None else parents, top=MOST_LINKS),
        )

    @cached_property
    def training_rows(self) -> EvidenceInRows | None:
        """What speaks in a training row for one class against another; None where answers were given, not made."""
        known = getattr(self.model, "state_", None)
        return None if known is None else EvidenceInRows(known, quoted=self.texts)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the classes as text."""
        return tuple(map(str, self.model.classes_.tolist()))

    @property
    def given(self) -> bool:
        """Whether the answers were given by somebody else: nothing was tried and nothing trained."""
        return not self.model.candidates_

    @property
    def confusion(self) -> Confusion:
        """Out of fold, classes as in `names`."""
        return self.model.confusion_

    @property
    def answers(self) -> OutOfFoldAnswers:
        """What was said out of fold."""
        return self.evidence.answers

    @cached_property
    def groups(self) -> list[Indices]:
        """Numbers of the classes of each group, in tree order; classes that are hardly confused stand alone."""
        return self.numbered(confused_groups(self.model.hierarchy_, self.confusion))

    def numbered(self, groups: Sequence[tuple[Any, ...]]) -> list[Indices]:
        """Return groups of classes by their numbers."""
        return [positions(group, self.model.classes_) for group in groups]

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """Names for the groups."""
        return self.named(self.groups)

    def named(self, groups: list[Indices]) -> tuple[str, ...]:
        """Return names for groups of classes."""
        return tuple(name_groups(self.evidence, [self.model.classes_[group].tolist() for group in groups]))

    @cached_property
    def column_of(self) -> dict[Any, int]:
        """The column of each term."""
        return {} if self.evidence.terms is None else {term: n for n, term in enumerate(self.evidence.terms.tolist())}

    def definition(self, name: Any) -> str:
        """Return what a class is; empty where that is not written down."""
        return cut(str(self.definitions.get(name, "")), LONGEST_TEXT, ELLIPSIS)

    @cached_property
    def doubtful(self) -> Indices:
        """Positions of the rows that probably carry a wrong label, as they were found, the surest first."""
        found = [record["row"] for record in self.found("label-error")]
        position_of = {name: position for position, name in enumerate(self.ids)} if found else {}
        return np.array([position_of[name] for name in found], dtype=np.intp)

    @cached_property
    def twins(self) -> frozenset[tuple[Any, Any]]:
        """Pairs of classes that are twins."""
        return frozenset((record["a"], record["b"]) for record in self.found("twins"))

    def found(self, code: str) -> tuple[dict[str, Any], ...]:
        """Return the records of a finding; none where there was nothing to find."""
        return next((one.evidence for one in self.findings if one.code == code), ())

    @cached_property
    def ids(self) -> list[Any]:
        """What the rows are called."""
        named: list[Any] = np.asarray(self.evidence.ids).tolist()
        return named

    def text(self, position: int, longest: int = LONGEST_TEXT) -> str:
        """Return what a row looked like, cut; empty where it is not known, or not to be quoted."""
        if self.evidence.texts is None or not self.texts:
            return ""
        return cut(self.evidence.texts[position], longest, ELLIPSIS)
