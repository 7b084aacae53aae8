"""The classes that a saved model may consist of, by the names they have in the file, and what each of them may hold.

A file never names code: it names an entry of this table, and an entry that is not here does not exist. Names in files
outlive modules that are renamed: change the address, never the name.

An estimator holds its constructor's parameters; if it is fitted, all attributes listed here as well, but for those with
a question mark; and what scikit-learn gives to all. Dataclasses and named tuples hold their fields. A class that a new
recipe brings along needs a line here, and `tests/model/saving/test_round_trip.py` fails without it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.base import BaseEstimator

if TYPE_CHECKING:
    from collections.abc import Collection

COMMON = frozenset({"n_features_in_", "feature_names_in_"})
# Rows that views hold anyway, what is made of the terms, what the manifest says.
LEFT_OUT = frozenset({"learnt_rows_", "_column_of", "about_", "sha256_", "_seen_in"})

# module -> class -> attributes beyond parameters (estimators only); "?": not always
_ALLOWED: dict[str, dict[str, str]] = {
    "sklearn.feature_extraction.text": {"TfidfTransformer": "idf_?"},
    "sklearn.naive_bayes": {
        "ComplementNB": "class_count_ class_log_prior_ classes_ feature_all_ feature_count_ feature_log_prob_"
    },
    "sklearn.pipeline": {"Pipeline": ""},
    "sklearn.preprocessing": {"Normalizer": "", "StandardScaler": "mean_ n_samples_seen_ scale_ var_"},
    "sklearn.svm": {"LinearSVC": "classes_ coef_ intercept_ n_iter_"},
    "untwin.classify.adaptive.choices": {"Choices": "", "Representation": "", "Trial": ""},
    "untwin.classify.adaptive.spaces": {"JoinedSpace": ""},
    "untwin.classify.adaptive.sprinkling": {
        "AdaptiveSprinkling": "_terms choices_ classes_ confusion_ confusion_after_ estimator_ plan_ space_"
    },
    "untwin.classify.batches": {"BatchLinearSVC": "classes_ coef_ intercept_"},
    "untwin.classify.centroids": {"CentroidClassifier": "centroids_ classes_"},
    "untwin.classify.experts": {"Expert": "", "Retrained": ""},
    "untwin.classify.graph.blend": {"Blend": ""},
    "untwin.classify.graph.classifier": {
        "ConfusionGraphClassifier": "_experts base_ blend_ changes_ classes_ confusion_ graph_ n_experts_ n_numbers_ "
        "retrained_ sweep_ threshold_ upper_bound_"
    },
    "untwin.classify.graph.findings": {"Change": "", "SweepRow": ""},
    "untwin.classify.graph.pairs": {"PairPanel": ""},
    "untwin.classify.graph.panels": {"ClassPanel": "", "SubgraphPanel": ""},
    "untwin.classify.knn.classifier": {
        "KNNClassifier": "_Y _all_labelled _among _grades _label_dtype _multilabel _n_arrived _recent class_prior_ "
        "classes_ cv_scores_? ids_ n_neighbors_"
    },
    "untwin.classify.knn.neighbours": {"Searchable": ""},
    "untwin.classify.latent.calibration": {"KeptRows": ""},
    "untwin.classify.latent.class_space": {"ClassSpace": ""},
    "untwin.classify.latent.class_sums": {"ClassSums": ""},
    "untwin.classify.latent.classes": {
        "LatentClassClassifier": "_kept _space _sums class_vectors_ classes_ indistinguishable_ singular_values_ "
        "temperature_"
    },
    "untwin.classify.latent.indistinguishable": {"Indistinguishable": ""},
    "untwin.classify.linear": {
        "ComplementBayes": "classes_ coef_ intercept_",
        "LinearSVM": "classes_ coef_ intercept_",
        "LogisticModel": "classes_ coef_ intercept_",
    },
    "untwin.classify.multilevel.classifier": {
        "MultiLevelClassifier": "base_ classes_ groups_ hierarchies_ judged_ retrained_ temperature_ trees_"
    },
    "untwin.classify.multilevel.descent": {"ExpertTree": ""},
    "untwin.classify.multilevel.groups": {"Branch": ""},
    "untwin.crossfit.outoffold": {"OutOfFold": ""},
    "untwin.data.blocks": {"Block": "", "NominalValues": "", "Vectors": ""},
    "untwin.data.counts": {"TextCounts": "terms_"},
    "untwin.data.discretize": {"MDLPDiscretizer": "classes_ cut_points_ has_missing_"},
    "untwin.data.encode": {"TableEncoder": "_blocks block_weights_ blocks_ columns_"},
    "untwin.data.guess": {"ColumnUse": ""},
    "untwin.data.standard": {"StandardNumbers": "has_missing_ means_ scales_"},
    "untwin.linalg.drift": {"Drift": ""},
    "untwin.linalg.svd": {"TruncatedSVD": ""},
    "untwin.model.classifier": {
        "UntwinClassifier": "_kind _noted calibration_error_ candidates_ classes_ confusion_ graph_ groups_ "
        "hierarchy_ state_ plan_ scores_ threshold_"
    },
    "untwin.model.selection.comparison": {"Candidate": "", "Share": ""},
    "untwin.model.curves": {"SimilarTerms": "", "SpaceCurves": ""},
    "untwin.model.findings.finding": {"Finding": ""},
    "untwin.model.out_of_fold": {"OutOfFoldAnswers": ""},
    "untwin.model.state": {"FittedState": ""},
    "untwin.model.neighbours": {"NeighbourSpace": ""},
    "untwin.model.ensemble": {"Team": ""},
    "untwin.calibrate.top_class": {"Trust": ""},
    "untwin.model.features.view": {"View": ""},
    "untwin.represent.alignment": {"Standard": ""},
    "untwin.represent.frequent": {"FrequentTerms": "kept_"},
    "untwin.represent.learnt": {"Learnt": ""},
    "untwin.represent.scores": {
        "ScoreSpace": "classes_ estimator_ out_of_fold_ standard_ svd_ temperature_",
    },
    "untwin.represent.sprinkle": {
        "SprinkledLSI": "_learnt _turn classes_? components_ discarded_energy_ n_updates_ plan_ singular_values_ "
        "whitening_?"
    },
    "untwin.represent.weights": {"SupervisedWeights": "classes_? contingency_ kept_? weights_"},
    "untwin.structure.graph": {"ConfusionGraph": ""},
    "untwin.structure.hierarchy": {"Hierarchy": ""},
    "untwin.structure.plan": {"SprinklingPlan": ""},
    "untwin.tables.confusion": {"Confusion": ""},
    "untwin.tables.contingency": {"Contingency": ""},
}
_HOME = {name: module for module, classes in _ALLOWED.items() for name in classes}
_LEARNT = {name: names.split() for classes in _ALLOWED.values() for name, names in classes.items()}


class Holding(NamedTuple):
    """What an instance of a class holds: all of `needed`, all or nothing of `learnt`, some of `possible`."""

    needed: frozenset[str]
    learnt: frozenset[str]
    possible: frozenset[str]

    def faults(self, names: Collection[str]) -> list[str]:
        """Return what an instance with these attributes lacks, and what it must not have."""
        held = frozenset(names)
        lacks = self.needed | (self.learnt if held & (self.learnt | self.possible) else frozenset())
        return [*sorted(lacks - held), *sorted(held - self.needed - self.learnt - self.possible)]


@cache
def class_named(name: str) -> type | None:
    """Return the class that files call so, imported when it is first asked for; None: there is none."""
    found: type | None = getattr(import_module(_HOME[name]), name) if name in _HOME else None
    return found


def is_allowed(kind: type) -> bool:
    """Tell whether a saved model may hold instances of this class (of a subclass it may not)."""
    return class_named(kind.__name__) is kind


@cache
def holding(name: str) -> Holding:
    """Return what instances of the class that files call so hold; nothing if there is no such class."""
    kind, nothing = class_named(name), frozenset[str]()
    if kind is None:
        return Holding(nothing, nothing, nothing)
    if issubclass(kind, BaseEstimator):
        optional = {attribute for attribute in _LEARNT[name] if attribute.endswith("?")}
        possible = COMMON | {attribute.removesuffix("?") for attribute in optional}
        return Holding(frozenset(kind._get_param_names()), frozenset(_LEARNT[name]) - optional, possible)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else getattr(kind, "_fields", ())
    return Holding(frozenset(names), nothing, nothing)


def state_of(thing: Any) -> dict[str, Any]:
    """Return what an instance of an allowed class holds, by name, without what is not saved."""
    if isinstance(thing, BaseEstimator):
        return {name: value for name, value in vars(thing).items() if name not in LEFT_OUT}
    return {name: getattr(thing, name) for name in sorted(holding(type(thing).__name__).needed)}


def instance(kind: type, state: dict[str, Any]) -> Any:
    """Return an instance of an allowed class that holds `state`, whose names have been checked."""
    if not issubclass(kind, BaseEstimator):
        return kind(**state)
    parameters = holding(kind.__name__).needed
    made: Any = kind(**{name: state[name] for name in parameters})
    made._validate_params()
    vars(made).update({name: value for name, value in state.items() if name not in parameters})
    if kind.__name__ == "TextCounts" and "terms_" in state:
        made._learn(state["terms_"])  # makes what is left out
    return made
