"""What a model draws from the answers to held-out rows: confusion, tree, graph, plan, calibration, threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untwin.structure.graph import ConfusionGraph
from untwin.structure.hierarchy import Hierarchy
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from untwin.model.state import FittedState

EDGE = 0.02  # share of a class that must be taken for another to count as confused in `graph_`


def derive(known: FittedState, target_error: float | None) -> dict[str, Any]:
    """Return the attributes of `UntwinClassifier` that follow from what it knows, by name."""
    confusion = known.answers.confusion(known.y)
    hierarchy = Hierarchy.from_confusion(confusion)
    return {
        "classes_": known.ensemble.classes,
        "confusion_": confusion,
        "hierarchy_": hierarchy,
        "groups_": hierarchy.cut(),
        "graph_": ConfusionGraph.from_confusion(confusion, EDGE),
        "plan_": SprinklingPlan.adaptive(confusion, 1.0),
        "calibration_error_": known.answers.calibration_error(known.y),
        "threshold_": 0.0 if target_error is None else known.threshold(target_error),
    }
