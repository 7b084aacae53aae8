"""`ScoreSpace`: the class scores of a classifier as coordinates; neighbours are rows with similar scores.

A classifier's scores are laid side by side on one scale (`untwin.represent.alignment`): as likelihoods, which see the
few classes a row might belong to, as standard scores, which see all of them, or both, each with unit rows.
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from untwin._compat import Interval, StrOptions, follow_sparse_interface, inherited_tags, rows_of, validating
from untwin.calibrate.temperature import fit_temperature
from untwin.crossfit.outoffold import class_scores, out_of_fold_and_fitted
from untwin.represent.alignment import Likelihoods, Standard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from untwin._types import Floats

COORDINATES = ("likelihoods", "standard", "both")


class ScoreSpace(TransformerMixin, BaseEstimator):
    """Represent rows by a classifier's calibrated class scores.

    `fit_transform` gives the training rows their out-of-fold scores, from models that have not seen them; `transform`
    gives new rows the scores of the model fitted to all training rows. So `fit(X, y).transform(X)` differs from
    `fit_transform(X, y)`, and only the second is fit to be searched for neighbours of new rows.

    Rows have equal length (unless `keep` or `n_components` shorten them): cosine and Euclidean neighbours agree.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier or pipeline with `decision_function` or `predict_proba`. Decision values are
        calibrated here; probabilities are taken as they are, so wrap a model that is far too sure of itself in
        `CalibratedClassifierCV`.
    coordinates : {"both", "likelihoods", "standard"}, default="both"
        Square roots of class likelihoods; standard scores (for two classes these have two directions only); or both.
    cv : int, splitter or (n,) fold numbers, default=5
        Folds, as `out_of_fold` takes them.
    keep : int or None, default=None
        Keep only the coordinates of so many classes for each row, those that score highest: a sparse matrix.
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
        Out-of-fold answers: predictions, scores, confusion.
    temperature_ : float or None
        What decision values are divided by for the likelihoods; None for probabilities.
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
    (150, 6)
    >>> space.out_of_fold_
    OutOfFold(5 folds, 150 of 150 rows predicted, accuracy 0.9...)
    >>> make_pipeline(space, KNeighborsClassifier()).fit(X, y).predict(X[:3]).tolist()
    [0, 0, 0]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": "no_validation",  # type: ignore[dict-item]
        "coordinates": [StrOptions(set(COORDINATES))],
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
        coordinates: str = "both",
        cv: Any = 5,
        keep: int | None = None,
        n_components: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.coordinates = coordinates
        self.cv = cv
        self.keep = keep
        self.n_components = n_components
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Run the estimator out of fold and fit it to all rows."""
        self.fit_transform(X, y)
        return self

    @validating
    def fit_transform(self, X: Any, y: Any) -> Any:  # type: ignore[override]
        """Fit, and return the training rows by their out-of-fold scores."""
        return self._fit_svd(self._learn(X, y))

    def views(self, X: Any, y: Any) -> Iterator[tuple[Self, Any]]:
        """Yield for each choice of `coordinates` a fitted space and its training rows, from one out-of-fold pass."""
        for coordinates in COORDINATES:
            space = clone(self).set_params(coordinates=coordinates)
            if coordinates == COORDINATES[0]:
                scores, first = space._learn(X, y), space
            else:
                vars(space).update({name: value for name, value in vars(first).items() if name.endswith("_")})
            yield space, space._fit_svd(scores)

    def transform(self, X: Any) -> Any:
        """Return new rows by the scores of the model that was fitted to all training rows."""
        check_is_fitted(self)
        return self._output(self._rows(class_scores(self.estimator_, X)[0]))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return one name for each coordinate: kind and class, or the component of the SVD."""
        check_is_fitted(self)
        prefix = type(self).__name__.lower()
        if self.svd_ is not None:
            return np.array([f"{prefix}{i}" for i in range(self.svd_.n_components)], dtype=object)
        kinds = COORDINATES[:2] if self.coordinates == "both" else (self.coordinates,)
        return np.array([f"{prefix}_{kind}_{name}" for kind in kinds for name in self.classes_], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of columns that `estimator_` has seen."""
        n_features: int = self._of_estimator("n_features_in_")
        return n_features

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns that `estimator_` has seen."""
        names: NDArray[np.object_] = self._of_estimator("feature_names_in_")
        return names

    def _of_estimator(self, name: str) -> Any:
        if not hasattr(self, "estimator_"):
            raise AttributeError(f"{type(self).__name__} has {name!r} only after fit.")
        return getattr(self.estimator_, name)

    def _learn(self, X: Any, y: Any) -> Floats:
        """Fit the estimator and the alignments; return the scores of the training rows."""
        self.out_of_fold_, self.estimator_ = out_of_fold_and_fitted(
            self.estimator, X, y, cv=self.cv, n_jobs=self.n_jobs, random_state=self.random_state
        )
        if self.out_of_fold_.scores is None:
            raise ValueError(
                "estimator must have decision_function or predict_proba. "
                f"Got {self.estimator!r} instead; wrap it in CalibratedClassifierCV."
            )
        scores, held_out = self.out_of_fold_.scores.copy(), self.out_of_fold_.predicted
        self.classes_, codes = np.unique(column_or_1d(y), return_inverse=True)
        if not held_out.all():
            scores[~held_out] = class_scores(self.estimator_, rows_of(X, np.flatnonzero(~held_out)))[0]
        judged = held_out if held_out.any() else ~held_out  # for want of better ones
        self.temperature_ = None
        if hasattr(self.estimator_, "decision_function"):
            self.temperature_ = fit_temperature(scores[judged], codes[judged])
        self.standard_ = Standard.of_held_out(scores[judged], codes[judged])
        return scores

    def _fit_svd(self, scores: Floats) -> Any:
        """Learn the SVD, if asked; return the training rows."""
        rows, self.svd_ = self._rows(scores), None
        if self.n_components is not None:
            self.svd_ = TruncatedSVD(self.n_components, random_state=self.random_state).fit(rows)
        return self._output(rows)

    def _rows(self, scores: Any) -> Any:
        """Return the coordinates of rows with these scores, before the SVD."""
        views: dict[str, Callable[[Floats], Floats]] = {
            "likelihoods": Likelihoods(self.temperature_),
            "standard": self.standard_,
        }
        asked = views if self.coordinates == "both" else (self.coordinates,)
        blocks = [views[kind](scores) for kind in asked]
        return np.hstack(blocks) if self.keep is None else _keep_best(blocks, scores, self.keep)

    def _output(self, rows: Any) -> Any:
        return follow_sparse_interface(rows) if self.svd_ is None else self.svd_.transform(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.target_tags.required = True
        return tags


def _keep_best(blocks: list[Floats], scores: Floats, keep: int) -> csr_array:
    """Return the blocks side by side with the coordinates of each row's `keep` best classes, as a sparse matrix."""
    n, n_classes = scores.shape
    keep = min(keep, n_classes)
    best = np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :keep], axis=1)
    columns = np.hstack([best + n_classes * number for number in range(len(blocks))])
    values = np.hstack([np.take_along_axis(block, best, axis=1) for block in blocks])
    starts = np.arange(0, values.size + 1, values.shape[1])
    return csr_array((values.ravel(), columns.ravel(), starts), shape=(n, n_classes * len(blocks)))
