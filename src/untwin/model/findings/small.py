"""Classes with so few rows that neither predictions nor scores of them are reliable (`tiny-class`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin._wording import format_count
from untwin.model.findings.finding import Finding

if TYPE_CHECKING:
    from untwin.model.findings.evidence import Evidence

FEW = 10  # the 95 % interval of a share of ten rows is half as wide as all that is possible


def tiny_classes(evidence: Evidence) -> Finding | None:
    """Return classes with fewer than ten training rows, the smallest first."""
    answers = evidence.answers
    sizes = answers.sizes
    tiny = np.flatnonzero(sizes < FEW)
    tiny = tiny[np.argsort(sizes[tiny], kind="stable")]
    if tiny.size == 0:
        return None
    judged = np.bincount(answers.true, answers.held, minlength=len(sizes)) > 0
    recall = answers.confusion.recall
    columns = answers.classes[tiny].tolist(), sizes[tiny].tolist(), recall[tiny].tolist(), judged[tiny].tolist()
    return Finding(
        "tiny-class",
        f"{format_count(tiny.size, 'class has', 'classes have')} fewer than {FEW} rows.",
        tuple(
            {"class": name, "rows": size, "recall": share if known else None}
            for name, size, share, known in zip(*columns, strict=True)
        ),
        "Add rows, merge such a class with its nearest kin, or drop it: what is said about it is mostly chance.",
        "warning",
    )
