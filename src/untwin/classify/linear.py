"""Linear models that keep only their weights.

`LinearSVM`, `LogisticModel` and `ComplementBayes` learn by scikit-learn's `LinearSVC`, `LogisticRegression` and
`ComplementNB`, or of dense rows by Newton's method, and keep single-precision weights only. What trains is imported
when something is trained: a saved model answers without it.

Glossary
--------
coef_    k x m    one row of weights a class; stored term by term, so that scoring a few rows does not copy it
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self
from warnings import catch_warnings

import numpy as np
from scipy.sparse import csr_array, hstack, issparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import (
    Interval,
    StrOptions,
    inherited_tags,
    many_classes,
    matrix_product,
    require_classes,
    validating,
)
from untwin.classify.newton import densify, one_against_rest, suits

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from untwin._types import Array, Floats32, Indices

FLOATS = [np.float64, np.float32]
MOST_STEPS = 300  # of logistic regression


def with_ones(X: Any) -> Any:
    """Return rows with a last column of ones, whose weight is the intercept."""
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    sparse: bool = issparse(X)
    return hstack([csr_array(X), csr_array(ones)], format="csr") if sparse else np.hstack([X, ones])


class _Weights(ClassifierMixin, BaseEstimator):
    """Linear scores. Subclasses implement `fit`."""

    classes_: Array
    coef_: Floats32
    intercept_: Floats32

    def _keep(self, trained: Any, coef: Any, intercept: Any) -> Self:
        self.classes_ = trained.classes_
        self.coef_ = np.ascontiguousarray(coef.T, dtype=np.float32).T
        self.intercept_ = np.asarray(intercept, dtype=np.float32)
        return self

    def _scores(self, X: Any) -> Floats32:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=False)
        return np.asarray(matrix_product(X, self.coef_.T)) + self.intercept_

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.sparse = True
        return tags


class Margins(_Weights):
    """A linear model that predicts the largest margin; for two classes it has one row of weights, for the second."""

    def _coded(self, y: Array) -> Indices:
        """Store the classes; return the column of weights of each label, -1 for the first of two classes."""
        require_classes(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must have at least two classes. Got one class, {self.classes_[0]!r}, instead.")
        return codes - 1 if len(self.classes_) == 2 else codes

    def _keep_columns(self, W: Floats32) -> Self:
        """Store one column of weights for each class; its last number is the intercept."""
        self.coef_, self.intercept_ = np.ascontiguousarray(W[:-1]).T, W[-1].copy()
        return self

    def decision_function(self, X: Any) -> Floats32:
        """Return the margin of each class; with two classes that of the second, one-dimensional."""
        margins = self._scores(X)
        return margins[:, 0] if len(self.classes_) == 2 else margins

    def predict(self, X: Any) -> Array:
        """Return the class with the largest margin."""
        margins = self.decision_function(X)
        best = (margins > 0).astype(np.intp) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[best])


class LinearSVM(Margins):
    """Linear support vector machine, one-vs-rest: scikit-learn's `LinearSVC`, of which the weights are kept.

    Dense rows are learnt by Newton's method for all classes at once: the same minimum, about ten times as fast.

    Parameters
    ----------
    C, tol
        As in `LinearSVC`.
    dual, random_state
        As in `LinearSVC`; Newton's method needs neither.

    Attributes
    ----------
    classes_ : (k,) array
    coef_, intercept_ : float32 arrays, (k, m) and (k,); of one row for two classes
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVM().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "dual": ["boolean", StrOptions({"auto"})],
        "random_state": ["random_state"],
    }

    def __init__(self, *, C: float = 1.0, tol: float = 1e-4, dual: Any = "auto", random_state: Any = 0) -> None:
        self.C = C
        self.tol = tol
        self.dual = dual
        self.random_state = random_state

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the weights."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        if suits(X):
            codes = self._coded(y)
            W = one_against_rest(with_ones(densify(X)), codes, codes.max() + 1, self.C, self.tol)
            return self._keep_columns(W.astype(np.float32))
        from sklearn.svm import LinearSVC

        svm = LinearSVC(C=self.C, tol=self.tol, dual=self.dual, random_state=self.random_state)
        with many_classes():
            svm.fit(X, y)
        return self._keep(svm, svm.coef_, svm.intercept_)


class LogisticModel(Margins):
    """Logistic regression, of all classes at once: scikit-learn's, of which the weights are kept.

    Parameters
    ----------
    C : float, default=1.0
        As in `LogisticRegression`.

    Attributes
    ----------
    classes_ : (k,) array
    coef_, intercept_ : float32 arrays, (k, m) and (k,); of one row for two classes
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LogisticModel().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"C": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the weights, as far as `MOST_STEPS` steps lead: where columns differ in scale that is not the end."""
        from sklearn.linear_model import LogisticRegression

        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        model = LogisticRegression(C=self.C, max_iter=MOST_STEPS)
        with catch_warnings(category=ConvergenceWarning, action="ignore"), many_classes():
            model.fit(densify(X), y)
        return self._keep(model, model.coef_, model.intercept_)


class ComplementBayes(_Weights):
    """Naive Bayes from the rows of all other classes: scikit-learn's `ComplementNB`, of which the weights are kept.

    Parameters
    ----------
    alpha : float, default=1.0
        As in `ComplementNB`.

    Attributes
    ----------
    classes_ : (k,) array
    coef_, intercept_ : float32 arrays, (k, m) and (k,)
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> ComplementBayes().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.7
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"alpha": [Interval(Real, 0, None, closed="left")]}

    def __init__(self, *, alpha: float = 1.0) -> None:
        self.alpha = alpha

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the weights."""
        from sklearn.naive_bayes import ComplementNB

        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        require_classes(y)
        classes, codes = np.unique(y, return_inverse=True)
        members = csr_array((np.ones(len(y)), (codes, np.arange(len(y)))), shape=(len(classes), len(y)))
        bayes = ComplementNB(alpha=self.alpha).fit(members @ X, classes)  # all it learns is the sum of each class
        alone = len(bayes.classes_) == 1
        return self._keep(bayes, bayes.feature_log_prob_, bayes.class_log_prior_ if alone else np.zeros(1))

    def predict_proba(self, X: Any) -> Floats32:
        """Return class probabilities; naive Bayes is far too sure of them."""
        shares: Floats32 = softmax(self._scores(X), axis=1)
        return shares

    def predict(self, X: Any) -> Array:
        """Return the likeliest class."""
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.classifier_tags = ClassifierTags(poor_score=True)  # by scikit-learn's checks, on data that are no counts
        return tags
