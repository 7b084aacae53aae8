"""`NaiveBayes`: naive Bayes from the sums of each class, held as sparse as the rows are.

Glossary
--------
F        k x m    sum of the rows of each class
T        m        sum of all rows
alpha             smoothing
weights_ m x k    log(1 + F / alpha): zero where a term never occurs in a class
offsets_ k        log alpha - log(sum of F + alpha m): what every unit of a row adds to the score of a class

log((F + alpha) / (sum of F + alpha m)) is the sum of both, so that scores are exact although weights stay sparse.

The complement of a class has the sums T - F, and the less a row is like it the higher the score of the class:
-log((T - F + alpha) / (sum of T - F + alpha m)). Again weights are zero where a term never occurs in a class, after
-log(T + alpha), which is the same for all classes, is left out: log(1 + F / (T - F + alpha)).
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import validate_data

from untwin._compat import Interval, is_sparse, require_classes, validating
from untwin.classify.base import FLOATS
from untwin.classify.linear.weights import LinearWeights, scores_of, sum_by_class

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from untwin._types import Floats32, Indices


class NaiveBayes(LinearWeights):
    """Naive Bayes with equal priors, in sparse weights: scikit-learn's `MultinomialNB` or `ComplementNB`.

    Parameters
    ----------
    alpha : float, default=0.01
        Smoothing. Rows of tf-idf weights hold numbers far below one, so that less is better than for counts.
    complement : bool, default=False
        Compare rows with the complement of each class, which is larger than the class: better for few classes of
        different sizes, worse for many, whose complements are all alike.

    Attributes
    ----------
    classes_ : (k,) array
    weights_ : (m, k) float32 CSR or dense array, as the rows are
    offsets_, intercept_ : (k,) float32 arrays
        What each unit of a row, and each row, adds to the score of a class.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> NaiveBayes().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.8
    True
    """

    offsets_: Floats32

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "complement": ["boolean"],
    }

    def __init__(self, *, alpha: float = 0.01, complement: bool = False) -> None:
        self.alpha = alpha
        self.complement = complement

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the weights."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        require_classes(y)
        sparse = is_sparse(X)
        if (X.data if sparse else X).min(initial=0) < 0:
            raise ValueError("Negative values in data passed to NaiveBayes. It takes counts, or weights of terms.")
        self.classes_, codes = np.unique(y, return_inverse=True)
        return self._learn(X, codes, None)

    def fit_classes(self, X: Any, codes: Indices, classes: Indices) -> Self:
        """Learn only some classes of rows that were checked before: a class owes to the others but a sum."""
        rows = np.flatnonzero(np.isin(codes, classes))
        self.classes_, self.n_features_in_ = classes, X.shape[1]
        return self._learn(X[rows], np.searchsorted(classes, codes[rows]), X)

    def _learn(self, X: Any, codes: Indices, among: Any) -> Self:
        """Learn classes from their rows; `among` are the rows of all classes if there are others."""
        sparse, F = is_sparse(X), sum_by_class(X, codes, np.ones(len(codes), X.dtype))
        totals = np.asarray(F.sum(axis=1), dtype=np.float64).ravel()
        numbers = F.data if sparse else F
        alpha = numbers.dtype.type(self.alpha)
        if self.complement:
            T = np.asarray((F if among is None else among).sum(axis=0)).ravel()
            total = totals.sum() if among is None else T.sum(dtype=np.float64)
            others = (T[F.indices] if sparse else T) - numbers  # no term is rarer in all classes than in one
            W, totals = np.log1p(numbers / (others + alpha)), total - totals
        else:
            W = np.log1p(numbers / alpha)
        offsets = np.log(totals + self.alpha * X.shape[1])
        self.offsets_ = (offsets if self.complement else np.log(self.alpha) - offsets).astype(np.float32)
        self.intercept_ = np.zeros(len(self.classes_), dtype=np.float32)
        W = W.astype(np.float32, copy=False)
        self.weights_ = csr_array(csr_array((W, F.indices, F.indptr), F.shape).T) if sparse else W.T.copy()
        return self

    def scores(self, X: Any) -> Floats32:
        """Return the score of each class, a logarithm."""
        X = self._checked_rows(X, np.float32)
        units = np.asarray(X.sum(axis=1), dtype=np.float32).reshape(-1, 1)
        return scores_of(X, self.weights_) + units * self.offsets_ + self.intercept_

    def decision_function(self, X: Any) -> Floats32:
        """Return the score of each class, a logarithm; of two classes half of what the second one's is larger by."""
        scores = self.scores(X)
        return (scores[:, 1] - scores[:, 0]) / np.float32(2) if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Floats32:
        """Return class probabilities; naive Bayes is far too sure of them."""
        return np.asarray(softmax(self.scores(X), axis=1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags = ClassifierTags(poor_score=True)  # by scikit-learn's checks, on data that are no counts
        return tags
