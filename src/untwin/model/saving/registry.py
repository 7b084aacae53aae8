"""What a saved model may consist of: a table of kinds, each a name in the file, a class, and what it may hold.

A file never names code: it names a kind of this table, and a kind that is not here does not exist. Names in files are
names of their own, so that classes and attributes can be renamed: change the address or the attribute, never the name.

A kind holds the constructor's parameters of an estimator or the fields of a dataclass or named tuple, under their own
names; a fitted estimator also what is listed here, and what scikit-learn gives to all (`COMMON`). `classes` is the
attribute `classes_`, `space=_space` is `_space`, and a question mark says that it is not always there (a field: that it
may be None, and is left out then). A class that a new candidate brings along needs a line here, and
`tests/model/saving/test_round_trip.py` fails without it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    from collections.abc import Collection

COMMON = {"n_features_in": "n_features_in_", "feature_names_in": "feature_names_in_"}
# What is made of the terms when they are looked up, what the manifest says.
LEFT_OUT = frozenset({"_column_of", "_held_out", "about_", "sha256_", "_seen_in", "unsaved_"})


@dataclass(frozen=True)
class Kind:
    """A class that models consist of: where it is (".module:Class" of untwin's own), and what a fitted one holds."""

    address: str
    learnt: str = ""

    @cached_property
    def type(self) -> type:
        """The class, imported when it is first asked for."""
        module, _, name = self.address.partition(":")
        found: type = getattr(import_module(f"untwin{module}" if module.startswith(".") else module), name)
        return found

    @property
    def is_estimator(self) -> bool:
        """Whether it is fitted."""
        return issubclass(self.type, BaseEstimator)

    @cached_property
    def needed(self) -> frozenset[str]:
        """What each instance holds: parameters, or fields."""
        if self.is_estimator:
            return frozenset(self.type._get_param_names())  # type: ignore[attr-defined]
        if is_dataclass(self.type):
            return frozenset(field.name for field in fields(self.type)) - self.optional
        return frozenset(getattr(self.type, "_fields", ()))

    @cached_property
    def attributes(self) -> dict[str, str]:
        """The attributes of a fitted instance by their names in files."""
        listed = (entry.removesuffix("?").partition("=") for entry in self.learnt.split())
        return {name: attribute or f"{name}_" for name, _, attribute in listed}

    @cached_property
    def optional(self) -> frozenset[str]:
        """Names of what a fitted instance need not have."""
        return frozenset(entry.rstrip("?").partition("=")[0] for entry in self.learnt.split() if entry.endswith("?"))

    def faults(self, names: Collection[str]) -> list[str]:
        """Return what an instance that holds these names lacks, and what it must not have."""
        held, possible = frozenset(names), frozenset(self.attributes) | (COMMON.keys() if self.is_estimator else set())
        lacks = self.needed | (frozenset(self.attributes) - self.optional if held & possible else frozenset())
        return [*sorted(lacks - held), *sorted(held - self.needed - possible)]

    def state(self, thing: Any) -> dict[str, Any]:
        """Return what an instance holds, by names in files; what has no such name keeps its own."""
        if not self.is_estimator:
            more = {name for name in self.optional if getattr(thing, name) is not None}
            return {name: getattr(thing, name) for name in sorted(self.needed | more)}
        names = {attribute: name for name, attribute in (self.attributes | COMMON).items()}
        return {names.get(name, name): value for name, value in vars(thing).items() if name not in LEFT_OUT}

    def make(self, state: dict[str, Any]) -> Any:
        """Return an instance that holds `state`, whose names have been checked.

        The constructor of an estimator only stores its parameters, so it is not called.
        """
        if not self.is_estimator:
            return self.type(**state)
        made: Any = object.__new__(self.type)
        attributes = self.attributes | COMMON | {name: name for name in self.needed}
        vars(made).update({attributes[name]: value for name, value in state.items()})
        made._validate_params()
        return made


KINDS: dict[str, Kind] = {
    "tf-idf": Kind("sklearn.feature_extraction.text:TfidfTransformer", "idf?"),
    "complement-nb": Kind(
        "sklearn.naive_bayes:ComplementNB",
        "class_count class_log_prior classes feature_all feature_count feature_log_prob",
    ),
    "pipeline": Kind("sklearn.pipeline:Pipeline"),
    "normalizer": Kind("sklearn.preprocessing:Normalizer"),
    "standard-scaler": Kind("sklearn.preprocessing:StandardScaler", "mean n_samples_seen scale var"),
    "linear-svc": Kind("sklearn.svm:LinearSVC", "classes coef intercept n_iter"),
    "choices": Kind(".classify.adaptive.choices:Choices"),
    "representation": Kind(".classify.adaptive.choices:Representation"),
    "trial": Kind(".classify.adaptive.choices:Trial"),
    "joined-space": Kind(".classify.adaptive.spaces:JoinedSpace"),
    "adaptive-sprinkling": Kind(
        ".classify.adaptive.sprinkling:AdaptiveSprinkling",
        "terms=_terms choices classes confusion confusion_after fitted_estimator=estimator_ "
        "fitted_plan=plan_ fitted_space=space_",
    ),
    "centroid": Kind(".classify.centroids:CentroidClassifier", "centroids classes"),
    "expert": Kind(".classify.experts:Expert"),
    "blend": Kind(".classify.graph.blend:Blend"),
    "graph-classifier": Kind(
        ".classify.graph.classifier:ConfusionGraphClassifier",
        "experts=_experts fitted_base=base_ fitted_blend=blend_ changes classes confusion graph "
        "n_experts n_numbers sweep fitted_threshold=threshold_ upper_bound",
    ),
    "change": Kind(".classify.graph.findings:Change"),
    "sweep-row": Kind(".classify.graph.findings:SweepRow"),
    "pair-panel": Kind(".classify.graph.pairs:PairPanel"),
    "class-panel": Kind(".classify.graph.panels:ClassPanel"),
    "subgraph-panel": Kind(".classify.graph.panels:SubgraphPanel"),
    "knn": Kind(
        ".classify.knn.classifier:KNNClassifier",
        "Y=_Y all_labelled=_all_labelled among=_among grades=_grades label_dtype=_label_dtype "
        "multilabel=_multilabel n_arrived=_n_arrived recent=_recent class_prior classes cv_scores? ids "
        "fitted_n_neighbors=n_neighbors_",
    ),
    "searchable": Kind(".classify.knn.neighbours:Searchable"),
    "kept-rows": Kind(".classify.latent.calibration:KeptRows"),
    "class-space": Kind(".classify.latent.class_space:ClassSpace"),
    "class-sums": Kind(".classify.latent.class_sums:ClassSums"),
    "latent-class": Kind(
        ".classify.latent.classes:LatentClassClassifier",
        "kept=_kept space=_space sums=_sums class_vectors classes indistinguishable singular_values temperature",
    ),
    "indistinguishable": Kind(".classify.latent.indistinguishable:Indistinguishable"),
    "naive-bayes": Kind(".classify.linear:NaiveBayes", "classes weights intercept offsets"),
    "linear-svm": Kind(".classify.linear:LinearSVM", "classes weights intercept"),
    "resume-point": Kind(".classify.linear.resume:ResumePoint"),
    "logistic-model": Kind(".classify.linear:LogisticModel", "classes weights intercept"),
    "stacked": Kind(".classify.stack:StackedClassifier", "classes models second temperatures"),
    "multi-level": Kind(
        ".classify.multilevel.classifier:MultiLevelClassifier",
        "fitted_base=base_ classes fitted_groups=groups_ hierarchies judged temperature trees",
    ),
    "expert-tree": Kind(".classify.multilevel.descent:ExpertTree"),
    "branch": Kind(".classify.multilevel.groups:Branch"),
    "out-of-fold": Kind(".crossfit.outoffold:OutOfFold"),
    "block": Kind(".data.column_blocks:ColumnBlock"),
    "nominal-values": Kind(".data.column_blocks:NominalValues"),
    "vectors": Kind(".data.column_blocks:Vectors"),
    "text-blocks": Kind(".data.text_blocks:TextBlocks", "fitted_encoders=encoders_ columns block_of"),
    "numbers-and-intervals": Kind(".data.numbers:NumbersAndIntervals", "intervals scores"),
    "text-counts": Kind(".data.counts:TextCounts", "terms"),
    "mdlp-discretizer": Kind(".data.discretize:MDLPDiscretizer", "classes cut_points has_missing"),
    "table-encoder": Kind(
        ".data.encode:TableEncoder",
        "blocks=_blocks fitted_block_weights=block_weights_ fitted_blocks=blocks_ columns",
    ),
    "column-use": Kind(".data.guess:ColumnUse"),
    "standard-numbers": Kind(".data.standard:StandardNumbers", "has_missing means scales"),
    "drift": Kind(".linalg.drift:DriftRule"),
    "truncated-svd": Kind(".linalg.svd:TruncatedSVD"),
    "model": Kind(
        ".model.classifier:UntwinClassifier",
        "kind=_kind noted=_noted calibration_error candidates classes confusion graph groups hierarchy "
        "state plan scores threshold history?",
    ),
    "class-history": Kind(".model.history.journal:ClassHistory"),
    "candidate": Kind(".model.selection.comparison:Candidate"),
    "member": Kind(".model.selection.comparison:Member"),
    "similar-terms": Kind(".model.curves:SimilarTerms"),
    "space-curves": Kind(".model.curves:SpaceCurves"),
    "finding": Kind(".model.findings.finding:Finding"),
    "best-scores": Kind(".model.best_scores:BestScores"),
    "out-of-fold-answers": Kind(".model.out_of_fold:OutOfFoldAnswers"),
    "fitted-state": Kind(".model.state:FittedState"),
    "learning-state": Kind(".model.learning:LearningState"),
    "ensemble": Kind(".model.ensemble:Ensemble", "redirect=redirect? trained=trained?"),
    "unknown-chance": Kind(".answer.spread:UnknownChance"),
    "redirect": Kind(".answer.redirect:Redirect"),
    "top-class-calibration": Kind(".calibrate.top_class:TopClassCalibration"),
    "view": Kind(".model.features.view:View"),
    "standard": Kind(".represent.alignment:Standard"),
    "term-weights": Kind(".represent.term_weights:TermWeights", "idf"),
    "text-features": Kind(".represent.text_features:TextFeatures", "blocks weights"),
    "learnt-matrix": Kind(".represent.learnt:LearntMatrix"),
    "score-space": Kind(
        ".represent.scores:ScoreSpace",
        "classes fitted_estimator=estimator_ out_of_fold standard svd temperature",
    ),
    "sprinkled-lsi": Kind(
        ".represent.sprinkle:SprinkledLSI",
        "learnt=_learnt turn=_turn classes? components discarded_energy n_updates fitted_plan=plan_ "
        "singular_values whitening?",
    ),
    "supervised-weights": Kind(".represent.weights:SupervisedWeights", "classes? contingency kept? weights"),
    "confusion-graph": Kind(".structure.graph:ConfusionGraph"),
    "group-range": Kind(".structure.hierarchy:GroupRange"),
    "hierarchy": Kind(".structure.hierarchy:Hierarchy"),
    "sprinkling-plan": Kind(".structure.plan:SprinklingPlan"),
    "confusion": Kind(".tables.confusion:Confusion"),
    "contingency": Kind(".tables.contingency:Contingency"),
}
_NAMES = {kind.address.rpartition(":")[2]: name for name, kind in KINDS.items()}  # by class names, which differ


def name_of(thing: Any) -> str | None:
    """Return the name in files of the class of a thing; None if a model may not hold such (nor of a subclass)."""
    name = _NAMES.get(type(thing).__name__)
    return name if name is not None and KINDS[name].type is type(thing) else None
