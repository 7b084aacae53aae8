"""`LogisticModel`: scikit-learn's logistic regression, of which the weights are kept."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self
from warnings import catch_warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from untwin._compat import Interval, many_classes, validating
from untwin.classify.base import FLOATS
from untwin.classify.linear.newton import densify
from untwin.classify.linear.weights import Margins

MOST_STEPS = 300


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
        if len(np.unique(y)) == 1:  # every answer, as of the SVM
            self.classes_ = np.unique(y)
            self.weights_, self.intercept_ = np.zeros((X.shape[1], 1), np.float32), np.ones(1, np.float32)
            return self
        model = LogisticRegression(C=self.C, max_iter=MOST_STEPS)
        with catch_warnings(category=ConvergenceWarning, action="ignore"), many_classes():
            model.fit(densify(X), y)
        self.classes_, self.intercept_ = model.classes_, model.intercept_.astype(np.float32)
        self.weights_ = np.ascontiguousarray(model.coef_.T, dtype=np.float32)
        return self
