"""`CentroidClassifier`: a class is the direction its rows point to; the cheapest classifier that ranks all classes.

Glossary
--------
X          n x m    rows, CSR or dense; only their directions count
centroids  C x m    unit rows: the direction of the sum of a class's unit rows; CSR if X is
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import validate_data

from untwin._compat import as_dense, is_sparse, validating
from untwin.classify.base import FLOATS, RowClassifier
from untwin.classify.linear.weights import scores_of, sum_by_class

if TYPE_CHECKING:
    from untwin._types import Array, Indices


class CentroidClassifier(RowClassifier):
    """Classify by the cosine of a row with the centroid of each class.

    scikit-learn's `NearestCentroid` measures distances and holds dense centroids; cosines suit documents of any length,
    and sparse centroids are never larger than the training rows.

    Attributes
    ----------
    classes_ : (C,) array
    centroids_ : (C, m) CSR or dense array
        Unit rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from untwin.classify.centroids import CentroidClassifier
    >>> model = CentroidClassifier().fit([[4, 1], [9, 1], [1, 3]], ["east", "east", "north"])
    >>> model.predict([[20, 1], [1, 20]]).tolist()
    ['east', 'north']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the direction of each class."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        return self._learn(X, self._encode(y))

    def fit_classes(self, X: Any, codes: Indices, classes: Indices) -> Self:
        """Fit the direction of some classes of rows that were checked before."""
        rows = np.flatnonzero(np.isin(codes, classes))
        self.classes_, self.n_features_in_ = classes, X.shape[1]
        return self._learn(X[rows], np.searchsorted(classes, codes[rows]))

    def _learn(self, X: Any, codes: Indices) -> Self:
        sums = sum_by_class(X, codes, _inverse_lengths(X))
        if is_sparse(sums):
            sums.sort_indices()  # terms in one order, so that the cosines of two centroids are the same either way
        self.centroids_ = normalize(sums)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the cosine with each class; of two classes, by how much the second one's is larger."""
        cosines = self.scores(X)
        return cosines[:, 1] - cosines[:, 0] if len(self.classes_) == 2 else cosines

    def scores(self, X: Any) -> Array:
        """Return the cosine with each class."""
        X = self._checked_rows(X)
        return np.asarray(self._products(X) * _inverse_lengths(X)[:, np.newaxis])

    def _products(self, X: Any) -> Array:
        """Return rows times centroids; in single precision by a compiled loop, which is faster."""
        if is_sparse(self.centroids_) and X.dtype == np.float32:
            return scores_of(X, csr_array(self.centroids_.T))
        return np.asarray(as_dense(X @ self.centroids_.T))


def _inverse_lengths(X: Any) -> Array:
    """Return 1 / length of each row; 0 for a row of zeros."""
    lengths = row_norms(X)
    inverse: Array = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return inverse.astype(X.dtype, copy=False)
