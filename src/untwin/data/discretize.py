"""`MDLPDiscretizer`: numeric columns to intervals that tell the classes apart (the RMEP of paper 4)."""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_array, get_index_dtype
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import TransformerTags, check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from untwin import _progress
from untwin._compat import StrOptions, follow_sparse_interface, inherited_tags, require_classes, validating
from untwin.data.mdlp import Phi, cut_points

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from untwin._types import Array, Flags, Floats, Indices

NUMBERS: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False}  # how X is validated; then `_finite`

LONG_ENOUGH = 1 << 16  # rows from which on threads help: with fewer, most of the time is spent in Python itself


class MDLPDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Cut numeric columns into intervals by minimum entropy, as often as the description length allows.

    Each column is cut where the entropy of the classes falls most, then each part again, while the gain in information
    is greater than what naming the cut costs (Fayyad and Irani 1993). A column that says nothing about the classes is
    not cut.

    Parameters
    ----------
    encode : {"onehot", "ordinal"}, default="onehot"
        A sparse matrix with a column for each interval; or a dense one of interval numbers 0, 1, 2, ..., in which
        missing values get the number after the last.
    uncut : {"keep", "drop"}, default="keep"
        What becomes of a column that ends up as one interval: it stays as a constant, or is left out.
    n_jobs : int or None, default=None
        Threads that cut columns; None takes all cores if columns are long. It never changes the result.

    Attributes
    ----------
    cut_points_ : list of arrays
        Where each column of X is cut. An interval holds its lower end and not its upper end.
    has_missing_ : (m,) bool array
        Which columns had missing values in `fit`: these form an interval of their own.
    classes_ : (C,) array
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    NaN is a missing value; cuts are found among the others. A value that is missing in a column that had none in `fit`
    belongs to no interval: with "onehot" its cells are zero. A row of weight 2 counts as two rows.

    Examples
    --------
    >>> from untwin.data.discretize import MDLPDiscretizer
    >>> X = [[1.0, 7.0], [2.0, 9.0], [3.0, 8.0], [11.0, 7.0], [12.0, 8.0], [13.0, float("nan")]] * 3
    >>> y = ["cold", "cold", "cold", "hot", "hot", "hot"] * 3
    >>> cut = MDLPDiscretizer().fit(X, y)
    >>> [points.tolist() for points in cut.cut_points_]
    [[7.0], []]
    >>> cut.get_feature_names_out(["degrees", "day"]).tolist()
    ['degrees < 7', 'degrees >= 7', 'day known', 'day missing']
    >>> cut.transform([[7.0, 8.0], [6.9, float("nan")]]).toarray()
    array([[0., 1., 1., 0.],
           [1., 0., 0., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "encode": [StrOptions({"onehot", "ordinal"})],
        "uncut": [StrOptions({"keep", "drop"})],
        "n_jobs": [Integral, None],
    }

    def __init__(self, *, encode: str = "onehot", uncut: str = "keep", n_jobs: int | None = None) -> None:
        self.encode = encode
        self.uncut = uncut
        self.n_jobs = n_jobs

    @validating
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cuts of the columns of `X` that tell the classes `y` apart."""
        X, y = validate_data(self, X, y, **NUMBERS)
        self._require_finite(X)
        require_classes(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        codes = codes.astype(np.min_scalar_type(len(self.classes_)))  # small enough to stay in the cache
        weights = None
        if sample_weight is not None:
            weights = _row_weights(sample_weight, X)
            counted = weights > np.finfo(np.float64).eps * weights.sum()  # less is lost in any sum
            X, codes, weights = X[counted], codes[counted], weights[counted]
        if not len(X):
            raise ValueError("sample_weight must be positive for at least one row. Got zeros only instead.")
        self.has_missing_ = np.isnan(X).any(axis=0)
        self.cut_points_ = self._cut(X, codes, weights)
        return self

    def transform(self, X: Any) -> Any:
        """Return the interval of each value of `X`."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **NUMBERS)
        self._require_finite(X)
        columns = np.flatnonzero(self._kept)
        numbers = np.empty((len(X), len(columns)), dtype=np.int32)
        for place, column in enumerate(columns):
            points, x = self.cut_points_[column], X[:, column]
            numbers[:, place] = np.where(np.isnan(x), len(points) + 1, np.searchsorted(points, x, side="right"))
        return numbers if self.encode == "ordinal" else follow_sparse_interface(self._one_hot(numbers))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the intervals, such as "age in [31.5, 44)"; with "ordinal" those of the columns."""
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)  # type: ignore[no-untyped-call]
        if self.encode == "ordinal":
            return names[self._kept]
        spelled = [
            term
            for name, points, missing, kept in zip(names, self.cut_points_, self.has_missing_, self._kept, strict=True)
            if kept
            for term in [*interval_names(name, points), *([f"{name} missing"] if missing else [])]
        ]
        return np.array(spelled, dtype=object)

    @property
    def _sizes(self) -> Indices:
        """How many intervals each column has."""
        sizes: Indices = np.array([len(points) + 1 for points in self.cut_points_]) + self.has_missing_
        return sizes

    @property
    def _kept(self) -> Flags:
        return self._sizes > (1 if self.uncut == "drop" else 0)

    def _cut(self, X: Floats, codes: Array, weights: Floats | None) -> list[Floats]:
        """Return the cut points of all columns."""
        total = len(X) if weights is None else float(weights.sum())
        phi = Phi.up_to(total, whole=weights is None)
        work = (delayed(_column_cuts)(column, codes, weights, len(self.classes_), phi) for column in X.T)
        n_jobs = self.n_jobs or (-1 if len(X) >= LONG_ENOUGH else 1)
        threads = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")
        found = []
        for points in threads(work):
            found.append(points)
            _progress.report("intervals", len(found), X.shape[1])
        return found

    def _one_hot(self, numbers: NDArray[np.int32]) -> csr_array:
        """Return a matrix with a one for each value, unless it is missing where `fit` saw none that is."""
        sizes = self._sizes[self._kept]
        known = numbers < sizes
        index = get_index_dtype(maxval=max(numbers.size, sizes.sum()))  # many estimators take 32-bit indices only
        columns = (numbers + np.cumsum(sizes) - sizes)[known].astype(index, copy=False)
        ends = np.append(0, np.cumsum(known.sum(axis=1))).astype(index)
        return csr_array((np.ones(len(columns)), columns, ends), shape=(len(numbers), sizes.sum()))

    def _require_finite(self, X: Floats) -> None:
        """Refuse infinite numbers and say where they are."""
        rows, columns = np.nonzero(np.isinf(X))
        if len(rows):
            names = getattr(self, "feature_names_in_", np.arange(X.shape[1]))
            raise ValueError(
                "X must hold finite numbers, or NaN where a value is missing. "
                f"Got {X[rows[0], columns[0]]} in column {names[columns[0]]!r}, row {rows[0]}, instead."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags


def interval_names(name: str, points: Floats) -> list[str]:
    """Return a name for each interval of a column, with as many digits as tell its cuts apart.

    >>> interval_names("age", np.array([31.5, 44.0]))
    ['age < 31.5', 'age in [31.5, 44)', 'age >= 44']
    >>> interval_names("year", np.array([20000001.5, 20000002.5]))[0]
    'year < 20000001.5'
    """
    if not len(points):
        return [f"{name} known"]
    spellings = ([f"{point:.{digits}g}" for point in points.tolist()] for digits in (6, 9, 12, 15, 17))
    ends = next(ends for ends in spellings if len(set(ends)) == len(points))
    between = [f"{name} in [{low}, {high})" for low, high in pairwise(ends)]
    return [f"{name} < {ends[0]}", *between, f"{name} >= {ends[-1]}"]


def _row_weights(sample_weight: Any, X: Floats) -> Floats:
    weights: Floats = column_or_1d(
        check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    )
    check_consistent_length(X, weights)
    check_non_negative(weights, "sample_weight")
    return weights


def _column_cuts(x: Floats, codes: Array, weights: Floats | None, n_classes: int, phi: Phi) -> Floats:
    """Return the cut points of a column, found among the values that are not missing."""
    x = np.ascontiguousarray(x)  # it is about to be read in many orders
    present = ~np.isnan(x)
    if not present.any():
        return np.empty(0)
    if not present.all():
        x, codes, weights = x[present], codes[present], None if weights is None else weights[present]
    return cut_points(x, codes, weights, n_classes, phi)
