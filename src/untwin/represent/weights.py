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

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import TransformerTags
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from untwin._compat import Interval, StrOptions, follow_sparse_interface, inherited_tags, require_classes, validating
from untwin._values import positions
from untwin.represent.incremental import any_batch, validate_growth, widen_matrix
from untwin.tables import Contingency, measures

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from untwin._types import Array, Floats, Indices

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
    contingency_ : Contingency
        Documents by class and term, of all rows learnt; a single class where labels are not used.
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

    n_features_in_: int
    contingency_: Contingency
    weights_: Floats
    kept_: Indices

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
        """Fit, and return the weighted training rows; with "chi2" and "ig" each is weighted by its own class."""
        return self._apply_weights(*self._learn(X, y))

    @validating
    @any_batch()
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn more rows, also with new columns and new labels.

        Old terms keep their weights, so that rows weighted before stay comparable, until `recompute`; new terms get
        theirs from all rows so far. With a share to `select`, the best new columns are kept behind the old ones. The
        first call is `fit`.
        """
        if not hasattr(self, "weights_"):
            return self.fit(X, y)
        n_old = self.n_features_in_
        table = self._count(*self._check(X, y, validate_growth))
        self.contingency_ = _widen(self.contingency_, self.n_features_in_) + table
        if self._uses_labels:
            self.classes_ = self.contingency_.classes
        self.weights_ = np.concatenate([self.weights_, self._term_weights()[n_old:]])
        new = self._ranked_columns()
        new = new[new >= n_old][: max(0, self._n_kept - len(self.kept_))]
        self.kept_ = np.concatenate([self.kept_, np.sort(new)])
        return self

    def recompute(self) -> Self:
        """Give all terms the weights that all rows learnt so far ask for, and select among them anew."""
        check_is_fitted(self)
        self.weights_ = self._term_weights()
        self.kept_ = np.sort(self._ranked_columns()[: self._n_kept])
        return self

    def labelled(self, X: Any, y: Any) -> Any:
        """Return rows whose classes are known, as `fit_transform` would: for rows that `partial_fit` has learnt."""
        check_is_fitted(self)
        counts, labels = self._check(X, y, partial(validate_data, reset=False))
        return self._apply_weights(counts, self._cell_weights(counts, labels))

    def transform(self, X: Any) -> Any:
        """Return new rows, whose classes are not known."""
        check_is_fitted(self)
        counts = _canonical(validate_data(self, X, reset=False, **COUNTS))
        return self._apply_weights(counts, self.weights_[counts.indices])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the kept columns."""
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)  # type: ignore[no-untyped-call]
        return names[self.kept_]

    @property
    def _uses_labels(self) -> bool:
        return self.scheme in MEASURES or self.select is not None

    def _learn(self, X: Any, y: Any) -> tuple[csr_array, Floats]:
        """Fit, and return the training counts with a weight for each stored cell."""
        counts, labels = self._check(X, y, validate_data)
        self.contingency_ = self._count(counts, labels)
        if self._uses_labels:
            self.classes_ = self.contingency_.classes
        self.recompute()
        return counts, self._cell_weights(counts, labels)

    def _check(self, X: Any, y: Any, validated: Callable[..., Any]) -> tuple[csr_array, Array]:
        """Return canonical counts, and labels: one for all where they are not used."""
        if not self._uses_labels:
            X = validated(self, X, **COUNTS)
            return _canonical(X), np.zeros(X.shape[0], dtype=np.intp)
        X, y = validated(self, X, y, **COUNTS)
        require_classes(y)
        return _canonical(X), y

    def _count(self, counts: csr_array, labels: Array) -> Contingency:
        presence = csr_array((np.ones(counts.nnz, np.int64), counts.indices, counts.indptr), shape=counts.shape)
        return Contingency.from_counts(presence, labels)

    def _term_weights(self) -> Floats:
        """Return what terms are worth in a row whose class is unknown."""
        table = self.contingency_
        if self.scheme in MEASURES:
            measure = MEASURES[self.scheme]
            return np.asarray(np.maximum(table.per_cell(measure).max(axis=0).toarray(), _best_absent(table, measure)))
        weights = np.ones(len(table.term_documents))
        if self.scheme == "tfidf":
            weights += np.log((1 + table.n_documents) / (1 + table.term_documents))
        return weights

    def _cell_weights(self, counts: csr_array, labels: Array) -> Floats:
        """Return the weight of each stored cell of rows with these labels."""
        if self.scheme not in MEASURES:
            return np.asarray(self.weights_[counts.indices])
        by_class = self.contingency_.per_cell(MEASURES[self.scheme])
        codes = positions(labels, self.contingency_.classes)
        return _cells(by_class, np.repeat(codes, np.diff(counts.indptr)), counts.indices)

    @property
    def _n_kept(self) -> int:
        n_terms = self.n_features_in_
        if self.select is None:
            return n_terms
        return int(self.select) if isinstance(self.select, Integral) else max(1, round(self.select * n_terms))

    def _ranked_columns(self) -> Indices:
        """Return all columns, best first."""
        table = self.contingency_
        if self.select is None:
            return np.arange(len(table.term_documents))
        scores = table.chi2() if self.select_by == "chi2" else table.information_gain()
        return np.argsort(-scores, kind="stable")

    def _apply_weights(self, counts: csr_array, weights: Floats) -> Any:
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


def _widen(table: Contingency, n_terms: int) -> Contingency:
    """Return the table with terms that no document contains added on the right."""
    return replace(
        table,
        documents=widen_matrix(table.documents, n_terms),
        occurrences=widen_matrix(table.occurrences, n_terms),
        term_documents=np.pad(table.term_documents, (0, n_terms - len(table.term_documents))),
    )


def _canonical(X: Any) -> csr_array:
    """Return our own copy of X whose stored cells are exactly the terms that occur."""
    check_non_negative(X, whom="SupervisedWeights")
    counts: csr_array = csr_array(X, copy=True)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    return counts


def _cells(table: csr_array, rows: Indices, columns: Array) -> Floats:
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
