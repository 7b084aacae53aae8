"""`Report`: the views of a fitted model as one value."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from untwin._progress import report
from untwin.report.classes import Classes
from untwin.report.cost import Cost
from untwin.report.documents import Documents
from untwin.report.findings import Findings
from untwin.report.matrix import Matrix
from untwin.report.pairs import Pairs
from untwin.report.promises import PromisesView
from untwin.report.space import Space
from untwin.report.study import Study
from untwin.report.summary import Summary
from untwin.report.suspects import Suspects
from untwin.report.tested import Tested
from untwin.report.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin.model.auditing import Audit
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.findings.dismissals import Dismissals


@dataclass(frozen=True)
class Report:
    """All views, most useful first; each has `frame()` and `to_dict()`.

    Examples
    --------
    >>> from untwin.model import UntwinClassifier
    >>> texts = ["my card has not arrived", "card still not here", "where is the card I ordered", "no card in my post",
    ...     "the machine ate my card", "card stuck in the machine", "machine kept the card", "machine swallowed it"]
    >>> model = UntwinClassifier(preset="fast").fit(texts, ["arrival"] * 4 + ["swallowed"] * 4)
    >>> report = Report.of(model)
    >>> report.summary.rows, report.summary.errors, report.matrix.lines
    (8, ..., ('arrival', 'swallowed'))
    >>> list(report.to_dict())[:7]
    ['summary', 'suspects', 'pairs', 'promises', 'matrix', 'tree', 'classes']
    """

    summary: Summary
    suspects: Suspects
    pairs: Pairs
    promises: PromisesView
    matrix: Matrix
    tree: Tree
    classes: Classes
    documents: Documents
    findings: Findings
    tested: Tested
    space: Space
    cost: Cost

    @classmethod
    def of(
        cls,
        model: UntwinClassifier | Audit,
        *,
        texts: bool = True,
        definitions: Mapping[Any, str] | None = None,
        dismissals: Dismissals | None = None,
    ) -> Self:
        """Read all views from a model, in memory or loaded, or from an audit.

        Parameters
        ----------
        model : UntwinClassifier or Audit
        texts : bool
            Without them no document is quoted.
        definitions : mapping from class to text, optional
            What the classes are; None: what the taxonomy of the model says.
        dismissals : Dismissals, optional
            What the owner of the labels does not want to see again.
        """
        now, made = copy(model), {}  # a copy: another thread may teach the model meanwhile
        study = Study.of(now, texts=texts, definitions=definitions, dismissals=dismissals)
        kinds: tuple[Any, ...] = (
            Summary,
            Suspects,
            Pairs,
            PromisesView,
            Matrix,
            Tree,
            Classes,
            Findings,
            Tested,
            Space,
            Cost,
        )
        for done, kind in enumerate(kinds):
            report("report", done, len(kinds) + 1)
            made[kind.__name__.lower().removesuffix("view")] = kind.of(study)
        made["documents"] = Documents.of(study, made["pairs"], made["classes"])
        report("report", len(kinds) + 1, len(kinds) + 1)
        return cls(**made)

    def to_dict(self) -> dict[str, Any]:
        """Return all views, ready for JSON."""
        return {field.name: getattr(self, field.name).to_dict() for field in fields(self)}
