"""What follows from the out-of-fold answers: confusion, tree, graph, plan, calibration error, threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untwin.structure.graph import ConfusionGraph
from untwin.structure.hierarchy import Hierarchy
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from untwin.model.state import FittedState

EDGE = 0.02  # share of the rows of a class that must be predicted as another one for an edge in `graph_`


def derive(known: FittedState, target_error: float) -> dict[str, Any]:
    """Return the attributes of `UntwinClassifier` that follow from its fitted state, by name."""
    confusion = known.answers.confusion
    hierarchy = Hierarchy.from_confusion(confusion)
    return {
        "classes_": known.ensemble.classes,
        "confusion_": confusion,
        "hierarchy_": hierarchy,
        "groups_": hierarchy.cut(),
        "graph_": ConfusionGraph.from_confusion(confusion, EDGE),
        "plan_": SprinklingPlan.adaptive(confusion, 1.0),
        "calibration_error_": known.answers.calibration_error,
        "threshold_": known.sure.threshold(target_error),
    }
