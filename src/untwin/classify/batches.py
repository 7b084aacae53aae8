"""`BatchLinearSVC`: one-vs-rest linear SVMs for all classes at once, a batch of rows at a time.

Glossary
--------
X        n x (m + 1)  rows, with a last column of ones for the intercept
W        (m + 1) x k  weights, one column a class; float32
T                     -1 or 1: does row i belong to class c
u        k            what a class's own rows weigh in its loss; 1 unless small classes are to be balanced
Z        b x k        X W of a batch of b rows
loss                  sum over rows and classes of max(0, 1 - T Z)^2, times u for a class's own rows, plus
                      |W|^2 / (2 C): with u = 1 what `LinearSVC` minimises
G        m + 1        sum of squared gradients of a term so far, which scales its steps (AdaGrad, one number a term)

Solving class by class, as liblinear does, reads X once for every class and pass. Here one pass over X serves all
classes: the inner loops run along the k numbers of a term. A batch touches only the rows of W that its terms name, and
the penalty is charged there too, a term's share at each of its occurrences, so that a step never costs m x k.

Batches are drawn once and shuffled in each pass, so the bookkeeping of sparse batches is paid once. Few passes with
steps that shrink to zero stop short of the minimum on purpose: on held-out rows that is no worse, mostly better.
"""

from __future__ import annotations

from math import ceil, sqrt
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from untwin._compat import Interval, validating
from untwin.classify.linear import Margins, with_ones

if TYPE_CHECKING:
    from untwin._types import Array, Floats32, Indices

FEWEST_PASSES = 3
ENOUGH_SPARSE = (200, 20)  # steps, which small tables take more passes to make, but no more passes than so many ...
ENOUGH_DENSE = (1000, 200)  # ... and of dense columns, which depend on each other more and cost less
FIRST_SQUARE = 1e-3  # what G starts from: keeps the first steps of a term finite
FIRST_INTERCEPT = -1.0  # right for nearly all rows of nearly all classes


class Batch(NamedTuple):
    """Some rows on the columns that they use, these columns, and the share of the penalty each is charged here."""

    X: Any
    transposed: Any
    terms: Indices
    codes: Indices
    penalty: Floats32


class BatchLinearSVC(Margins):
    """Linear support vector machine with the squared hinge, one-vs-rest, fast where classes are many.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the penalty, as in `LinearSVC`.
    balance : float in [0, 1], default=0.0
        A class's own rows weigh (mean class size / its size) to this power: above zero, small classes win more often.
    passes : int or None, default=None
        How often every row is seen. None: 3 times, small tables up to 20 times, small dense ones up to 200. Where
        labels are noisy few passes are better.
    batch_size : int or None, default=None
        None takes twice the square root of the number of rows.
    step : float, default=0.15
        Length of the first steps; it falls to zero in the last.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    classes_ : (k,) array
    coef_ : (k, m) float32 array; (1, m) for two classes
    intercept_ : (k,) float32 array; (1,) for two classes
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> BatchLinearSVC().fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "balance": [Interval(Real, 0, 1, closed="both")],
        "passes": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "step": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        balance: float = 0.0,
        passes: int | None = None,
        batch_size: int | None = None,
        step: float = 0.15,
        random_state: Any = 0,
    ) -> None:
        self.C = C
        self.balance = balance
        self.passes = passes
        self.batch_size = batch_size
        self.step = step
        self.random_state = random_state

    @validating
    def fit(self, X: Any, y: Any) -> Self:
        """Learn one weight vector for each class (two classes: one for the second)."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float32)
        codes = self._coded(y)
        return self._keep_columns(self._weights(with_ones(X), codes))

    def _weights(self, X: Any, codes: Indices) -> Floats32:
        random = check_random_state(self.random_state)
        batch_size = self.batch_size or ceil(2 * sqrt(len(codes)))
        batches = _batches(X, codes, self.C, batch_size, random)
        W = np.zeros((X.shape[1], max(codes.max() + 1, 1)), dtype=np.float32)
        W[-1] = FIRST_INTERCEPT if W.shape[1] > 1 else 0.0
        sizes = np.bincount(codes[codes >= 0], minlength=W.shape[1])
        u = ((len(codes) / len(self.classes_) / sizes) ** self.balance).astype(np.float32)
        G = np.full(X.shape[1], FIRST_SQUARE, dtype=np.float32)
        steps, most = ENOUGH_SPARSE if issparse(X) else ENOUGH_DENSE
        n_passes = self.passes or min(max(steps // len(batches), FEWEST_PASSES), most)
        n_steps, done = n_passes * len(batches), 0
        for _ in range(n_passes):
            for number in random.permutation(len(batches)):
                _learn(W, G, u, batches[number], self.step * (1 - done / n_steps))
                done += 1
        return W


def _batches(X: Any, codes: Indices, C: float, size: int, random: np.random.RandomState) -> list[Batch]:
    """Deal the rows to batches of nearly equal size, at random."""
    n, m = X.shape
    parts = np.array_split(random.permutation(n), ceil(n / size))
    sparse: bool = issparse(X)
    if not sparse:
        return [_whole(X[rows], codes[rows], C * n) for rows in parts]
    occurrences = np.bincount(X.indices, minlength=m)
    return [_compact(X[rows], codes[rows], C * occurrences) for rows in parts]


def _whole(X: Floats32, codes: Indices, scale: float) -> Batch:
    """Return dense rows, on all columns."""
    penalty = np.full((X.shape[1], 1), len(X) / scale, dtype=np.float32)
    return Batch(X, X.T, np.arange(X.shape[1]), codes, penalty)


def _compact(X: Any, codes: Indices, scale: Array) -> Batch:
    """Return sparse rows on the columns that they use."""
    counts = np.bincount(X.indices, minlength=X.shape[1])
    terms = np.flatnonzero(counts)
    place = np.empty(X.shape[1], dtype=np.int32)
    place[terms] = np.arange(len(terms))
    rows = csr_array((X.data, place[X.indices], X.indptr), shape=(X.shape[0], len(terms)))
    return Batch(rows, rows.T, terms, codes, (counts[terms] / scale[terms]).astype(np.float32)[:, np.newaxis])


def _learn(W: Floats32, G: Floats32, u: Floats32, batch: Batch, step: float) -> None:
    """Take one step along the gradient of a batch, in place."""
    weights = np.take(W, batch.terms, axis=0)  # four times as fast as W[terms]
    gradient = batch.transposed @ _slopes(batch.X @ weights, batch.codes, u)
    gradient += weights * batch.penalty
    squares = G[batch.terms] + np.einsum("ij,ij->i", gradient, gradient) / W.shape[1]
    G[batch.terms] = squares
    gradient *= (step / np.sqrt(squares))[:, np.newaxis]
    W[batch.terms] = weights - gradient


def _slopes(Z: Floats32, codes: Indices, u: Floats32) -> Floats32:
    """Return the derivative of the squared hinge by each number of Z, which is overwritten."""
    rows = np.flatnonzero(codes >= 0)
    own = codes[rows]
    own_slopes = u[own] * np.minimum(Z[rows, own] - 1.0, 0.0)
    Z += 1.0
    np.maximum(Z, 0.0, out=Z)
    Z[rows, own] = own_slopes
    Z *= 2.0
    return Z
