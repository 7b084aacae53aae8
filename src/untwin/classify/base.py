"""What the classifiers of this room share: how rows and labels are checked, and that the largest score wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import inherited_tags, require_classes

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from untwin._types import Array, Indices

FLOATS = [np.float64, np.float32]


class RowClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of rows, dense or sparse. Subclasses implement `fit`, and `decision_function` or `predict`."""

    classes_: Array

    def predict(self, X: Any) -> Array:
        """Return the class with the largest score."""
        scores = self.decision_function(X)  # type: ignore[attr-defined]
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _encode(self, y: Any) -> Indices:
        """Store the classes; return the code of each label."""
        require_classes(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return codes

    def _checked_rows(self, X: Any, dtype: Any = FLOATS) -> Any:
        """Return rows to classify, checked against those of `fit`."""
        check_is_fitted(self, "classes_")
        return validate_data(self, X, accept_sparse="csr", dtype=dtype, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.sparse = True
        return tags
