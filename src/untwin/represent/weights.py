"""`SupervisedWeights`: what a term is worth, with or without the help of the labels (paper 3).

Glossary
--------
X        n x m    counts of terms, tf
N, df(t)          documents; documents that contain term t
n_c               documents of class c
w(t, c)  C x m    chi2 or information gain of the 2 x 2 table "contains t" by "belongs to c"
w(t)     m        what a term is worth in a document whose class is unknown: the maximum of w(t, c) over c

w(t, c) is stored only where term and class meet. A labelled document needs no other cells. For the maximum the others
count too: a frequent term that a large class avoids is telling. With no document in common both measures grow with
n_c, so that of all classes without t the largest decides, and C x m numbers are never computed.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import TransformerTags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from untwin._compat import Interval, StrOptions, follow_sparse_interface, inherited_tags, validating
from untwin.tables import Contingency, measures

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    Floats = NDArray[np.float64]

MEASURES: dict[str, measures.Measure] = {"chi2": measures.chi2, "ig": measures.information_gain}
COUNTS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}  # how X is validated


class SupervisedWeights(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Weight counts by what their terms say, by the labels or without them.

    With the schemes "chi2" and "ig" a row whose class is known is weighted otherwise than a new one: `fit_transform`
    multiplies the counts of a row by w(t, its class), `transform` by the maximum of w(t, c) over all classes. So the
    training rows carry their labels, and `fit(X, y).transform(X)` differs from `fit_transform(X, y)`. In a pipeline
    that is what paper 3 does, and no label of a test row is ever used; but the training rows look easier than they
    are, so judge a classifier on them out of fold, with the whole pipeline as the estimator.

    Parameters
    ----------
    scheme : {"bin", "tf", "tfidf", "chi2", "ig"}, default="tfidf"
        Presence; counts; counts times idf = ln((1 + N) / (1 + df)) + 1, as `TfidfTransformer` computes it; counts times
        chi2, or times information gain, of the presence of a term and a class.
    norm : {"l1", "l2"} or None, default="l2"
        Length that each row is brought to.
    select : float in (0, 1], int or None, default=None
        Keep only this share, or this number, of the terms; those that come first if several score the same.
    select_by : {"chi2", "ig"}, default="chi2"
        What `select` ranks terms by: either measure of the table of presence by all classes.

    Attributes
    ----------
    weights_ : (m,) array
        What `transform` multiplies the counts of each term by.
    kept_ : int array
        Columns of X that are kept, ascending.
    classes_ : (C,) array
        The classes; only where labels are used, that is with "chi2", "ig" or `select`.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if X is a frame.

    Examples
    --------
    >>> from untwin.represent.weights import SupervisedWeights
    >>> X = [[2, 0, 1], [1, 0, 1], [0, 3, 1], [0, 1, 1]]
    >>> weights = SupervisedWeights(scheme="chi2", norm=None)
    >>> weights.fit_transform(X, ["cat", "cat", "dog", "dog"]).toarray()
    array([[ 8.,  0.,  0.],
           [ 4.,  0.,  0.],
           [ 0., 12.,  0.],
           [ 0.,  4.,  0.]])
    >>> weights.transform([[1, 1, 1]]).toarray()
    array([[4., 4., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "scheme": [StrOptions({"bin", "tf", "tfidf", "chi2", "ig"})],
        "norm": [StrOptions({"l1", "l2"}), None],
        "select": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="right"), None],
        "select_by": [StrOptions({"chi2", "ig"})],
    }

    def __init__(
        self, *, scheme: str = "tfidf", norm: str | None = "l2", select: float | None = None, select_by: str = "chi2"
    ) -> None:
        self.scheme = scheme
        self.norm = norm
        self.select = select
        self.select_by = select_by

    @validating
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the terms of the counts `X` are worth; `y` is needed by "chi2", "ig" and `select`."""
        self._learn(X, y)
        return self

    @validating
    def fit_transform(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Learn, and return the training rows; with "chi2" and "ig" each is weighted by its own class."""
        return self._weighted(*self._learn(X, y))

    def transform(self, X: Any) -> Any:
        """Return new rows, whose classes are not known."""
        check_is_fitted(self)
        counts = _canonical(validate_data(self, X, reset=False, **COUNTS))
        return self._weighted(counts, self.weights_[counts.indices])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the kept columns."""
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)  # type: ignore[no-untyped-call]
        return names[self.kept_]

    @property
    def _uses_labels(self) -> bool:
        return self.scheme in MEASURES or self.select is not None

    def _learn(self, X: Any, y: Any) -> tuple[csr_array, Floats]:
        """Fit, and return the training counts with a weight for each stored cell."""
        if self._uses_labels:
            X, y = validate_data(self, X, y, **COUNTS)
            check_classification_targets(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
        else:
            X = validate_data(self, X, **COUNTS)
            codes = np.zeros(X.shape[0], dtype=np.intp)
        counts = _canonical(X)
        presence = csr_array((np.ones(counts.nnz, np.int64), counts.indices, counts.indptr), shape=counts.shape)
        table = Contingency.from_counts(presence, codes)
        self.kept_ = self._kept_columns(table)
        if self.scheme in MEASURES:
            by_class = table.per_cell(MEASURES[self.scheme])
            self.weights_ = np.maximum(by_class.max(axis=0).toarray(), _best_absent(table, MEASURES[self.scheme]))
            return counts, _cells(by_class, np.repeat(codes, np.diff(counts.indptr)), counts.indices)
        self.weights_ = np.ones(counts.shape[1])
        if self.scheme == "tfidf":
            self.weights_ += np.log((1 + table.n_documents) / (1 + table.term_documents))
        return counts, self.weights_[counts.indices]

    def _kept_columns(self, table: Contingency) -> NDArray[np.intp]:
        n_terms = len(table.term_documents)
        if self.select is None:
            return np.arange(n_terms)
        n_kept = int(self.select) if isinstance(self.select, Integral) else max(1, round(self.select * n_terms))
        scores = table.chi2() if self.select_by == "chi2" else table.information_gain()
        return np.sort(np.argsort(-scores, kind="stable")[:n_kept])

    def _weighted(self, counts: csr_array, weights: Floats) -> Any:
        """Multiply each stored cell by its weight, keep the selected columns, and bring the rows to length."""
        values = weights if self.scheme == "bin" else counts.data * weights
        rows = csr_array((values.astype(counts.dtype), counts.indices, counts.indptr), shape=counts.shape)
        rows = rows if self.select is None else rows[:, self.kept_]
        rows.eliminate_zeros()
        return follow_sparse_interface(rows if self.norm is None else normalize(rows, norm=self.norm, copy=False))

    def __sklearn_tags__(self) -> Tags:
        tags = inherited_tags(super())
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.target_tags.required = self._uses_labels
        tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags


def _canonical(X: Any) -> csr_array:
    """Return our own copy of X whose stored cells are exactly the terms that occur."""
    check_non_negative(X, whom="SupervisedWeights")
    counts: csr_array = csr_array(X, copy=True)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    return counts


def _cells(table: csr_array, rows: NDArray[np.intp], columns: NDArray[Any]) -> Floats:
    """Return the stored cells (rows[i], columns[i]) of a canonical table."""
    n_columns = table.shape[1]
    place = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr)) * n_columns + table.indices
    found: Floats = table.data[np.searchsorted(place, rows * n_columns + columns)]
    return found


def _best_absent(table: Contingency, measure: measures.Measure) -> Floats:
    """Return for each term the measure in the largest class that it never occurs in; 0 where it occurs in all.

    With the classes sorted by size, the term's classes form rows 0, 1, 2, ... without a gap until the first class that
    it avoids; the k-th of them stands in row k exactly as long as there is no gap.
    """
    order = np.argsort(-table.class_sizes, kind="stable")
    by_term = table.documents[order].tocsc()
    kth = np.arange(by_term.nnz) - np.repeat(by_term.indptr[:-1], np.diff(by_term.indptr))
    terms = np.repeat(np.arange(by_term.shape[1]), np.diff(by_term.indptr))
    first_avoided = np.bincount(terms[by_term.indices == kth], minlength=by_term.shape[1])
    sizes = np.append(table.class_sizes[order], 0)[first_avoided]
    return measure(np.zeros_like(sizes), table.term_documents, sizes, table.n_documents)
