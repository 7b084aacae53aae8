"""Which unlabelled rows to label next (`label-next`).

A row is unsure when its best class has less than even odds. A region is the two classes that such a row hesitates
between. Regions come by the errors to expect in them (sum of 1 - best probability); their rows take turns, the
narrowest decision first, so that the beginning of the list is worth labelling however early somebody stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin._wording import format_count
from untwin.model.findings.finding import Finding, records

if TYPE_CHECKING:
    from untwin._types import Floats, Indices
    from untwin.model.findings.evidence import Evidence

EVEN = 0.5
MOST = 1_000


def rows_to_label(evidence: Evidence) -> Finding | None:
    """Return the unlabelled rows that the model is more likely to get wrong than right, in the order to label them."""
    classes = evidence.answers.classes
    if evidence.unlabelled is None or len(classes) < 2:
        return None
    unsure = np.flatnonzero(evidence.unlabelled.max(axis=1) < EVEN)
    if unsure.size == 0:
        return None
    P = evidence.unlabelled[unsure]
    top = np.argsort(-P, axis=1, kind="stable")[:, :2]
    best, second = np.take_along_axis(P, top, axis=1).T
    _, region = np.unique(np.sort(top, axis=1), axis=0, return_inverse=True)
    errors = np.bincount(region, 1 - best).astype(np.float64)
    order = _taking_turns(region, best - second, errors)[:MOST]
    columns = {
        "row": unsure[order].tolist(),
        "class": classes[top[order, 0]].tolist(),
        "or": classes[top[order, 1]].tolist(),
        "probability": best[order].tolist(),
        "probability of other": second[order].tolist(),
        "errors in region": errors[region[order]].tolist(),
    }
    n_rows = len(evidence.unlabelled)
    return Finding(
        "label-next",
        f"{format_count(unsure.size, 'row')} of {n_rows:,} without a label would more likely be wrong than right.",
        records(columns),
        "Label from the top of the list: pairs of classes take turns, those with most errors to be expected first.",
        "info",
    )


def _taking_turns(region: Indices, margin: Floats, errors: Floats) -> Indices:
    """Return the order in which regions, most errors first, give one row after another, the smallest margin first."""
    within = np.lexsort([margin, region])
    start = np.searchsorted(region[within], region[within])
    turn = np.empty(len(region), dtype=np.intp)
    turn[within] = np.arange(len(region)) - start
    return np.lexsort([region, -errors[region], turn])
