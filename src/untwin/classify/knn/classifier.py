"""`KNNClassifier`: the nearest training rows vote, and explain the answer."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from untwin._compat import Interval, StrOptions, require_classes, validating
from untwin._values import class_names, freeze_csr, positions
from untwin.classify.base import FLOATS, RowClassifier
from untwin.classify.knn.explain import Vote, explain_vote, term_contributions
from untwin.classify.knn.neighbours import Searchable, make_searchable, nearest
from untwin.classify.knn.vote import likeliest, majority_labels, vote_shares, vote_weights
from untwin.crossfit.folds import possible_folds
from untwin.linalg.blocks import slices
from untwin.represent.incremental import (
    any_batch,
    join_members,
    places_of,
    stack_matrices,
    validate_growth,
    widen_matrix,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from untwin._types import Array, Floats, Indices
    from untwin.classify.knn.explain import Explanation

GRID = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
RECENT_ROWS = 1024  # rows added since the others were made ready; they are searched apart
SHARE_CELLS = 1 << 22  # shares at a time while predicting


# Not tagged as multi-label, though it is: the check behind that tag refuses shares of exactly 0 and 1.
class KNNClassifier(RowClassifier):
    """Classify by a weighted vote of the nearest training rows, found exactly.

    Parameters
    ----------
    n_neighbors : int or "cv", default=10
        How many neighbours vote (all rows, if there are fewer). "cv": the number from 1 to 100 that does best out of
        fold, by accuracy; by mean absolute error with `order`, by micro-F1 for multi-label data.
    metric : {"cosine", "euclidean"}, default="cosine"
        How near two rows are.
    weights : {"similarity", "uniform"}, default="similarity"
        What a vote counts: the cosine, a negative one nothing; or 1 / distance, and where a training row equals the
        row, only such rows vote. "uniform": all count the same.
    order : sequence of classes or None, default=None
        The classes in order, for grades. The predicted class is then the one nearest to the mean grade of the vote.
    cv : int, splitter or (n,) fold numbers, default=5
        For `n_neighbors="cv"`, as in `out_of_fold`: identical rows share a fold.
    n_jobs : int or None, default=None
        Threads that search; None takes all cores. It never changes the result.

    Attributes
    ----------
    classes_ : (C,) array
        The classes; for multi-label data the numbers of the columns of y.
    n_neighbors_ : int
        How many neighbours vote.
    cv_scores_ : dict
        With `n_neighbors="cv"`: the out-of-fold score of each number of neighbours; larger is better.
    ids_ : (n,) array
        The rows held, by their numbers in order of arrival; `kneighbors` and `explain` count the rows held from 0.
    class_prior_ : (C,) array
        Share of the training rows in each class. It answers for rows that are similar to nothing, such as empty ones.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Rows that are equally near come in row order, whatever the number of threads. For multi-label data (y an indicator
    matrix) `predict_proba` gives the share of the votes that carry a label, and `predict` the labels with more than
    half of the votes; where every training row has a label, a row without such a majority gets its largest one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KNNClassifier(n_neighbors="cv", metric="euclidean").fit(X[::2], y[::2])
    >>> model.n_neighbors_
    3
    >>> model.score(X[1::2], y[1::2])
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"cv"})],
        "metric": [StrOptions({"cosine", "euclidean"})],
        "weights": [StrOptions({"similarity", "uniform"})],
        "order": ["array-like", None],
        "cv": ["cv_object", "array-like"],
        "n_jobs": [Integral, None],
    }

    _recent: Searchable | None

    def __init__(
        self,
        *,
        n_neighbors: int | str = 10,
        metric: str = "cosine",
        weights: str = "similarity",
        order: ArrayLike | None = None,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.order = order
        self.cv = cv
        self.n_jobs = n_jobs

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows `X` with their classes `y`: labels, or an indicator matrix for multi-label data."""
        chosen = self.n_neighbors == "cv"
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=FLOATS, multi_output=True, ensure_min_samples=2 if chosen else 1
        )
        self._learn_classes(y)
        self._among, self._recent = make_searchable(X, self.metric), None
        self.ids_, self._n_arrived = np.arange(X.shape[0]), X.shape[0]
        self.n_neighbors_ = self._choose_n_neighbors(X) if chosen else min(int(self.n_neighbors), X.shape[0])
        return self

    @validating
    @any_batch()
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Keep more rows, also with new columns (old rows have zeros there) and new labels; the first call is `fit`.

        `classes` is for those who call every classifier alike: it is not needed. A number of neighbours that was
        chosen by "cv" stays as it is.
        """
        if not hasattr(self, "_among"):
            return self.fit(X, y)
        Y, classes = join_members(self._Y, self.classes_, *self._members(np.asarray(y)))
        X, _ = validate_growth(self, X, y, accept_sparse="csr", dtype=FLOATS, multi_output=True)
        ids = np.arange(self._n_arrived, self._n_arrived + X.shape[0])
        self._n_arrived += X.shape[0]
        self._add_rows(X)
        self.classes_ = classes
        return self._hold(Y, np.concatenate([self.ids_, ids]))

    @any_batch()
    def relabel(self, ids: ArrayLike, y: Any) -> Self:
        """Give rows other classes, by their numbers in order of arrival; new labels are allowed."""
        check_is_fitted(self)
        places = places_of(ids, self.ids_)
        Y, names = self._members(np.asarray(y))
        if Y.shape[0] != len(places):
            raise ValueError(f"y must have one label for each of the {len(places)} ids. Got {Y.shape[0]} instead.")
        Y, self.classes_ = join_members(self._Y, self.classes_, Y, names)
        order = np.arange(len(self.ids_))
        order[places] = len(order) + np.arange(len(places))
        return self._hold(Y[order], self.ids_)

    def remove(self, ids: ArrayLike) -> Self:
        """Remove rows, by their numbers in order of arrival; other rows keep their numbers, and classes stay known."""
        check_is_fitted(self)
        kept = np.delete(np.arange(len(self.ids_)), places_of(ids, self.ids_))
        if not len(kept):
            raise ValueError("ids must leave at least one row. Got all of them instead.")
        self._among, self._recent = make_searchable(self._rows()[kept], self.metric), None
        return self._hold(self._Y[kept], self.ids_[kept])

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Array, Indices]:
        """Return the nearest training rows, nearest first: similarities (cosine) or distances, and row numbers."""
        X = self._checked_rows(X)
        k, n = self.n_neighbors_ if n_neighbors is None else n_neighbors, len(self.ids_)
        if not 1 <= k <= n:
            raise ValueError(f"n_neighbors must be from 1 to the {n} training rows. Got {k} instead.")
        return self._nearest(X, k)

    def predict_proba(self, X: Any) -> Floats:
        """Return the share of the votes for each class."""
        return self._shares(*self.kneighbors(X))

    def predict(self, X: Any) -> Array:
        """Return the class of each row; for multi-label data an indicator matrix."""
        decided = self._decide(*self.kneighbors(X))
        return decided.astype(self._label_dtype) if self._multilabel else self.classes_[decided]

    def explain(
        self, X: Any, *, top: int = 5, term_map: Any = None, terms: Any = None, feature_names: Any = None
    ) -> list[Explanation]:
        """Return an explanation of each row's class: its neighbours, and the terms shared with them.

        Parameters
        ----------
        X : rows as for `predict`; with `term_map` rows of terms, before they were mapped
        top : int
            How many neighbours, terms for each of them and terms for each class are shown.
        term_map : (r, m) array, optional
            For a classifier fitted in a linear space: the map from m terms to its r columns, such as `components_` of
            `SprinkledLSI`. Similarities are then those of ``X @ term_map.T``, and contributions those of the terms.
        terms : pair of (n_rows, m) and (n_train, m) matrices, optional
            For a classifier fitted in any other space: rows X and the training rows by their terms. Neighbours are
            found in the space, and explained by the terms they share with the row.
        feature_names : (m,) array, optional
            Names of the terms; by default those that `fit` saw in a frame.
        """
        check_is_fitted(self)
        if top < 1:
            raise ValueError(f"top must be at least 1. Got {top} instead.")
        if term_map is None:
            shown = self._checked_rows(X)
            found = self._nearest(shown, self.n_neighbors_)
            feature_names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        else:
            shown = check_array(X, accept_sparse="csr", dtype=FLOATS)
            found = self.kneighbors(shown @ np.asarray(term_map).T)
        among = self._rows()
        if terms is not None:
            shown, among = (check_array(rows, accept_sparse="csr", dtype=FLOATS) for rows in terms)
        votes = (self._vote(values, rows) for values, rows in zip(*found, strict=True))
        return [
            explain_vote(vote, term_contributions(shown[[i]], among[vote.rows], term_map), feature_names, top)
            for i, vote in enumerate(votes)
        ]

    def _learn_classes(self, y: Any) -> None:
        self._multilabel = type_of_target(y, input_name="y") == "multilabel-indicator"
        if self._multilabel and self.order is not None:
            raise ValueError("order must be None for multi-label y. Got an order instead.")
        self._label_dtype = y.dtype
        Y, self.classes_ = self._members(y)
        self._hold_classes(Y)

    def _members(self, y: Any) -> tuple[csr_array, Array]:
        """Return the membership of rows in classes, and the classes."""
        if (type_of_target(y, input_name="y") == "multilabel-indicator") != self._multilabel:
            raise ValueError(f"y must be {'an indicator matrix' if self._multilabel else 'labels'}, as in fit.")
        if self._multilabel:
            Y = freeze_csr(y, dtype=np.float64)
            return Y, np.arange(Y.shape[1])
        y = column_or_1d(y, warn=True)
        require_classes(y)
        classes, codes = np.unique(y, return_inverse=True)
        shape = (len(codes), len(classes))
        return csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=shape), classes

    def _hold_classes(self, Y: csr_array) -> None:
        self._Y = Y
        self._grades = None if self.order is None else positions(self.classes_, class_names(np.asarray(self.order)))
        self.class_prior_ = self._Y.mean(axis=0)
        self._all_labelled = bool(np.diff(self._Y.indptr).all())

    def _add_rows(self, X: Any) -> None:
        """Add rows to the search; a few rows are kept apart, so that the others need not be prepared again."""
        recent = [] if self._recent is None else [self._recent.rows]
        new = stack_matrices([*recent, self._among.prepare(X)]) if X.shape[1] == self._among.rows.shape[1] else None
        if new is not None and new.shape[0] <= RECENT_ROWS:
            self._recent = make_searchable(new, self.metric)
        else:
            rows = stack_matrices([widen_matrix(self._rows(), X.shape[1]), X])
            self._among, self._recent = make_searchable(rows, self.metric), None

    def _rows(self) -> Any:
        """Return all rows held."""
        return self._among.rows if self._recent is None else stack_matrices([self._among.rows, self._recent.rows])

    def _nearest(self, X: Any, k: int) -> tuple[Array, Indices]:
        """Return the nearest of all rows held; recent rows come last, so that a stable sort keeps ties in row order."""
        n = self._among.rows.shape[0]
        values, rows = nearest(self._among, X, min(k, n), self.n_jobs)
        if self._recent is None:
            return values, rows
        late_values, late_rows = nearest(self._recent, X, min(k, len(self.ids_) - n), self.n_jobs)
        values, rows = np.hstack([values, late_values]), np.hstack([rows, late_rows + n])
        best = np.argsort(-values if self.metric == "cosine" else values, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(values, best, axis=1), np.take_along_axis(rows, best, axis=1)

    def _hold(self, Y: csr_array, ids: Indices) -> Self:
        """Store the membership of the rows, and limit the number of neighbours to the number of rows."""
        self._hold_classes(csr_array(Y))
        self.ids_ = ids
        wanted = self.n_neighbors_ if self.n_neighbors == "cv" else int(self.n_neighbors)
        self.n_neighbors_ = min(wanted, len(ids))
        return self

    def _choose_n_neighbors(self, X: Any) -> int:
        """Return the best number of neighbours when a row's own fold is not searched; 1 if no row can be held out.

        The nearest rows of the other folds are searched once; the first few of them serve every smaller number. Rows
        similar to nothing get the same answer for any number, so they do not count.
        """
        codes = np.zeros(X.shape[0], dtype=np.intp) if self._multilabel else self._Y.indices.astype(np.intp)
        settled = possible_folds(X, codes, self.cv)
        self.cv_scores_: dict[int, float] = {}
        if settled is None:
            return GRID[0]
        folds, parts, _ = settled
        reach = min(GRID[-1], *((parts != fold).sum() for fold in range(folds.max() + 1)))
        values = np.empty((X.shape[0], reach), dtype=X.dtype)
        rows = np.empty((X.shape[0], reach), dtype=np.intp)
        for fold in range(folds.max() + 1):
            asked, others = np.flatnonzero(folds == fold), np.flatnonzero(parts != fold)
            values[asked], found = nearest(make_searchable(X[others], self.metric), X[asked], reach, self.n_jobs)
            rows[asked] = others[found]
        asked = np.flatnonzero(folds >= 0)
        sizes = [k for k in GRID if k <= reach]
        self.cv_scores_ = {k: self._score_of(asked, values[asked, :k], rows[asked, :k]) for k in sizes}
        return max(sizes, key=self.cv_scores_.__getitem__)

    def _score_of(self, asked: Indices, values: Array, rows: Indices) -> float:
        decided = self._decide(values, rows)
        if self._multilabel:
            from sklearn.metrics import f1_score  # slow to load

            return float(f1_score(self._Y[asked], csr_array(decided), average="micro", zero_division=0.0))
        truth = self._Y.indices[asked]
        if self._grades is not None:
            return -float(abs(self._grades[decided] - self._grades[truth]).mean())
        return float((decided == truth).mean())

    def _shares(self, values: Array, rows: Indices) -> Floats:
        weights = vote_weights(values, metric=self.metric, weights=self.weights)
        return vote_shares(weights, rows, self._Y, self.class_prior_)

    def _decide(self, values: Array, rows: Indices) -> Array:
        """Return the number of each row's class, or whether it has each label; shares are made a block at a time."""
        blocks = slices(len(rows), SHARE_CELLS // len(self.classes_))
        shares = (self._shares(values[block], rows[block]) for block in blocks)
        if self._multilabel:
            return np.concatenate([majority_labels(part, at_least_one=self._all_labelled) for part in shares])
        return np.concatenate([likeliest(part, self._grades) for part in shares])

    def _vote(self, values: Array, rows: Indices) -> Vote:
        """Return the vote of one row's neighbours."""
        found = values[None], rows[None]
        members = self._Y[rows].toarray()
        return Vote(
            prediction=self._labels(self._decide(*found))[0],
            classes=self.classes_.tolist(),
            shares=self._shares(*found)[0],
            rows=rows,
            values=values,
            weights=vote_weights(values[None], metric=self.metric, weights=self.weights)[0],
            members=members,
            labels=self._labels(members > 0 if self._multilabel else members.argmax(axis=1)),
            measure="similarity" if self.metric == "cosine" else "distance",
        )

    def _labels(self, decided: Array) -> list[Any]:
        if self._multilabel:
            return [tuple(self.classes_[chosen].tolist()) for chosen in decided]
        return list(self.classes_[decided].tolist())
