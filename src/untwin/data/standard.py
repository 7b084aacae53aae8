"""`StandardNumbers`: numeric columns as numbers, each on its own scale, for models that add them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import inherited_tags

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from untwin._types import Flags, Floats

NUMBERS: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
FARTHEST = 10.0  # standard deviations: what lies beyond says no more, and one wild cell decides nothing


class StandardNumbers(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Turn numbers into standard scores; a missing one becomes the mean, and a column of its own says so.

    Intervals (`MDLPDiscretizer`) follow any shape but forget where in an interval a number lies; standard scores keep
    that, and serve where classes differ by more or less of something.

    Attributes
    ----------
    means_, scales_ : (m,) arrays
        Mean and standard deviation of the columns; 0 and 1 where there is nothing to measure.
    has_missing_ : (m,) bool array
        Which columns had missing values in `fit`: these get a second column, after all others.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> numbers = StandardNumbers().fit([[1.0, 10.0], [3.0, float("nan")]])
    >>> numbers.transform([[3.0, 10.0], [float("nan"), float("nan")]])
    array([[1., 0., 0.],
           [0., 0., 1.]])
    >>> numbers.get_feature_names_out(["age", "price"]).tolist()
    ['age', 'price', 'price missing']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    means_: Floats
    scales_: Floats
    has_missing_: Flags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Measure the columns of `X`."""
        X = validate_data(self, X, **NUMBERS)
        present = ~np.isnan(X)
        known = np.maximum(present.sum(axis=0), 1)
        largest = np.abs(np.where(present, X, 0.0)).max(axis=0)
        unit = np.where(largest > 0, largest, 1.0)  # within -1 and 1 no square grows beyond all numbers
        means = np.where(present, X / unit, 0.0).sum(axis=0) / known
        scales = np.sqrt((np.where(present, X / unit - means, 0.0) ** 2).sum(axis=0) / known)
        varied = scales > 10 * np.finfo(np.float64).eps * np.abs(means)  # not constant but for rounding
        self.means_, self.scales_ = means * unit, np.where(varied & (scales * unit > 0), scales * unit, 1.0)
        self.has_missing_ = ~present.all(axis=0)
        return self

    def transform(self, X: Any) -> Floats:
        """Return the standard scores of `X`, and which values are missing."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **NUMBERS)
        missing = np.isnan(X)
        with np.errstate(over="ignore"):  # too far away to be a number is far away
            scores = np.clip((X - self.means_) / self.scales_, -FARTHEST, FARTHEST)
        return np.hstack([np.where(missing, 0.0, scores), missing[:, self.has_missing_]])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns, then of those that say what is missing."""
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)  # type: ignore[no-untyped-call]
        return np.append(names, [f"{name} missing" for name in names[self.has_missing_]]).astype(object)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.allow_nan = True
        return tags
