"""`StackedClassifier`: a linear SVM that learns from what other classifiers say of rows they were not trained on.

Glossary
--------
n rows, C classes, b classifiers of the first stage
scores      n x C      of one classifier, out of fold: for rows that its model was not trained on
T                      its temperature, fitted to these scores: probabilities are softmax(scores / T)
features    n x b C    square roots of these probabilities, the small ones left out: a row has length one for each
                       classifier, and the product of two rows is the overlap of two distributions

The second stage learns which classes are confused with which, and whom to believe when. It needs no folds inside
folds: all first-stage scores come from one set of folds.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, hstack, vstack
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from untwin._compat import Interval, rows_of, validating
from untwin.answer.layers import LEAST_FEATURE
from untwin.answer.probabilities import log_probabilities
from untwin.calibrate.temperature import fit_temperature
from untwin.classify.base import FLOATS, RowClassifier
from untwin.classify.linear import LinearSVM
from untwin.crossfit.folds import possible_folds
from untwin.crossfit.together import SharedFolds, aligned_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Floats32, Indices

PASSES, TOLERANCE = 5, 0.1  # of a second stage
FEW_CLASSES = 10  # of a second stage that is trained to the end
RULED_OUT = np.float32(-1e3)  # score of a class that the second stage has never seen


class FirstStageAnswers(NamedTuple):
    """What the first stage said of rows that were held out: temperatures (b), features, and the rows' classes."""

    temperatures: Array
    features: csr_array
    codes: Indices


class StackedClassifier(RowClassifier):
    """Learn from the out-of-fold probabilities of several classifiers.

    Parameters
    ----------
    estimators : list of (name, classifier)
        The first stage; all get the same prepared rows. If no row can be held out, the first one answers alone.
    C : float, default=0.1
        Of the linear SVM that is the second stage.
    cv : int, splitter, (n,) fold numbers or (train, test) pairs, default=5
        As in `out_of_fold`.
    n_jobs : int, default=1
        Threads: folds at a time, and blocks of classes of the second stage.

    Attributes
    ----------
    classes_ : (C,) array
    models_ : list of classifiers
        The first stage, fitted to all rows.
    temperatures_ : (b,) array
    second_ : LinearSVM or None
        The second stage.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from untwin.classify.centroids import CentroidClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> stages = [("svm", LinearSVM(C=1e-3)), ("centroids", CentroidClassifier())]
    >>> StackedClassifier(stages).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.94
    True
    """

    second_: LinearSVM | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimators": [list],
        "C": [Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object", "array-like"],
        "n_jobs": [Integral],
    }

    def __init__(self, estimators: Any, *, C: float = 0.1, cv: Any = 5, n_jobs: int = 1) -> None:
        self.estimators = estimators
        self.C = C
        self.cv = cv
        self.n_jobs = n_jobs

    @validating
    def fit(self, X: Any, y: Any, *, answers: FirstStageAnswers | None = None, models: list[Any] | None = None) -> Self:
        """Train both stages.

        `answers` are those of the first stage out of fold, and `models` the first stage trained on all rows, whose
        classes are numbers, where they are known already.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        codes = self._encode(y)
        found = self.answers_out_of_fold(X, y) if answers is None else answers
        self.models_ = models or [clone(model).fit(X, codes) for _, model in self.estimators]
        self.second_, self.temperatures_ = None, np.ones(len(self.models_))
        if found is not None:
            self._fit_second(found, X, codes)
        return self

    def answers_out_of_fold(self, X: Any, y: Any, preprocessing: Any = None) -> FirstStageAnswers | None:
        """Return what the first stage says of rows that it was not trained on; None if no row can be held out.

        `preprocessing` is a transformer, fitted in each fold to the rows that it trains on; X may then be anything.
        """
        classes, codes = np.unique(y, return_inverse=True)
        settled = possible_folds(X, codes, self.cv, in_runs=True)
        if settled is None:
            return None
        folds, parts, _ = settled
        shared = SharedFolds(X, codes, len(classes), folds, parts, preprocessing, self.n_jobs)
        held, found = np.flatnonzero(folds >= 0), shared.scores(dict(self.estimators))
        scores = [found[name].scores[held] for name, _ in self.estimators]
        warm = [fit_temperature(part, codes[held], cautious=True) for part in scores]
        log_p = [log_probabilities(part, temperature) for part, temperature in zip(scores, warm, strict=True)]
        return FirstStageAnswers(np.array(warm), stack_features(log_p), codes[held])

    def decision_function(self, X: Any) -> Floats32:
        """Return the score of each class; with two classes that of the second, one-dimensional."""
        rows = self._checked_rows(X)
        scores = [aligned_scores(model, rows, len(self.classes_)) for model in self.models_]
        if self.second_ is not None:
            scores = [second_scores(self.second_, self._features(scores), len(self.classes_))]
        S = scores[0]
        return (S[:, 1] - S[:, 0]) / np.float32(2) if len(self.classes_) == 2 else S

    def _fit_second(self, answers: FirstStageAnswers, X: Any, codes: Indices) -> None:
        """Train the second stage on out-of-fold answers.

        The rows of a class none of which was held out take part with the answers of models that know them: else the
        second stage would never answer with this class.
        """
        self.temperatures_, features, labels = answers
        known = np.flatnonzero(~np.isin(codes, labels))
        if len(known):
            asked = rows_of(X, known)
            more = self._features([aligned_scores(model, asked, len(self.classes_)) for model in self.models_])
            features = csr_array(vstack([features, more], format="csr"))
            labels = np.concatenate([labels, codes[known]])
        second = second_stage(self.C, len(self.classes_))
        second.n_jobs = self.n_jobs
        self.second_ = second.fit(features, labels)

    def _features(self, scores: Sequence[Floats32]) -> csr_array:
        pairs = zip(scores, self.temperatures_, strict=True)
        return stack_features([log_probabilities(part, temperature) for part, temperature in pairs])


def stack_features(log_p: Sequence[Floats32]) -> csr_array:
    """Return the features of rows with these log-probabilities, one array for each classifier.

    >>> stack_features([np.log(np.array([[0.64, 0.36, 1e-9]]))]).toarray().round(1).tolist()
    [[0.8, 0.6, 0.0]]
    """
    return csr_array(hstack([_large_roots(part) for part in log_p], format="csr"))


def _large_roots(log_p: Floats32) -> csr_array:
    rows, columns = np.nonzero(log_p > 2 * np.log(LEAST_FEATURE))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(log_p)))])
    return csr_array((np.exp(log_p[rows, columns] / 2), columns, starts), shape=log_p.shape)


def second_scores(model: LinearSVM, features: csr_array, n_classes: int) -> Floats32:
    """Return the scores of a second stage whose classes are numbers; classes that it has not seen come last."""
    scores = aligned_scores(model, features, n_classes)
    return np.maximum(scores, RULED_OUT)


def held_out_scores(features: csr_array, codes: Indices, asked: csr_array, *, n_classes: int, C: float) -> Floats32:
    """Return the scores of rows with the features `asked` by a second stage trained on other rows and their classes."""
    return second_scores(second_stage(C, n_classes).fit(features, codes), asked, n_classes)


def second_stage(C: float, n_classes: int) -> LinearSVM:
    """Return the untrained second stage: of few classes its rows are dense, and Newton's method finds the minimum."""
    if n_classes <= FEW_CLASSES:
        return LinearSVM(C=C)
    return LinearSVM(C=C, passes=PASSES, tol=TOLERANCE, solver="descent")
