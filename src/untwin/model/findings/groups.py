"""Names for groups of classes that are confused alike (`group-names`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwin._wording import format_count
from untwin.model.findings.finding import Finding

if TYPE_CHECKING:
    from untwin.model.findings.evidence import Evidence


def group_names(evidence: Evidence) -> Finding | None:
    """Return a name for each group of two classes or more; None without errors or terms."""
    confusion, table = evidence.answers.confusion, evidence.contingency
    if table is None or confusion.n_classes < 3 or not len(confusion.pairs()):
        return None
    groups = [group for group in evidence.hierarchy.cut() if 1 < len(group) < confusion.n_classes]
    if not groups:
        return None
    names = evidence.hierarchy.name_groups(table, groups)
    return Finding(
        "group-names",
        f"The classes fall into {format_count(len(groups), 'group', 'groups')} of two or more that are confused alike.",
        tuple({"name": name, "classes": list(group)} for name, group in zip(names, groups, strict=True)),
        "Use them as the upper level of a tree of classes; names are the terms that set a group apart, so edit them.",
        "info",
    )
