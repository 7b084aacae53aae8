"""`NumbersAndIntervals`: numeric columns as intervals and as standard scores, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, hstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from untwin._compat import inherited_tags, validating
from untwin.data.discretize import MDLPDiscretizer
from untwin.data.standard import StandardNumbers

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags


class NumbersAndIntervals(TransformerMixin, BaseEstimator):
    """Turn each number into its interval (`MDLPDiscretizer`) and its standard score (`StandardNumbers`).

    Intervals follow any shape, scores keep what lies inside an interval; a linear model of both takes what it needs.

    Attributes
    ----------
    intervals_ : MDLPDiscretizer
    scores_ : StandardNumbers
    n_features_in_ : int

    Examples
    --------
    >>> numbers = NumbersAndIntervals().fit([[1.0], [2.0], [8.0], [9.0]] * 3, [0, 0, 1, 1] * 3)
    >>> numbers.transform([[2.0], [8.0]]).toarray().round(1).tolist()
    [[1.0, 0.0, -0.8], [0.0, 1.0, 0.8]]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Learn cuts and scales of the columns of `X`."""
        self.intervals_ = MDLPDiscretizer(n_jobs=1).fit(X, y)
        self.scores_ = StandardNumbers().fit(X)
        self.n_features_in_ = len(self.scores_.means_)
        return self

    def transform(self, X: Any) -> csr_array:
        """Return intervals, then scores."""
        check_is_fitted(self, "scores_")
        parts = csr_array(self.intervals_.transform(X)), csr_array(self.scores_.transform(X))
        return csr_array(hstack(parts, format="csr"))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of intervals, then of scores."""
        parts = (part.get_feature_names_out(input_features) for part in (self.intervals_, self.scores_))
        return np.concatenate(list(parts)).astype(object)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
