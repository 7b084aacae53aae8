"""`ScoreSpace`: what a classifier thinks of a row, as coordinates; neighbours there are rows it judges alike.

Glossary
--------
scores   n x C    decision values (or probabilities) by class: out of fold for training rows, of the model that was
                  fitted to all rows for new ones
T                 temperature: one number for all models
p        n x C    softmax(scores / T); probabilities stay as they are
z        n x C    sqrt(p), the coordinates: unit rows, whose product is the overlap of two distributions (Hellinger)

Models trained on four fifths and on all of the rows score on different scales, a class that a fold's model has never
seen scores minus infinity, and the raw scores of the hundred classes a row does not belong to drown those of the few
that it might. p mends all three. T is fitted to the labels of the held-out rows (maximum likelihood), never to rows
that the model has seen: there it looks surer than it is. The full model's own best T differs from that of the folds'
models by a tenth or so; correcting it with the test labels' help changed nothing that one could measure.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from untwin._compat import Interval, follow_sparse_interface, inherited_tags, rows_of, validating
from untwin.crossfit.outoffold import class_scores, out_of_fold

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    Floats = NDArray[np.float64]

LOG_RANGE = 3.0  # temperatures lie within e^-3 and e^3 of the spread of the scores: finite even if nothing is wrong


class ScoreSpace(TransformerMixin, BaseEstimator):
    """Represent rows by a classifier's calibrated class scores.

    `fit_transform` gives the training rows their out-of-fold scores, from models that have not seen them; `transform`
    gives new rows the scores of the model fitted to all training rows. So `fit(X, y).transform(X)` differs from
    `fit_transform(X, y)`, and only the second is fit to be searched for neighbours of new rows.

    Rows have unit length (unless `keep` or `n_components` shorten them), so that cosine and Euclidean neighbours agree.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier or pipeline with `decision_function` or `predict_proba`. Decision values are
        calibrated here; probabilities are taken as they are, so wrap a model that is far too sure of itself in
        `CalibratedClassifierCV`.
    cv : int, splitter or (n,) fold numbers, default=5
        Folds, as `out_of_fold` takes them.
    keep : int or None, default=None
        Keep only the largest so many coordinates of each row: a sparse matrix. Ten are nearly as good as all.
    n_components : int or None, default=None
        Reduce the coordinates to so many by a truncated SVD.
    n_jobs : int or None, default=None
        Folds at a time.
    random_state : int, RandomState or None, default=0
        Seeds the folds and the SVD.

    Attributes
    ----------
    classes_ : (C,) array
    estimator_ : classifier
        Fitted to all rows.
    out_of_fold_ : OutOfFold
        What the folds' models said: predictions, scores, confusion.
    temperature_ : float or None
        What decision values are divided by; None for probabilities.
    svd_ : TruncatedSVD or None
    n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    Notes
    -----
    Training rows that are never held out (the class has a single distinct row) get the scores of the full model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> from untwin.represent.scores import ScoreSpace
    >>> X, y = load_iris(return_X_y=True)
    >>> space = ScoreSpace(LinearSVC(random_state=0))
    >>> space.fit_transform(X, y).shape
    (150, 3)
    >>> space.out_of_fold_
    OutOfFold(5 folds, 150 of 150 rows predicted, accuracy 0.9...)
    >>> make_pipeline(space, KNeighborsClassifier()).fit(X, y).predict(X[:3]).tolist()
    [0, 0, 0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": "no_validation",  # type: ignore[dict-item]
        "cv": "no_validation",  # type: ignore[dict-item]
        "keep": [Interval(Integral, 1, None, closed="left"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        cv: Any = 5,
        keep: int | None = None,
        n_components: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.keep = keep
        self.n_components = n_components
        self.n_jobs = n_jobs
        self.random_state = random_state

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Run the estimator out of fold and fit it to all rows."""
        self._learn(X, y)
        return self

    @validating
    def fit_transform(self, X: Any, y: Any) -> Any:  # type: ignore[override]
        """Fit, and return the training rows by their out-of-fold scores."""
        return self._output(self._learn(X, y))

    def transform(self, X: Any) -> Any:
        """Return new rows by the scores of the model that was fitted to all training rows."""
        check_is_fitted(self)
        return self._output(self._coordinates(class_scores(self.estimator_, X)[0]))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return one name for each class, or for each component of the SVD."""
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        if self.svd_ is not None:
            return np.array([f"{prefix}{i}" for i in range(self.svd_.n_components)], dtype=object)
        return np.array([f"{prefix}_{name}" for name in self.classes_], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of columns that `estimator_` has seen."""
        n_features: int = self._fitted("n_features_in_")
        return n_features

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns that `estimator_` has seen."""
        names: NDArray[np.object_] = self._fitted("feature_names_in_")
        return names

    def _fitted(self, name: str) -> Any:
        if not hasattr(self, "estimator_"):
            raise AttributeError(f"{type(self).__name__} has {name!r} only after fit.")
        return getattr(self.estimator_, name)

    def _learn(self, X: Any, y: Any) -> Any:
        """Fit, and return the coordinates of the training rows (before the SVD)."""
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.out_of_fold_ = out_of_fold(
            self.estimator, X, y, cv=self.cv, n_jobs=self.n_jobs, random_state=self.random_state
        )
        if self.out_of_fold_.scores is None:
            raise ValueError(
                "estimator must have decision_function or predict_proba. "
                f"Got {self.estimator!r} instead; wrap it in CalibratedClassifierCV."
            )
        scores, held_out = self.out_of_fold_.scores.copy(), self.out_of_fold_.predicted
        self.classes_, codes = np.unique(column_or_1d(y), return_inverse=True)
        self.temperature_ = None
        if hasattr(self.estimator_, "decision_function"):
            self.temperature_ = fitted_temperature(scores[held_out], codes[held_out])
        if not held_out.all():
            scores[~held_out] = class_scores(self.estimator_, rows_of(X, np.flatnonzero(~held_out)))[0]
        rows = self._coordinates(scores)
        self.svd_ = None
        if self.n_components is not None:
            self.svd_ = TruncatedSVD(self.n_components, random_state=self.random_state).fit(rows)
        return rows

    def _coordinates(self, scores: Any) -> Any:
        if self.temperature_ is None:
            rows = np.sqrt(scores)
        else:
            rows = np.exp(log_softmax(scores / self.temperature_, axis=1) / 2)
        return rows if self.keep is None else _largest(rows, self.keep)

    def _output(self, rows: Any) -> Any:
        return follow_sparse_interface(rows) if self.svd_ is None else self.svd_.transform(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.target_tags.required = True
        return tags


def fitted_temperature(scores: Floats, codes: NDArray[np.intp]) -> float:
    """Return the T at which softmax(scores / T) makes the true classes most likely.

    >>> scores = np.array([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 0.0]])
    >>> T = fitted_temperature(scores, np.array([0, 0, 0, 1]))  # wrong once in four times
    >>> round(float(np.exp(log_softmax(scores[0] / T))[0]), 2)
    0.75
    """
    spread = float(scores[np.isfinite(scores)].std()) or 1.0

    def surprise(log_temperature: float) -> float:
        log_p = log_softmax(scores / (spread * np.exp(log_temperature)), axis=1)
        return -float(log_p[np.arange(len(codes)), codes].mean())

    # In 1 / T the mean surprise is convex, so it has one minimum.
    found = minimize_scalar(surprise, bounds=(-LOG_RANGE, LOG_RANGE), method="bounded", options={"xatol": 1e-3})
    return spread * float(np.exp(found.x))


def _largest(rows: Floats, keep: int) -> csr_array:
    """Return the `keep` largest numbers of each row, as a sparse matrix."""
    n, n_classes = rows.shape
    keep = min(keep, n_classes)
    columns = np.sort(np.argsort(-rows, axis=1, kind="stable")[:, :keep], axis=1)
    values = np.take_along_axis(rows, columns, axis=1)
    return csr_array((values.ravel(), columns.ravel(), np.arange(0, n * keep + 1, keep)), shape=(n, n_classes))
