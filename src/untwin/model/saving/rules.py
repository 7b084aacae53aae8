"""What must hold of an instance, saved or loaded, because its absence could do harm rather than raise an error.

Three parts: what each instance is by itself (`shapes`, a table), what agrees between objects (`references`, `whole`),
and here what harms though it fits: caches that unpickle, hordes of threads, passes without end, costly patterns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.model.saving.agreement import require_named
from untwin.model.saving.patterns import is_linear
from untwin.model.saving.references import REFERENCES
from untwin.model.saving.registry import KINDS
from untwin.model.saving.shapes import require_shapes
from untwin.model.saving.whole import check_model
from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_JOBS = 1024
LONGEST_NGRAM = 64
MOST_FOLDS = 1000
MOST_PASSES = 1000  # over the rows


def require_harmless(name: str, thing: Any) -> None:
    """Refuse the model if this instance of a kind could do harm."""
    jobs = getattr(thing, "n_jobs", None)
    require(jobs is None or (type(jobs) is int and abs(jobs) <= MOST_JOBS), "n_jobs must be a small whole number")
    _check_folds(getattr(thing, "cv", None))
    _check_names(thing)
    for rule in (_RULES.get(name), lambda made: require_shapes(name, KINDS[name].state(made)), REFERENCES.get(name)):
        if rule is not None:
            rule(thing)
    if name == "model":
        check_model(thing)


def _check_folds(cv: Any) -> None:
    """Refuse folds that learning on would only then find to be none."""
    if type(cv) is int:
        require(2 <= cv <= MOST_FOLDS, "cv must be a number of folds")
    else:
        require(not isinstance(cv, float | bool | dict | str) or cv == "auto", "cv must be a number of folds, or folds")


def _check_names(thing: Any) -> None:
    """Refuse columns whose number is none, or whose names are not one for each."""
    width, names = getattr(thing, "n_features_in_", None), getattr(thing, "feature_names_in_", None)
    require(width is None or (type(width) is int and width >= 0), "A number of columns must be a whole number")
    if names is not None:
        texts = isinstance(names, np.ndarray) and all(type(name) is str for name in names.tolist())
        require(texts and names.shape == (width,), "Each column must have a name")


def _check_pipeline(pipeline: Any) -> None:
    require(pipeline.memory is None, "A pipeline must not have a memory: it would unpickle what lies there")
    require_named(pipeline.steps, "Steps of a pipeline")


def _check_tfidf(weights: Any) -> None:
    """Refuse weights without weights: scikit-learn would leave them out without a word."""
    fitted = hasattr(weights, "n_features_in_") and weights.use_idf
    idf: Any = getattr(weights, "idf_", None)
    require(not fitted or np.shape(idf) == (weights.n_features_in_,), "tf-idf must have its weights of terms")


def _check_term_weights(weights: Any) -> None:
    """Refuse blocks that are none."""
    idf: Any = getattr(weights, "idf_", None)
    if weights.block_of is not None:
        blocks = np.asarray(weights.block_of)
        whole = blocks.ndim == 1 and blocks.dtype.kind in "iu"
        require(whole and blocks.min(initial=0) >= 0 and blocks.max(initial=0) < 128, "Each term must have a block")
        require(idf is None or len(blocks) <= len(idf), "Each term must have a weight, each block a term")


def _check_linear_svm(svm: Any) -> None:
    """Refuse passes without end: learning on would not come back."""
    require(svm.passes is None or svm.passes <= MOST_PASSES, f"A linear SVM must have at most {MOST_PASSES} passes")


def _check_top_class(line: Any) -> None:
    """Refuse what would put the likeliest class last, or nowhere."""
    numbers = all(isinstance(value, float) and np.isfinite(value) for value in (line.slope, line.shift))
    require(numbers and line.slope > 0, "The top class must be calibrated by a positive slope and a finite shift")


def _check_text_counts(counts: Any) -> None:
    lengths = counts.ngram_range
    whole = len(lengths) == 2 and all(type(length) is int for length in lengths)
    require(
        whole and 1 <= lengths[0] <= lengths[1] <= LONGEST_NGRAM, f"ngram_range must be within 1 and {LONGEST_NGRAM}"
    )
    require(is_linear(counts.token_pattern), "token_pattern must be some characters, of which the last may repeat")
    require(np.dtype(counts.dtype).kind in "biuf", "Counts must be numbers")
    terms = getattr(counts, "terms_", None)
    require(terms is None or (str(terms.dtype) == "String" and terms.null_count() == 0), "Terms must be texts")
    require(terms is None or terms.n_unique() == len(terms), "A term must have one column")


_RULES: dict[str, Callable[[Any], None]] = {
    "linear-svm": _check_linear_svm,
    "pipeline": _check_pipeline,
    "term-weights": _check_term_weights,
    "text-counts": _check_text_counts,
    "tf-idf": _check_tfidf,
    "top-class-calibration": _check_top_class,
}
