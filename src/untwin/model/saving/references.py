"""What must agree between the objects of a model: classes, columns, rows, and trees that are trees.

`shapes` says what each instance must be by itself. Whoever adds a classifier that is made of others adds a rule here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import polars as pl

from untwin.data.encode import ROLES
from untwin.store.refusal import require
from untwin.structure.linkage import SCIPY_METHODS
from untwin.tables.distances import Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from untwin._types import Array


MOST_PARTS = 32  # members, models of a stack, ways to count: each is asked, and trained again when a model learns


def require_parts(parts: Any, said: str) -> None:
    """Refuse parts of an unreasonable number: one array may stand for hundreds of them."""
    require(isinstance(parts, list | tuple) and len(parts) <= MOST_PARTS, f"{said} must be at most {MOST_PARTS}")


def require_named(steps: Any, said: str) -> None:
    """Refuse what is no list of things with a name each."""
    require_parts(steps, said)
    pairs = isinstance(steps, list) and all(type(step) is tuple and len(step) == 2 for step in steps)
    names = [step[0] for step in steps] if pairs else []
    distinct = all(type(name) is str for name in names) and len(set(names)) == len(names)
    require(pairs and distinct, f"{said} must have a name each")


def same(a: Array, b: Array) -> bool:
    """Tell whether two lists of classes are the same, in one order and of one kind."""
    return (a.dtype.kind in "biuf") == (b.dtype.kind in "biuf") and bool(np.array_equal(a, b))


def require_classifier(model: Any, classes: Array | None, n_columns: int | None, said: str) -> None:
    """Refuse a part that is no fitted classifier of some of these classes, for rows of so many columns."""
    known: Any = getattr(model, "classes_", None)
    require(isinstance(known, np.ndarray) and known.ndim == 1, f"{said} must be a fitted classifier")
    width = getattr(model, "n_features_in_", None)
    require(n_columns is None or width == n_columns, f"{said} must be for the columns of the rows")
    if classes is not None:
        numbers = (known.dtype.kind in "biuf") == (classes.dtype.kind in "biuf")
        require(numbers and bool(np.isin(known, classes).all()), f"{said} must be of the classes of the whole")


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
    fits = len(stack.temperatures_) == len(stack.estimators) and len(models) in (0, len(stack.estimators))
    require(fits, "A stack must have its models, and each model must have a temperature")
    n_classes = len(stack.classes_)
    for part in (*models, *([] if stack.second_ is None else [stack.second_])):
        codes = np.asarray(getattr(part, "classes_", None))
        known = codes.ndim == 1 and codes.dtype.kind in "iu" and bool(np.isin(codes, range(n_classes)).all())
        require(known and len(np.unique(codes)) == len(codes), "Parts of a stack must have its classes by number")
        width = stack.n_features_in_ if part is not stack.second_ else len(stack.estimators) * n_classes
        require(part.n_features_in_ == width, "Parts of a stack must be for its rows")


def _check_text_blocks(blocks: Any) -> None:
    """Refuse columns that are not those of the terms, each once."""
    require_parts(blocks.encoders, "Ways to count")
    counted = all(type(encoder).__name__ == "TextCounts" for encoder in blocks.encoders)
    require(counted, "Ways to count must count")
    columns: Any = getattr(blocks, "columns_", None)
    if columns is None:
        return
    sizes = [len(encoder.terms_) for encoder in blocks.encoders_]
    require([len(places) for places in columns] == sizes, "Each term must have a column")
    places = np.concatenate(columns)
    require(places.dtype.kind == "i" and np.array_equal(np.sort(places), np.arange(len(places))), "Columns must be all")
    block_of = blocks.block_of_
    sound = block_of.dtype == np.int8 and block_of.shape == places.shape
    require(sound and block_of.max(initial=0) < 2 * len(columns), "Each column must belong to its block")


def _check_text_features(features: Any) -> None:
    require_parts(features.encoders, "Ways to count")
    counted = all(type(encoder).__name__ == "TextCounts" for encoder in features.encoders)
    require(counted, "Ways to count must count")
    if hasattr(features, "weights_"):
        width, weights = len(features.blocks_.block_of_), features.weights_
        require(getattr(weights, "n_features_in_", None) == width, "Each term of a text must have a weight")


def _check_numbers(numbers: Any) -> None:
    """Refuse intervals and scores of different columns."""
    if hasattr(numbers, "scores_"):
        widths = {getattr(part, "n_features_in_", None) for part in (numbers.intervals_, numbers.scores_, numbers)}
        require(len(widths) == 1, "Intervals and scores must be of the same columns")


def _check_intervals(cuts: Any) -> None:
    for points in getattr(cuts, "cut_points_", ()):
        sound = points.ndim == 1 and points.dtype == np.float64 and bool(np.isfinite(points).all())
        require(sound and bool((np.diff(points) > 0).all()), "Cuts of a column must be numbers that rise")


def width_of(transformer: Any) -> int | None:
    """Return how many terms a transformer makes of a column; None if only it knows."""
    kind = type(transformer).__name__
    if kind == "NumbersAndIntervals":
        parts = [width_of(part) for part in (transformer.intervals_, transformer.scores_)]
        return sum(part or 0 for part in parts)
    if kind == "MDLPDiscretizer":
        sizes = [len(points) + 1 for points in transformer.cut_points_]
        sizes = [size + bool(missing) for size, missing in zip(sizes, transformer.has_missing_, strict=True)]
        kept = [size for size in sizes if size > (transformer.uncut == "drop")]
        return len(kept) if transformer.encode == "ordinal" else sum(kept)
    if kind == "StandardNumbers":
        return len(transformer.means_) + int(transformer.has_missing_.sum())
    if kind == "NominalValues":
        return len(transformer.frequent) + (len(transformer.rare) > 0) + bool(transformer.has_missing) + 1
    lengths: dict[str, Callable[[], int]] = {
        "Vectors": lambda: transformer.length,
        "TextCounts": lambda: len(transformer.terms_),
        "TextBlocks": lambda: len(transformer.block_of_),
        "TextFeatures": lambda: len(transformer.blocks_.block_of_),
    }
    return lengths[kind]() if kind in lengths else None


def _check_table_encoder(encoder: Any) -> None:
    """Refuse blocks that do not follow one another, each as wide as what its column becomes."""
    makers = (encoder.counts, encoder.discretizer)
    require(all(maker is None or hasattr(maker, "transform") for maker in makers), "Cells must be made terms")
    blocks: Any = getattr(encoder, "_blocks", None)
    if blocks is None:
        return
    names = [block.column for block in blocks]
    require(len(set(names)) == len(names) > 0, "A column must have one block")
    held = list(encoder.blocks_) == names == list(encoder.block_weights_)
    require(held, "Each block must have its columns and its weight")
    used = {use.name: use.role for use in encoder.columns_ if use.role in ROLES}
    require(used == {block.column: block.role for block in blocks}, "Each column that is used must have its block")
    require(set(names) <= set(np.asarray(encoder.feature_names_in_).tolist()), "Blocks must be of known columns")
    end = 0
    for block in blocks:
        wide, place = width_of(block.transformer), encoder.blocks_[block.column]
        whole = all(type(number) is int for number in (place.start, place.stop)) and place.step is None
        require(whole and place.start == end <= place.stop, "Blocks must follow one another")
        require(wide is None or place.stop - place.start == wide, "A block must be as wide as what its column becomes")
        end = place.stop


def _check_block(block: Any) -> None:
    require(block.role in ROLES, "A block must have a role")
    own = {"NominalValues": "nominal", "Vectors": "dense"}.get(type(block.transformer).__name__)
    require(own is None or own == block.role, "A block must be of its role")
    has = hasattr(block.transformer, "transform") and hasattr(block.transformer, "get_feature_names_out")
    require(has, "A block must have a transformer")


def _check_nominal(values: Any) -> None:
    names = [values.frequent, values.rare]
    require(all(part.dtype == pl.String and part.null_count() == 0 for part in names), "Names must be texts")
    require(pl.concat([part.alias("") for part in names]).is_unique().all(), "A name must occur once")


def _check_hierarchy(tree: Any) -> None:
    known = tree.linkage in SCIPY_METHODS and (tree.metric is None or tree.metric in get_args(Metric))
    require(known, "A tree must be grown in a known way")
    confusion = tree.confusion
    fits = confusion is None or same(np.sort(confusion.classes), tree.classes)
    require(fits, "A tree must be of the classes of its confusion")


def _check_sprinkled(space: Any) -> None:
    learnt: Any = getattr(space, "_learnt", None)
    if learnt is None:
        return
    (n, m), waiting = learnt.X.shape, [rows for rows, _ in learnt.waiting]
    U, S, V = learnt.svd
    require(m == space.n_features_in_ == space.components_.shape[1], "A space must be of the terms of its rows")
    late = sum(rows.shape[0] for rows in waiting)
    require(len(learnt.ids) == n + late and int(learnt.is_document.sum()) == n, "Each document must have an id")
    require(U.shape[0] == len(learnt.is_document) and U.shape[1] == V.shape[1] == len(S), "Triples must be triples")
    require(V.shape[0] == m + learnt.F.shape[1], "Triples must be of terms and sprinkled columns")
    require(learnt.k <= len(S) and space._turn.shape[0] <= learnt.k, "A space must be made of its triples")


REFERENCES: dict[str, Callable[[Any], None]] = {
    "adaptive-sprinkling": _check_adaptive,
    "block": _check_block,
    "expert": _check_expert,
    "expert-tree": _check_tree,
    "graph-classifier": _check_graph_classifier,
    "hierarchy": _check_hierarchy,
    "knn": _check_knn,
    "latent-class": _check_latent_class,
    "mdlp-discretizer": _check_intervals,
    "multi-level": _check_multi_level,
    "nominal-values": _check_nominal,
    "numbers-and-intervals": _check_numbers,
    "searchable": _check_searchable,
    "sprinkled-lsi": _check_sprinkled,
    "stacked": _check_stack,
    "table-encoder": _check_table_encoder,
    "text-blocks": _check_text_blocks,
    "text-features": _check_text_features,
}
