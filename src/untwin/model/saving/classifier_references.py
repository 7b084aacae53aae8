"""What must agree between a classifier and those that it is made of: classes, columns, rows, and trees that are trees.

Whoever adds a classifier that is made of others adds a rule here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.model.saving.agreement import require_classifier, require_named, require_parts, same
from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _require_experts(experts: Iterable[Any], n_columns: int, n_classes: int) -> None:
    for expert in experts:
        inside = expert.terms.max(initial=-1) < n_columns and expert.classes.max(initial=-1) < n_classes
        require(bool(inside), "An expert must be of columns and classes that there are")


def _check_expert(expert: Any) -> None:
    """Refuse an expert that has neither weights nor a model, or both."""
    if len(expert.classes) < 2:
        return
    linear, weighed = expert.coef is not None, expert.intercept is not None
    require(linear is weighed and linear is (expert.model is None), "An expert must have weights or a model")
    if expert.model is not None:
        require_classifier(expert.model, expert.classes, len(expert.terms), "The model of an expert")
        require(same(expert.model.classes_, expert.classes), "The model of an expert must be of its classes")


def _check_tree(tree: Any) -> None:
    """Refuse what is no tree: each branch but the root is below one child, which has the classes of the branch."""
    reached = [0] * len(tree.branches)
    root = tree.branches[0] if tree.branches else None
    require(root is not None and np.array_equal(root.classes, np.arange(len(root.classes))), "A tree must have a root")
    for number, (branch, expert) in enumerate(zip(tree.branches, tree.experts, strict=True)):
        sizes = np.bincount(branch.child, minlength=len(branch.below))
        require(bool((sizes > 0).all()), "Each child of a branch must have a class")
        require(bool(((branch.below < 0) == (sizes == 1)).all()), "A branch must lead on where classes are left")
        require(np.array_equal(expert.classes, np.arange(len(sizes))), "A branch must have an expert of its children")
        for child in np.flatnonzero(branch.below >= 0).tolist():
            below = int(branch.below[child])
            require(number < below < len(reached), "A branch must lead to later branches only")
            reached[below] += 1
            inner = branch.classes[branch.child == child]
            require(np.array_equal(tree.branches[below].classes, inner), "A branch must have the classes of its child")
    require(reached[1:] == [1] * (len(reached) - 1), "Each branch must be reached once")


def _check_multi_level(model: Any) -> None:
    trees: Any = getattr(model, "trees_", None)
    if trees is None:
        return
    n_classes = len(model.classes_)
    require_parts(trees, "Trees of levels")
    require(len(trees) > 0, "A model of levels must have a tree")
    for tree in trees:
        require(len(tree.branches[0].classes) == n_classes, "A tree must have all classes")
        _require_experts((each for each in tree.experts if len(each.classes) > 1), model.n_features_in_, n_classes)
    n_groups = int(trees[0].groups.max(initial=-1)) + 1
    require(len(model.groups_) == n_groups, "Groups must be those of the first tree")
    require_classifier(model.base_, model.classes_, model.n_features_in_, "The base of levels")
    judged = model.judged_
    require(judged is None or judged[0].shape == judged[1].shape == (len(judged[0]),), "Judged rows must be pairs")


def _check_graph_classifier(model: Any) -> None:
    panel: Any = getattr(model, "_experts", None)
    if panel is None:
        return
    n_classes, kind = len(model.classes_), type(panel).__name__
    require(same(model.graph_.classes, model.classes_), "The graph must be of the classes of its classifier")
    require_classifier(model.base_, model.classes_, model.n_features_in_, "The base of a graph")
    require(same(model.base_.classes_, model.classes_), "The base of a graph must be of all classes")
    _require_experts(panel.experts, model.n_features_in_, n_classes)
    pairs = kind == "PairPanel"
    require(pairs is (model.approach != "one-vs-rest"), "Experts must be those of the approach")
    if pairs:
        fits = panel.number.shape == (n_classes, n_classes) and len(panel.experts) <= max(panel.number.nnz, 1)
        require(fits, "Pairs must be those of the classes")
        require(panel.rule in ("max-wins", "verify"), "The rule for pairs must be known")
    else:
        require(len(panel.experts) == n_classes, "Each class must have its expert")
    if kind != "SubgraphPanel":
        require(all(len(expert.classes) <= 2 for expert in panel.experts), "An expert must decide between two")


def _check_knn(model: Any) -> None:
    among: Any = getattr(model, "_among", None)
    if among is None:
        return
    parts = [part for part in (among, model._recent) if part is not None]
    rows = sum(part.rows.shape[0] for part in parts)
    require(rows == len(model.ids_) == model._Y.shape[0], "Neighbours must have one id and one row of classes each")
    require(all(part.rows.shape[1] == model.n_features_in_ for part in parts), "Neighbours must have the columns of X")
    require(all(part.metric == model.metric for part in parts), "Neighbours must be measured by the metric")
    require(bool(np.diff(model._Y.indptr).all()) or model._multilabel, "Neighbours must have a class")
    require(model._label_dtype.kind in "biufUO", "Labels must be numbers or texts")


def _check_searchable(among: Any) -> None:
    """Refuse parts of one table that do not make it up."""
    n, m = among.rows.shape
    packed = [part is not None for part in (among.common, among.sparse, among.rare)]
    require(len(set(packed)) == 1 and n > 0, "Rows to search must be dense or packed")
    if packed[0]:
        whole = np.sort(np.concatenate([among.common, among.rare]))
        require(np.array_equal(whole, np.arange(m)), "Each column must be common or rare")
        require(not isinstance(among.rows, np.ndarray), "Packed rows must be packed")
    else:
        require(isinstance(among.rows, np.ndarray) and among.dense.shape == (n, m), "Dense rows must be dense")


def _check_adaptive(model: Any) -> None:
    if hasattr(model, "estimator_"):
        require_classifier(model.estimator_, model.classes_, None, "What answers in a space")
        require(same(model.estimator_.classes_, model.classes_), "What answers in a space must know all classes")
        require(model.space_ is None or hasattr(model.space_, "transform"), "A space must transform rows")


def _check_latent_class(model: Any) -> None:
    if not hasattr(model, "_space"):
        return
    m, classes = model.n_features_in_, model.classes_
    require(same(model._sums.classes, classes), "Sums must be of the classes of the model")
    require(model._space.terms.shape == (m, len(classes)), "A space of classes must be of terms and classes")
    require(model._kept.X.shape[1] == model._sums.sums.shape[1] == m, "Kept rows must have the terms of the model")
    require(bool(np.isin(model._kept.y, classes).all()), "Kept rows must be of the classes of the model")


def _check_stack(stack: Any) -> None:
    """Refuse parts whose classes are not numbers of the stack's classes, or that are for other rows.

    Models of the first stage may be left out, where a part of its own answers.
    """
    require_named(stack.estimators, "Models of a stack")
    scored = all(
        hasattr(model, "decision_function") or hasattr(model, "predict_proba") for _, model in stack.estimators
    )
    require(scored, "Models of a stack must have scores")
    models: Any = getattr(stack, "models_", None)
    if models is None:
        return
    require(len(stack.temperatures_) == len(stack.estimators), "Each model of a stack must have a temperature")
    # Models of the first stage may be left out, where something else answers.
    require(len(models) in (0, len(stack.estimators)), "A stack must have its models")
    n_classes = len(stack.classes_)
    for part in (*models, *([] if stack.second_ is None else [stack.second_])):
        codes = np.asarray(getattr(part, "classes_", None))
        known = codes.ndim == 1 and codes.dtype.kind in "iu" and bool(np.isin(codes, range(n_classes)).all())
        require(known and len(np.unique(codes)) == len(codes), "Parts of a stack must have its classes by number")
        width = stack.n_features_in_ if part is not stack.second_ else len(stack.estimators) * n_classes
        require(part.n_features_in_ == width, "Parts of a stack must be for its rows")


OF_CLASSIFIERS: dict[str, Callable[[Any], None]] = {
    "adaptive-sprinkling": _check_adaptive,
    "expert": _check_expert,
    "expert-tree": _check_tree,
    "graph-classifier": _check_graph_classifier,
    "knn": _check_knn,
    "latent-class": _check_latent_class,
    "multi-level": _check_multi_level,
    "searchable": _check_searchable,
    "stacked": _check_stack,
}
