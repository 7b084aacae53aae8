"""`LatentInstanceClassifier`: the nearest training row in a latent space decides (LSI_td of paper 4).

Glossary
--------
X ~ U S V'         n x m rows of terms; U n x k, S k, V m x k
u_i . V'x          how near training row i is to a row x, as the paper has it: no singular values, no lengths
tied               rows as near as the nearest, up to rounding: all of them vote
"""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from untwin import _progress
from untwin._compat import Interval, StrOptions, validating
from untwin.classify.base import RowClassifier
from untwin.crossfit.folds import possible_folds
from untwin.linalg.blocks import Blocks, product, slices
from untwin.linalg.svd import TruncatedSVD, truncated_svd
from untwin.represent.rank import FIRST_STAGE, Criterion, decompose_by_criterion

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Indices

BLOCK_CELLS = 1 << 22  # products of rows with training rows at a time
MOST_STAGEWISE = 256  # directions that "stagewise" goes up to: without singular values more add little but noise


class LatentInstanceClassifier(RowClassifier):
    """Classify by the training rows nearest in the space of the leading singular vectors; those tied vote.

    Parameters
    ----------
    n_components : int, "mdl", "aic" or "stagewise", default="stagewise"
        Directions of the space (fewer, if there are no more). "mdl" and "aic" read their number off the singular
        values; "stagewise" adds directions, a quarter more at each stage, and takes the number that classifies best
        rows that were held out, until twice as many have brought nothing; at most 256.
    cv : int, default=5
        Folds of "stagewise".
    random_state : int, RandomState or None, default=None
        Seeds the folds, and the SVD of large tables.

    Attributes
    ----------
    classes_ : (C,) array
    n_components_ : int
    singular_values_ : (k,) array
    components_ : (k, m) array
    cv_scores_ : dict
        With "stagewise": the accuracy out of fold for each number of directions tried.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from untwin.data.discretize import MDLPDiscretizer
    >>> X, y = load_iris(return_X_y=True)
    >>> intervals = MDLPDiscretizer().fit(X[::2], y[::2])
    >>> train, test = intervals.transform(X[::2]), intervals.transform(X[1::2])
    >>> model = LatentInstanceClassifier(random_state=0).fit(train, y[::2])
    >>> model.n_components_
    3
    >>> round(model.score(test, y[1::2]), 3)
    0.96
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"mdl", "aic", "stagewise"})],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_components: int | Criterion | Literal["stagewise"] = "stagewise",
        cv: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.cv = cv
        self.random_state = random_state

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Decompose rows X (n x m, sparse or dense) and keep them with their labels y."""
        least = 2 if self.n_components == "stagewise" else 1
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, ensure_min_samples=least)
        self._codes = self._encode(column_or_1d(y, warn=True))
        A = Blocks(X)
        if A.energy() == 0:
            raise ValueError("X must hold something other than zeros. Got zeros only instead.")
        self._U, self.singular_values_, V = self._decompose(A)
        self.components_ = V.T
        self.n_components_ = len(self.singular_values_)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the share of each class among the nearest training rows."""
        places = product(self._checked_rows(X, np.float64), self.components_.T)
        shares = [
            _shares(places[block] @ self._U.T, _slack(places[block]), self._codes, len(self.classes_))
            for block in slices(len(places), BLOCK_CELLS // len(self._U))
        ]
        return np.concatenate(shares)

    def predict(self, X: Any) -> Array:
        """Return the class of each row."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def _decompose(self, A: Blocks) -> TruncatedSVD:
        def decompose(k: int) -> TruncatedSVD:
            return truncated_svd(A, k, random_state=self.random_state)

        if self.n_components == "stagewise":
            return decompose(self._best_size(A.X, self._codes))
        if isinstance(self.n_components, str):
            return decompose_by_criterion(decompose, A.energy(), A.shape, self.n_components)
        return decompose(self.n_components)

    def _best_size(self, X: Any, codes: Indices) -> int:
        """Return the number of directions that does best out of fold; all where no row can be held out.

        Identical rows may part here: among intervals they are the rule, for new rows too.
        """
        sizes, limit = stages(FIRST_STAGE), int(min(*X.shape, MOST_STAGEWISE))
        self.cv_scores_: dict[int, float] = {}
        dealt = possible_folds(np.arange(len(codes)), codes, self.cv, random_state=self.random_state)
        if dealt is None:
            return limit
        folds, parts, _ = dealt
        while True:
            hits = np.zeros(len(sizes))
            for fold in range(folds.max() + 1):
                train, test = parts != fold, folds == fold
                U, _, V = truncated_svd(Blocks(X[train]), sizes[-1], random_state=self.random_state)
                hits += hits_by_size(product(X[test], V), U, codes[train], codes[test], sizes)
                _progress.report(f"folds with {sizes[-1]} directions", fold + 1, folds.max() + 1)
            best = sizes[int(hits.argmax())]
            if 2 * best <= sizes[-1] or sizes[-1] >= limit:
                break
            sizes = stages(2 * sizes[-1])
        self.cv_scores_ = dict(zip(sizes, (hits / (folds >= 0).sum()).tolist(), strict=True))
        return best


def stages(largest: int) -> list[int]:
    """Return numbers of directions up to `largest`, each a quarter more than the last, or one more.

    >>> stages(32)
    [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 32]
    """
    sizes = [1]
    while sizes[-1] < largest:
        sizes.append(min(largest, max(sizes[-1] + 1, sizes[-1] * 5 // 4)))
    return sizes


def hits_by_size(places: Floats, U: Floats, learnt: Indices, truth: Indices, sizes: list[int]) -> Floats:
    """Return how many rows each number of directions classifies right; products grow from stage to stage.

    `places` are V'x of the rows and `truth` their classes; U and `learnt` those of the training rows.
    """
    hits = np.zeros(len(sizes))
    for block in slices(len(places), BLOCK_CELLS // len(U)):
        products = np.zeros((len(truth[block]), len(U)))
        for stage, (first, last) in enumerate(zip([0, *sizes], sizes, strict=False)):
            products += places[block, first:last] @ U[:, first:last].T
            shares = _shares(products, _slack(places[block, :last]), learnt, learnt.max() + 1)
            hits[stage] += (shares.argmax(axis=1) == truth[block]).sum()
    return hits


def _shares(products: Floats, slack: Floats, learnt: Indices, n_classes: int) -> Floats:
    """Return the share of each class among the training rows whose product is largest, up to `slack`."""
    rows, tied = np.nonzero(products >= (products.max(axis=1) - slack)[:, None])
    votes = np.bincount(rows * n_classes + learnt[tied], minlength=len(products) * n_classes)
    shares = votes.reshape(len(products), n_classes)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _slack(places: Floats) -> Floats:
    """Return by how much rounding can set equal products apart."""
    n_terms = places.shape[1] + 8
    return np.asarray(8 * n_terms * np.finfo(np.float64).eps * np.linalg.norm(places, axis=1))
