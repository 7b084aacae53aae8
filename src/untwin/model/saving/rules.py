"""What must hold of an instance, saved or loaded, because its absence could do harm rather than raise an error.

Wrong shapes and types raise an error as soon as they are used, and `directory.load_model` uses a model once before it
hands it out. These rules are about the rest: caches that unpickle, loops without end, hordes of threads, and what only
the report reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.model.ordinal import class_order
from untwin.store.refusal import require
from untwin.structure.hierarchy import GroupRange

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_JOBS = 1024
LONGEST_NGRAM = 64
MOST_PASSES = 1000  # over the rows


def require_harmless(name: str, thing: Any) -> None:
    """Refuse the model if this instance of a kind could do harm."""
    jobs = getattr(thing, "n_jobs", None)
    require(jobs is None or (type(jobs) is int and abs(jobs) <= MOST_JOBS), "n_jobs must be a small whole number")
    for attribute, _, kind in (entry.partition(":") for entry in _KINDS.get(name, "").split()):
        found = type(getattr(thing, attribute)).__name__
        require(found == kind, f"{attribute} of a {name} must be of its kind, {kind}")
    rule = _RULES.get(name)
    if rule is not None:
        rule(thing)


def _check_pipeline(pipeline: Any) -> None:
    require(pipeline.memory is None, "A pipeline must not have a memory: it would unpickle what lies there")


def _check_tree(tree: Any) -> None:
    """Refuse a circle: a descent follows `below` until it ends."""
    for number, branch in enumerate(tree.branches):
        below = np.asarray(branch.below)
        require(bool(((below < 0) | (below > number)).all()), "A branch must lead to later branches only")


def _check_tfidf(weights: Any) -> None:
    """Refuse weights without weights: scikit-learn would leave them out without a word."""
    fitted = hasattr(weights, "n_features_in_") and weights.use_idf
    idf: Any = getattr(weights, "idf_", None)
    require(not fitted or np.shape(idf) == (weights.n_features_in_,), "tf-idf must have its weights of terms")


def _check_term_weights(weights: Any) -> None:
    """Refuse weights that are not one number for each term."""
    idf: Any = getattr(weights, "idf_", None)
    if idf is not None:
        sound = isinstance(idf, np.ndarray) and idf.dtype == np.float32 and np.isfinite(idf).all()
        require(bool(sound) and idf.shape == (weights.n_features_in_,), "Each term must have a weight")


def _check_text_blocks(blocks: Any) -> None:
    """Refuse columns that are not those of the terms, each once."""
    columns: Any = getattr(blocks, "columns_", None)
    if columns is None:
        return
    require(isinstance(columns, list) and len(columns) == len(blocks.encoders_), "Each block must have its columns")
    sizes = [len(encoder.terms_) for encoder in blocks.encoders_]
    require([len(places) for places in columns] == sizes, "Each term must have a column")
    places = np.concatenate(columns)
    require(places.dtype.kind == "i" and np.array_equal(np.sort(places), np.arange(len(places))), "Columns must be all")
    block_of = blocks.block_of_
    sound = isinstance(block_of, np.ndarray) and block_of.dtype == np.int8 and block_of.shape == places.shape
    within = sound and block_of.min(initial=0) >= 0 and block_of.max(initial=0) < 2 * len(columns)
    require(bool(within), "Each column must belong to its block")


def _check_linear_svm(svm: Any) -> None:
    """Refuse passes without end: learning on would not come back."""
    require(svm.passes is None or svm.passes <= MOST_PASSES, f"A linear SVM must have at most {MOST_PASSES} passes")


def _check_stack(stack: Any) -> None:
    """Refuse a first stage without temperatures, and parts whose classes are not numbers of the stack's classes.

    Models of the first stage may be left out, where something else answers.
    """
    models: Any = getattr(stack, "models_", None)
    if models is None:
        return
    warm = np.asarray(stack.temperatures_, dtype=np.float64)
    fits = warm.shape == (len(stack.estimators),) and len(models) in (0, len(warm)) and bool((warm > 0).all())
    require(fits, "Each model must have a temperature")
    for part in (*models, *([] if stack.second_ is None else [stack.second_])):
        codes = np.asarray(part.classes_)
        known = codes.ndim == 1 and codes.dtype.kind in "iu" and bool(np.isin(codes, range(len(stack.classes_))).all())
        require(known and len(np.unique(codes)) == len(codes), "Parts of a stack must have its classes by number")


def _check_top_class(line: Any) -> None:
    """Refuse what would put the likeliest class last, or nowhere."""
    numbers = all(isinstance(value, float) and np.isfinite(value) for value in (line.slope, line.shift))
    require(numbers and line.slope > 0, "The top class must be calibrated by a positive slope and a finite shift")


def _check_text_counts(counts: Any) -> None:
    shortest, longest = counts.ngram_range
    require(1 <= shortest <= longest <= LONGEST_NGRAM, f"ngram_range must be within 1 and {LONGEST_NGRAM}")
    terms = getattr(counts, "terms_", None)
    require(terms is None or terms.n_unique() == len(terms), "A term must have one column")


def _check_model(model: Any) -> None:
    """Refuse what answers and the report are made with, outside of what a trial reaches."""
    known = model.state_
    require(model._kind in ("texts", "frame", "matrix"), "A model must be of texts, a frame or a matrix")
    require(known.ids.shape == known.y.shape == (len(known.y),), "Training rows must have one id and one label each")
    view = known.view
    fits = view.counted is None or view.counted.shape[1] == view.n_columns
    require(fits, "A view must have a column for each of its terms")
    for rows in (view.given, view.counted):
        n_rows = len(known.y) if rows is None else len(rows) if isinstance(rows, list) else rows.shape[0]
        require(n_rows == len(known.y), "A view must have a row for each label")
    require(view.given is not None or view.counted is not None, "A view must have rows")
    asked = known.answers.rows
    require(asked.min(initial=0) >= 0 and asked.max(initial=0) < len(known.y), "Answers must be those of training rows")
    require(known.answers.classes.tolist() == model.classes_.tolist(), "Answers must be of the classes of the model")
    _check_ids(known.ids)
    _check_notes(model._noted)
    _check_measured(model._noted, len(known.answers.rows))
    class_order(model.order, model.classes_, model.scoring)
    grouped = [name for group in model.groups_ for name in group]
    require(sorted(grouped) == model.classes_.tolist(), "Groups must hold each class once")


def _check_ids(ids: Any) -> None:
    """Refuse names of rows that are no names, or mean two rows."""
    names = ids.tolist()
    kind = str if ids.dtype == object else int
    require(all(type(name) is kind for name in names), "An id must be a text, or the number of a row")
    require(len(set(names)) == len(names), "An id must belong to one row")


def _check_notes(noted: Any) -> None:
    """Refuse a known tree that is none: the report would fail, and not the loading."""
    require(isinstance(noted, dict), "A model must have its notes by name")
    parents = noted.get("parents")
    pairs = isinstance(parents, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in parents)
    require(parents is None or pairs, "A known tree must be pairs of a class and its parent")
    for pair in parents or ():
        names = [pair[0], *(pair[1] if isinstance(pair[1], tuple) else pair[1:])]
        require(all(isinstance(name, str | int | float) for name in names), "Classes and parents must be names")


def _check_measured(noted: dict[str, Any], n_asked: int) -> None:
    """Refuse neighbours that are no rows, and a range that is none."""
    near = noted.get("neighbours")
    if near is not None:
        sound = isinstance(near, np.ndarray) and near.dtype == np.int32 and near.ndim == 2 and len(near) == n_asked
        require(sound and near.min(initial=-1) == -1, "Neighbours must be rows that were asked about, or -1")
        require(near.max(initial=-1) < n_asked, "Neighbours must be rows that were asked about")
    groups: Any = noted.get("group_range", GroupRange(1, 1, 1))
    known = isinstance(groups, GroupRange) and all(type(number) is int for number in groups)
    require(known, "A range of groups must be three whole numbers")


_KINDS = {  # classes of attributes that the report reads, or that answers reach only sometimes
    "model": "state_:FittedState classes_:ndarray confusion_:Confusion hierarchy_:Hierarchy graph_:ConfusionGraph "
    "plan_:SprinklingPlan groups_:list candidates_:list scores_:dict threshold_:float calibration_error_:float",
    "fitted-state": "view:View ensemble:Ensemble answers:OutOfFoldAnswers y:ndarray ids:ndarray n_arrived:int",
    "finding": "title:str advice:str evidence:tuple",
    "similar-terms": "term:str before:tuple after:tuple",
    "candidate": "name:str note:str",
    "view": "name:str",
}
_RULES: dict[str, Callable[[Any], None]] = {
    "expert-tree": _check_tree,
    "linear-svm": _check_linear_svm,
    "model": _check_model,
    "pipeline": _check_pipeline,
    "stacked": _check_stack,
    "term-weights": _check_term_weights,
    "text-blocks": _check_text_blocks,
    "text-counts": _check_text_counts,
    "tf-idf": _check_tfidf,
    "top-class-calibration": _check_top_class,
}
