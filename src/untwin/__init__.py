"""untwin tells near-twin classes apart.

Everything public is importable from here and loaded on first use, so that ``import untwin`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from untwin.classify.adaptive.sprinkling import AdaptiveSprinkling as AdaptiveSprinkling
    from untwin.classify.centroids import CentroidClassifier as CentroidClassifier
    from untwin.classify.graph.classifier import ConfusionGraphClassifier as ConfusionGraphClassifier
    from untwin.classify.knn.classifier import KNNClassifier as KNNClassifier
    from untwin.classify.latent.classes import LatentClassClassifier as LatentClassClassifier
    from untwin.classify.latent.instances import LatentInstanceClassifier as LatentInstanceClassifier
    from untwin.classify.linear import LinearSVM as LinearSVM
    from untwin.classify.multilevel.classifier import MultiLevelClassifier as MultiLevelClassifier
    from untwin.crossfit import OutOfFold as OutOfFold
    from untwin.crossfit import out_of_fold as out_of_fold
    from untwin.crossfit import out_of_fold_confusion as out_of_fold_confusion
    from untwin.data.counts import TextCounts as TextCounts
    from untwin.data.discretize import MDLPDiscretizer as MDLPDiscretizer
    from untwin.data.encode import TableEncoder as TableEncoder
    from untwin.export.model import AnswerModel as AnswerModel
    from untwin.model.auditing import Audit as Audit
    from untwin.model.auditing import audit as audit
    from untwin.model.briefs import Brief as Brief
    from untwin.model.briefs import brief as brief
    from untwin.model.classifier import UntwinClassifier as UntwinClassifier
    from untwin.model.comparing import AnswerComparison as AnswerComparison
    from untwin.model.comparing import GivenAnswers as GivenAnswers
    from untwin.model.comparing import compare_answers as compare_answers
    from untwin.report.page import write_report as write_report
    from untwin.represent.scores import ScoreSpace as ScoreSpace
    from untwin.represent.semidiscrete import SemiDiscreteLSI as SemiDiscreteLSI
    from untwin.represent.similarity import category_similarity as category_similarity
    from untwin.represent.sprinkle import SprinkledLSI as SprinkledLSI
    from untwin.represent.weights import SupervisedWeights as SupervisedWeights
    from untwin.structure.graph import ConfusionGraph as ConfusionGraph
    from untwin.structure.hierarchy import Hierarchy as Hierarchy
    from untwin.structure.plan import SprinklingPlan as SprinklingPlan
    from untwin.tables.annotations import Annotations as Annotations
    from untwin.tables.confusion import Confusion as Confusion
    from untwin.tables.contingency import Contingency as Contingency

__version__ = "0.1.0"

_HOME = {
    "AdaptiveSprinkling": "untwin.classify.adaptive.sprinkling",
    "Annotations": "untwin.tables.annotations",
    "AnswerComparison": "untwin.model.comparing",
    "AnswerModel": "untwin.export.model",
    "Audit": "untwin.model.auditing",
    "Brief": "untwin.model.briefs",
    "CentroidClassifier": "untwin.classify.centroids",
    "Confusion": "untwin.tables.confusion",
    "ConfusionGraph": "untwin.structure.graph",
    "ConfusionGraphClassifier": "untwin.classify.graph.classifier",
    "Contingency": "untwin.tables.contingency",
    "GivenAnswers": "untwin.model.comparing",
    "Hierarchy": "untwin.structure.hierarchy",
    "KNNClassifier": "untwin.classify.knn.classifier",
    "LatentClassClassifier": "untwin.classify.latent.classes",
    "LatentInstanceClassifier": "untwin.classify.latent.instances",
    "LinearSVM": "untwin.classify.linear",
    "MDLPDiscretizer": "untwin.data.discretize",
    "MultiLevelClassifier": "untwin.classify.multilevel.classifier",
    "OutOfFold": "untwin.crossfit",
    "ScoreSpace": "untwin.represent.scores",
    "SemiDiscreteLSI": "untwin.represent.semidiscrete",
    "SprinkledLSI": "untwin.represent.sprinkle",
    "SprinklingPlan": "untwin.structure.plan",
    "SupervisedWeights": "untwin.represent.weights",
    "TableEncoder": "untwin.data.encode",
    "TextCounts": "untwin.data.counts",
    "UntwinClassifier": "untwin.model.classifier",
    "audit": "untwin.model.auditing",
    "brief": "untwin.model.briefs",
    "category_similarity": "untwin.represent.similarity",
    "compare_answers": "untwin.model.comparing",
    "out_of_fold": "untwin.crossfit",
    "out_of_fold_confusion": "untwin.crossfit",
    "write_report": "untwin.report.page",
}

__all__ = [
    "AdaptiveSprinkling",
    "Annotations",
    "AnswerComparison",
    "AnswerModel",
    "Audit",
    "Brief",
    "CentroidClassifier",
    "Confusion",
    "ConfusionGraph",
    "ConfusionGraphClassifier",
    "Contingency",
    "GivenAnswers",
    "Hierarchy",
    "KNNClassifier",
    "LatentClassClassifier",
    "LatentInstanceClassifier",
    "LinearSVM",
    "MDLPDiscretizer",
    "MultiLevelClassifier",
    "OutOfFold",
    "ScoreSpace",
    "SemiDiscreteLSI",
    "SprinkledLSI",
    "SprinklingPlan",
    "SupervisedWeights",
    "TableEncoder",
    "TextCounts",
    "UntwinClassifier",
    "__version__",
    "audit",
    "brief",
    "category_similarity",
    "compare_answers",
    "out_of_fold",
    "out_of_fold_confusion",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the room it lives in."""
    if name not in _HOME:
        raise AttributeError(f"module 'untwin' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
