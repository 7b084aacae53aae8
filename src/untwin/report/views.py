"""`Report`: the nine views of a fitted model as one value."""

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
from untwin.report.space import Space
from untwin.report.study import Study
from untwin.report.summary import Summary
from untwin.report.tree import Tree

if TYPE_CHECKING:
    from untwin.model.auditing import Audit
    from untwin.model.classifier import UntwinClassifier


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
    >>> list(report.to_dict())
    ['summary', 'pairs', 'matrix', 'tree', 'classes', 'documents', 'findings', 'space', 'cost']
    """

    summary: Summary
    pairs: Pairs
    matrix: Matrix
    tree: Tree
    classes: Classes
    documents: Documents
    findings: Findings
    space: Space
    cost: Cost

    @classmethod
    def of(cls, model: UntwinClassifier | Audit, *, texts: bool = True) -> Self:
        """Read all views from a model, in memory or loaded, or from an audit; without `texts` no document is quoted."""
        now, made = copy(model), {}  # a copy: another thread may teach the model meanwhile
        study = Study.of(now, texts=texts)
        kinds: tuple[Any, ...] = (Summary, Pairs, Matrix, Tree, Classes, Findings, Space, Cost)
        for done, kind in enumerate(kinds):
            report("report", done, len(kinds) + 1)
            made[kind.__name__.lower()] = kind.of(study)
        made["documents"] = Documents.of(study, made["pairs"], made["classes"])
        report("report", len(kinds) + 1, len(kinds) + 1)
        return cls(**made)

    def to_dict(self) -> dict[str, Any]:
        """Return all views, ready for JSON."""
        return {field.name: getattr(self, field.name).to_dict() for field in fields(self)}
