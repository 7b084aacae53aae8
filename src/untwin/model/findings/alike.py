"""Classes that the data cannot tell apart, whatever the classifier (`indistinguishable-classes`).

Twins are what *this* classifier confuses; here the profiles of classes (mean rows) are the same up to sampling noise,
or one is a blend of others, so that no linear method can part them (see `classify/indistinguishable.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.preprocessing import normalize

from untwin.classify.latent.class_sums import ClassSums
from untwin.classify.latent.indistinguishable import indistinguishable
from untwin.model.findings.finding import Finding, counted

if TYPE_CHECKING:
    from untwin.model.findings.evidence import Evidence


def indistinguishable_classes(evidence: Evidence) -> Finding | None:
    """Find twins, blends and classes for which the terms have too few directions."""
    found = indistinguishable(ClassSums.of_rows(normalize(evidence.X), evidence.y))
    if not found:
        return None
    return Finding(
        "indistinguishable-classes",
        f"{counted(len(found), 'set of classes looks', 'sets of classes look')} alike in the data itself.",
        tuple(
            {"kind": one.kind, "classes": list(one.classes), "weights": list(one.weights)}
            | {"singular value": one.singular_value}
            for one in found
        ),
        "More rows or another classifier will not help: merge the classes, or add a column that knows the difference.",
        "warning",
    )
