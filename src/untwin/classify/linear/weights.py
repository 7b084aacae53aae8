"""Linear models that keep only their weights, in single precision, stored term by term.

Glossary
--------
weights_    m x k    one column a class: a dense array, or CSR where most of many numbers are next to nothing
intercept_  k
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, hstack

from untwin._compat import is_sparse, matrix_product
from untwin.classify.base import RowClassifier

if TYPE_CHECKING:
    from untwin._types import Array, Floats32, Indices

MANY_CLASSES = 0.2  # share of the classes in which a term has a weight, from which on it is scored for all of them
MOST_DENSE = 1 << 25  # weights that are held as a dense array: 128 MiB


def with_ones(X: Any) -> Any:
    """Return rows with a last column of ones, whose weight is the intercept."""
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    return hstack([csr_array(X), csr_array(ones)], format="csr") if is_sparse(X) else np.hstack([X, ones])


def sum_by_class(X: Any, codes: Indices, shares: Array) -> Any:
    """Return the sum of the rows of each class (k x m), each times its share; CSR if `X` is."""
    members = csr_array((shares, codes, np.arange(len(codes) + 1)))
    return csr_array(members.T) @ X  # as it is, X would be transposed


def scores_of(X: Any, weights: Any) -> Floats32:
    """Return rows times weights (m x k), as a dense array; both may be sparse."""
    if X.shape[1] != weights.shape[0]:  # compiled loops would not notice
        raise ValueError(f"Rows must have {weights.shape[0]} columns, one for each term. Got {X.shape[1]} instead.")
    rows_sparse, packed = is_sparse(X), is_sparse(weights)
    if not (rows_sparse and packed):
        product = (weights.T @ X.T).T if packed else matrix_product(X, weights)
        return np.ascontiguousarray(product, dtype=np.float32)
    from untwin._compiled import as_rows
    from untwin.classify.linear.kernels import add_scores

    scores = np.zeros((X.shape[0], weights.shape[1]), dtype=np.float32)
    heavy = np.flatnonzero(np.diff(weights.indptr) > MANY_CLASSES * weights.shape[1])
    place = np.full(weights.shape[0], -1, dtype=np.int32)
    place[heavy] = np.arange(len(heavy), dtype=np.int32)
    add_scores(as_rows(X), as_rows(weights), place, weights[heavy].toarray().astype(np.float32), scores)
    return scores


class LinearWeights(RowClassifier):
    """Linear scores. Subclasses implement `fit`."""

    weights_: Any
    intercept_: Floats32

    def scores(self, X: Any) -> Floats32:
        """Return the score of each column of weights."""
        return scores_of(self._checked_rows(X, np.float32), self.weights_) + self.intercept_


class Margins(LinearWeights):
    """A linear model that predicts the largest margin; for two classes it has one column of weights, for the second."""

    @property
    def coef_(self) -> Any:
        """The weights as scikit-learn names them: a row for each class."""
        return self.weights_.T

    def _encode(self, y: Array) -> Indices:
        """Store the classes; return the column of weights of each label, -1 for the first of two classes."""
        codes = super()._encode(y)
        return codes - 1 if len(self.classes_) == 2 else codes

    def decision_function(self, X: Any) -> Floats32:
        """Return the margin of each class; with two classes that of the second, one-dimensional."""
        margins = self.scores(X)
        return margins[:, 0] if len(self.classes_) == 2 else margins
