"""All kinds of findings, by code, and the function that computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwin._progress import report
from untwin.model.findings.alike import indistinguishable_classes
from untwin.model.findings.finding import SEVERITIES
from untwin.model.findings.groups import group_names
from untwin.model.findings.label_errors import label_errors
from untwin.model.findings.rows_twice import conflicting_rows, leaks
from untwin.model.findings.small import tiny_classes
from untwin.model.findings.split_class import split_classes
from untwin.model.findings.twins import soft_links, twins
from untwin.model.findings.unsure import rows_to_label

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from untwin.model.findings.evidence import Evidence
    from untwin.model.findings.finding import Finding

KINDS: dict[str, Callable[[Evidence], Finding | None]] = {
    "split-leak": leaks,
    "label-error": label_errors,
    "conflicting-text": conflicting_rows,
    "twins": twins,
    "indistinguishable-classes": indistinguishable_classes,
    "tiny-class": tiny_classes,
    "split-class": split_classes,
    "also-see": soft_links,
    "group-names": group_names,
    "label-next": rows_to_label,
}


def found(evidence: Evidence, codes: Collection[str] = tuple(KINDS)) -> list[Finding]:
    """Return all findings, or those with some codes, the most serious first, at most one of a kind.

    >>> import numpy as np
    >>> from untwin.model.findings.evidence import Evidence
    >>> from untwin.model.out_of_fold import OutOfFoldAnswers
    >>> y, rows = np.repeat([0, 1], [20, 4]), np.arange(24)
    >>> log_p = np.where(np.eye(2)[y] > 0, np.log(0.99), np.log(0.01))
    >>> answers = OutOfFoldAnswers.of(np.array(["cat", "dog"]), rows, true=y, said=y, log_p=log_p, folds=rows % 2)
    >>> found(Evidence(answers=answers, X=np.eye(2)[y]))
    [Finding(warning, tiny-class: 1 class has fewer than 10 rows.)]
    """
    findings = []
    for number, look_for in enumerate(KINDS[code] for code in codes):
        report("findings", number, len(codes))
        if (finding := look_for(evidence)) is not None:
            findings.append(finding)
    report("findings", len(codes), len(codes))
    return sorted(findings, key=lambda finding: -SEVERITIES.index(finding.severity))
