"""Run a classifier out of fold once, and keep all its answers.

n rows, C classes, k folds
folds             n        fold in which a row was held out and predicted; -1: never
predictions       n        predicted labels; masked where never held out
scores            n x C    decision values or probabilities by class; NaN where never held out
fold_confusions   k        true x predicted of the rows of each fold, all with the same C classes
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.parallel import Parallel, delayed

from untwin import _progress
from untwin._compat import rows_of
from untwin._labels import require_distinct
from untwin._values import freeze, positions
from untwin.crossfit.folds import choose_folds, possible_folds
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    import polars as pl

    from untwin._types import Array, Flags, Floats, Indices


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class OutOfFold:
    """Answers of a classifier to rows that it was not trained on; made by `out_of_fold`.

    Attributes
    ----------
    confusion : Confusion
        Of all rows that were held out: the sum of `fold_confusions`.
    fold_confusions : tuple of Confusion
        One for each fold, every one with all classes.
    predictions : (n,) masked array of labels
        Masked where a row was never held out, so that `(result.predictions == y).mean()` is the accuracy.
    scores : (n, C) array or None
        `decision_function`, else `predict_proba`, by the classes of `classes`; two classes: -d and d. A class that a
        fold's model has not seen has -inf or probability 0; a row never held out has NaN.
    folds : (n,) int array
        In which fold a row was held out; -1 never.
    small_classes : tuple
        Classes whose rows would all lie in one fold. They stay in training, and their rows are not predicted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> result = out_of_fold(GaussianNB(), *load_iris(return_X_y=True))
    >>> result
    OutOfFold(5 folds, 150 of 150 rows predicted, accuracy 0.9...)
    >>> result.without(0) + result.fold_confusions[0] == result.confusion
    True
    """

    confusion: Confusion
    fold_confusions: tuple[Confusion, ...]
    predictions: np.ma.MaskedArray[Any, Any]
    scores: Floats | None
    folds: Indices
    small_classes: tuple[Any, ...] = ()

    @property
    def classes(self) -> Array:
        """Names of all classes, in the order of the confusions and of the columns of `scores`."""
        return self.confusion.classes

    @property
    def predicted(self) -> Flags:
        """Whether each row was held out and has a prediction."""
        return self.folds >= 0

    def without(self, fold: int) -> Confusion:
        """Return the confusion of all folds but `fold`: it does not depend on predictions for the rows of `fold`."""
        if not 0 <= fold < len(self.fold_confusions):
            raise ValueError(f"fold must be one of 0 to {len(self.fold_confusions) - 1}. Got {fold} instead.")
        return Confusion(self.confusion.counts - self.fold_confusions[fold].counts, self.classes)

    def frame(self) -> pl.DataFrame:
        """Return a table with one line for each row: fold and prediction, null where never held out."""
        import polars as pl

        return pl.DataFrame({"fold": self.folds, "prediction": self.predictions.tolist()}).with_columns(
            fold=pl.when(pl.col("fold") >= 0).then("fold")
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OutOfFold):
            return NotImplemented
        return (
            np.array_equal(self.folds, other.folds)
            and self.fold_confusions == other.fold_confusions
            and self.predictions.tolist() == other.predictions.tolist()
            and (self.scores is None) == (other.scores is None)
            and (self.scores is None or np.array_equal(self.scores, other.scores, equal_nan=True))  # type: ignore[arg-type]
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"OutOfFold({len(self.fold_confusions)} folds, {self.predicted.sum()} of {len(self.folds)} rows predicted, "
            f"accuracy {self.confusion.accuracy:.4f})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.confusion._repr_html_()}"


def out_of_fold(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    with_scores: bool = True,
) -> OutOfFold:
    """Predict every row by a clone of `estimator` that was trained on the other folds.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier or pipeline; it is cloned. For the same answer every time give it a
        `random_state` of its own.
    X : CSR or dense matrix, list of texts, pandas or Polars frame
    y : (n,) labels
    cv : int, splitter, (n,) fold numbers, (train, test) pairs or None
        A number of folds: stratified and shuffled, identical rows and rows of one group share a fold, and a class
        with fewer distinct rows (or groups) than folds is spread over as many folds as it can; with one only, it
        stays in training (`small_classes`). None: 5. A splitter, an array of fold numbers (-1: never held out) or
        pairs of row numbers are followed to the letter, identical rows included; folds are then numbered 0, 1, ... in
        their order. Each must train on all rows that it does not hold out.
    groups : (n,) labels, optional
        Rows that must share a fold.
    n_jobs : int, optional
        Folds at a time, by joblib: processes, or what `joblib.parallel_config` says. It never changes the result.
    random_state : int, RandomState or None
        Seeds the folds.
    with_scores : bool
        Keep the n x C scores too; False saves their time and memory.
    """
    X, y, groups = indexable(X, y, groups)
    y = _labels(y)
    folds, parts, small = choose_folds(X, _codes(y), cv, groups=groups, random_state=random_state)
    work = _fold_jobs(estimator, X, y, folds, parts, with_scores=with_scores)
    return _collect(_run_folds(work, n_jobs), y, folds, small)


def out_of_fold_and_fitted(
    estimator: Any, X: Any, y: Any, *, cv: Any = 5, n_jobs: int | None = None, random_state: Any = 0
) -> tuple[OutOfFold, Any]:
    """Return `out_of_fold(...)`, without answers if no row can be held out, and the estimator fitted to all rows.

    Five folds leave one of two cores idle at the end; it trains the model of all rows in that time.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> result, model = out_of_fold_and_fitted(GaussianNB(), X, y)
    >>> result == out_of_fold(GaussianNB(), X, y), model.predict(X[:2]).tolist()
    (True, [0, 0])
    """
    X, y = indexable(X, y)
    y = _labels(y)
    try:
        settled = possible_folds(X, _codes(y), cv, random_state=random_state)
    except ValueError:
        _fit_clone(estimator, X, y)  # if the estimator cannot take such rows at all, its own error helps the user more
        raise
    if settled is None:
        nobody = np.full(len(y), -1, dtype=np.intp)
        return _collect([], y, nobody, np.ones(len(np.unique(y)), dtype=np.bool_)), _fit_clone(estimator, X, y)
    folds, parts, small = settled
    work = _fold_jobs(estimator, X, y, folds, parts)
    model, *said = _run_folds([delayed(_fit_clone)(estimator, X, y), *work], n_jobs)  # the longest first
    return _collect(said, y, folds, small), model


def out_of_fold_confusion(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> Confusion:
    """Return `out_of_fold(...).confusion`, without the cost of scores.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> out_of_fold_confusion(GaussianNB(), *load_iris(return_X_y=True)).total
    150
    """
    result = out_of_fold(
        estimator, X, y, cv=cv, groups=groups, n_jobs=n_jobs, random_state=random_state, with_scores=False
    )
    return result.confusion


class _FoldAnswers(NamedTuple):
    """Answers of the model of one fold to its held-out rows; `absent` is the score of a class that it does not know."""

    rows: Indices
    labels: Array
    scores: Array | None
    classes: Array
    absent: float


def _labels(y: Any) -> Array:
    require_distinct(y)
    labels = column_or_1d(y)
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("y must name the class of each row. Got NaN instead; drop the rows without a label.")
    return np.asarray(labels)


def _codes(y: Array) -> Indices:
    return np.unique(y, return_inverse=True)[1]


def _fold_jobs(estimator: Any, X: Any, y: Array, folds: Indices, parts: Indices, **wanted: bool) -> list[Any]:
    """Return the joblib jobs, one for each fold."""
    return [
        delayed(_predict_held_out)(estimator, X, y, train=parts != fold, test=folds == fold, **wanted)
        for fold in range(folds.max() + 1)
    ]


def _run_folds(work: list[Any], n_jobs: int | None) -> list[Any]:
    """Run the jobs, report progress, and return their results in order."""
    return list(_progress.reporting("folds", Parallel(n_jobs=n_jobs, return_as="generator")(work), len(work)))


def _fit_clone(estimator: Any, X: Any, y: Array) -> Any:
    return clone(estimator).fit(X, y)


def _predict_held_out(
    estimator: Any,
    X: Any,
    y: Array,
    *,
    train: Flags,
    test: Flags,
    with_scores: bool = True,
) -> _FoldAnswers:
    """Return the answers of a clone trained on the rows `train` to the rows `test`."""
    model = _fit_clone(estimator, rows_of(X, np.flatnonzero(train)), y[train])
    rows = np.flatnonzero(test)
    asked = rows_of(X, rows)
    scores, absent = class_scores(model, asked) if with_scores else (None, np.nan)
    classes = getattr(model, "classes_", np.unique(y[train]))
    labels = np.asarray(model.predict(asked))
    return _FoldAnswers(rows, labels, scores, np.asarray(classes), absent)


def class_scores(model: Any, rows: Any) -> tuple[Array | None, float]:
    """Return the scores of rows, one column for each class of the model, and the score of a class it does not know."""
    if hasattr(model, "decision_function"):
        decision = np.asarray(model.decision_function(rows))
        return (np.column_stack([-decision, decision]) if decision.ndim == 1 else decision), -np.inf
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(rows)), 0.0
    return None, np.nan


def _collect(said: list[_FoldAnswers], y: Array, folds: Indices, small: Flags) -> OutOfFold:
    classes = np.unique(y)
    labels = np.zeros(len(y), dtype=classes.dtype)
    for part in said:
        labels[part.rows] = part.labels
    predictions = np.ma.MaskedArray(freeze(labels), mask=freeze(folds < 0), hard_mask=True)
    parts = tuple(Confusion.from_predictions(y[part.rows], part.labels, classes=classes) for part in said)
    scores = _align_scores(said, len(y), classes)
    total = reduce(add, parts, Confusion.from_predictions(y[:0], y[:0], classes=classes))
    return OutOfFold(total, parts, predictions, scores, freeze(folds), tuple(classes[small].tolist()))


def _align_scores(said: list[_FoldAnswers], n_rows: int, classes: Array) -> Floats | None:
    scores = [part.scores for part in said if part.scores is not None]
    if len(scores) < len(said):
        return None
    aligned = np.full((n_rows, len(classes)), np.nan)
    for part, columns in zip(said, scores, strict=True):
        if columns.shape[1] != len(part.classes):
            raise ValueError(
                f"The scores of estimator must have one column for each of its {len(part.classes)} classes. "
                f"Got {columns.shape[1]} instead; set decision_function_shape='ovr' or pass with_scores=False."
            )
        aligned[part.rows] = part.absent
        aligned[part.rows[:, None], positions(part.classes, classes)] = columns
    return freeze(aligned)
