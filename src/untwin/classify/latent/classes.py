"""`LatentClassClassifier`: rows are compared with classes, not with rows (LSI_ac of paper 4)."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from untwin._compat import Interval, StrOptions, require_classes, validating
from untwin.classify.base import RowClassifier
from untwin.classify.latent.calibration import KeptRows, fit_held_out_temperature
from untwin.classify.latent.class_space import ClassSpace, Columns, class_space
from untwin.classify.latent.class_sums import ClassSums
from untwin.classify.latent.indistinguishable import indistinguishable
from untwin.represent.incremental import validate_growth

if TYPE_CHECKING:
    from untwin._types import Array, Floats

CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}


class LatentClassClassifier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, RowClassifier):
    """Classify in the space spanned by the classes: the SVD of the term x class table, at most one direction a class.

    Training is one pass over the data, whose rows are then forgotten (but for a sample of 2,000, by which
    probabilities are calibrated); no dimension has to be chosen. It takes text, intervals of numeric columns, or both.

    Parameters
    ----------
    columns : {"counts", "means"}, default="counts"
        What stands for a class: the sum of its rows, or their mean. With sums larger classes have some precedence.
    inverse : bool, default=False
        Whether coordinates are divided by the singular values, as the paper has it. With `columns="counts"` that
        favours small classes.
    scale_terms : bool, default=True
        Whether each term is divided by the square root of how often it occurs, as in correspondence analysis. For
        counts and intervals that is better; leave it to the weights if X has weights such as tf-idf.
    discrete : int or None, default=None
        So many terms of a semi-discrete decomposition (entries -1, 0 and 1, at two bits) stand for the table: a small
        model, as paper 4 proposes. A few for each class come near the table itself, which None takes.

    Attributes
    ----------
    classes_ : (C,) array
    class_vectors_ : (C, r) array
        Where the classes are in the class space; `transform` says where rows are. Their products are the scores.
    singular_values_ : (r,) array
    temperature_ : float
        What scores are divided by to make probabilities.
    indistinguishable_ : tuple of Indistinguishable
        Classes that the data cannot tell apart: twins, mixtures, or a lack of intervals.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    `LatentClassClassifier.as_published()` is the paper's classifier: s = pinv(Z) x with Z the table of counts. The
    default is what did best out of fold on the paper's eight tables.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from untwin.data.discretize import MDLPDiscretizer
    >>> X, y = load_iris(return_X_y=True)
    >>> intervals = MDLPDiscretizer().fit(X[::2], y[::2])
    >>> train, test = intervals.transform(X[::2]), intervals.transform(X[1::2])
    >>> model = LatentClassClassifier().fit(train, y[::2])
    >>> round(model.score(test, y[1::2]), 3)
    0.96
    >>> model.predict_proba(test[:1]).round(2)
    array([[0.98, 0.01, 0.01]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [StrOptions({"counts", "means"})],
        "inverse": ["boolean"],
        "scale_terms": ["boolean"],
        "discrete": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        columns: Columns = "counts",
        inverse: bool = False,
        scale_terms: bool = True,
        discrete: int | None = None,
    ) -> None:
        self.columns = columns
        self.inverse = inverse
        self.scale_terms = scale_terms
        self.discrete = discrete

    @classmethod
    def as_published(cls) -> Self:
        """Return the classifier exactly as in paper 4."""
        return cls(columns="counts", inverse=True, scale_terms=False)

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the class space to rows X (n x m, sparse or dense) with labels y."""
        X, y = validate_data(self, X, y, **CHECKS)
        y = _labels(y)
        return self._fit_space(ClassSums.of_rows(X, y), KeptRows.of_rows(X, y))

    @validating
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Add rows; the result equals that of `fit` on all rows together.

        New classes may come at any call, and X may have new columns after the known ones. `classes`, which
        scikit-learn's convention asks for, is not needed and not looked at.
        """
        if not hasattr(self, "classes_"):
            return self.fit(X, y)
        y = _labels(y)  # before X: a refused call must not have made the model wider
        if (y.dtype.kind in "OSU") != (self.classes_.dtype.kind in "OSU"):
            raise ValueError(f"y must hold labels like {self.classes_[0]!r}. Got {y[0]!r} instead.")
        X, y = validate_growth(self, X, y, **CHECKS)
        return self._fit_space(self._sums + ClassSums.of_rows(X, y), self._kept.with_rows(X, y))

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each class (n x C); for two classes by how much the second is ahead (n)."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Floats:
        """Return probabilities of the classes, calibrated on rows while they were held out."""
        return np.asarray(softmax(self._scores(X) / self.temperature_, axis=1))

    def transform(self, X: Any) -> Floats:
        """Return rows in the class space (n x r): what `class_vectors_` are multiplied by to get scores."""
        rows = self._checked_rows(X, np.float64)
        return self._space.coordinates(rows)

    def _scores(self, X: Any) -> Floats:
        rows = self._checked_rows(X, np.float64)
        return self._space.scores(rows)

    def _fit_space(self, sums: ClassSums, kept: KeptRows) -> Self:
        """Fit space, temperature and indistinguishable classes to the sums."""
        self._sums, self._kept = sums, kept
        self.classes_ = np.array(sums.classes)
        self._space = self._space_of(sums)
        self.class_vectors_ = self._space.class_vectors
        self.singular_values_ = self._space.singular_values
        self.temperature_ = fit_held_out_temperature(self._space_of, sums, kept)
        self.indistinguishable_ = indistinguishable(sums)
        return self

    def _space_of(self, sums: ClassSums) -> ClassSpace:
        return class_space(
            sums, columns=self.columns, inverse=self.inverse, scale_terms=self.scale_terms, discrete=self.discrete
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.singular_values_)


def _labels(y: Any) -> Array:
    labels: Array = column_or_1d(y, warn=True)
    require_classes(labels)
    return labels
