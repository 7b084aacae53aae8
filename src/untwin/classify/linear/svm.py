"""`LinearSVM`: a linear support vector machine for each class against the rest, all classes at once."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from untwin._compat import Interval, StrOptions, as_dense, checked_sample_weight, validating
from untwin.classify.base import FLOATS
from untwin.classify.linear.newton import one_against_rest, suits
from untwin.classify.linear.resume import Origin, ResumePoint, dense_weights, resume_columns, resume_problem
from untwin.classify.linear.weights import MOST_DENSE, Margins, with_ones

if TYPE_CHECKING:
    from untwin._types import Indices
    from untwin.classify.linear.descent import Problem

PASSES = 8  # more change hardly an answer


class LinearSVM(Margins):
    """Linear support vector machine, one-vs-rest: the problem of `LinearSVC`, solved for all classes at once.

    Sparse rows are learnt by dual coordinate descent in a fixed number of passes, many times as fast as by
    `LinearSVC`; dense rows by Newton's method. The weights depend on the seed, but not on the number of threads.

    Parameters
    ----------
    C : float, default=1.0
        As in `LinearSVC`.
    passes : int or None, default=8
        Passes over sparse rows. None: as many as `tol` asks for.
    tol : float, default=1e-4
        For dense rows as in `LinearSVC`. For sparse rows violations of the conditions of the optimum up to this are
        left alone; with `passes=None` training ends when there are no others.
    solver : {"auto", "descent", "newton"}, default="auto"
        "auto": Newton's method for dense rows, coordinate descent for others.
    n_jobs : int or None, default=None
        Threads that learn blocks of classes.
    random_state : int, RandomState or None, default=0
    resumable : bool, default=False
        Keep what `resume` goes on from.

    Attributes
    ----------
    classes_ : (k,) array
    point_ : ResumePoint
        What `resume` goes on from; only if `resumable`.
    weights_ : (m, k) float32 array, or CSR where that would be large
        One column for two classes. A column of zeros for one class, which is then every answer.
    coef_, intercept_ : (k, m) and (k,)
        The weights as scikit-learn names them.
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
        "passes": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"auto", "descent", "newton"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "resumable": ["boolean"],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        passes: int | None = PASSES,
        tol: float = 1e-4,
        solver: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = 0,
        resumable: bool = False,
    ) -> None:
        self.C = C
        self.passes = passes
        self.tol = tol
        self.solver = solver
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.resumable = resumable

    @validating
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights of rows `X` with labels `y`; weight 2 counts a row twice, weight 0 leaves it out."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        shares = None
        if sample_weight is not None:
            shares = checked_sample_weight(sample_weight, X, ensure_non_negative=True)
            counted = np.flatnonzero(shares)
            X, y, shares = X[counted], y[counted], shares[counted]
        return self._learn(X, self._encode(y), shares)

    def resume(self, X: Any, y: Any, point: ResumePoint, origin: Origin, n_before: int) -> Self:
        """Learn rows `X` with labels `y` from where an SVM of `n_before` classes had got before some were changed.

        Classes whose rows are the same keep their weights, so that a corrected label costs a small part of `fit`.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        codes, by_columns = self._encode(y), origin.columns(n_before)
        return self._learn(X, codes, None, None if by_columns is None else (point, by_columns))

    def resume_classes(self, X: Any, codes: Indices, point: ResumePoint, before: Indices, classes: Indices) -> Self:
        """Learn some of three or more classes, from where an SVM of the same sparse rows had got with other labels.

        `codes` number the labels, `before` those that each row had, and `classes` what lost or won a row.
        """
        if point.alpha is None:
            raise ValueError("point must be that of sparse rows. Got that of dense ones instead.")
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS)
        self.classes_, origin = classes, Origin(np.arange(len(codes)), before, np.arange(point.alpha.shape[0]))
        problem = self._problem(X, codes, point.alpha.shape[0], None)
        learnt = resume_columns(problem, point.alpha, origin, codes, classes, n_jobs=self.n_jobs)
        self.weights_, self.intercept_, self.point_ = learnt.weights, learnt.biases, ResumePoint(learnt.alpha, None)
        return self

    def _learn(self, X: Any, codes: Indices, shares: Any, start: tuple[ResumePoint, Origin] | None = None) -> Self:
        """Learn the weights of checked rows by the solver that suits them."""
        vars(self).pop("point_", None)
        if len(self.classes_) == 1:
            self.weights_, self.intercept_ = np.zeros((X.shape[1], 1), np.float32), np.ones(1, np.float32)
        elif self.solver == "newton" or (self.solver == "auto" and suits(X)):
            self._follow_newton(X, codes, shares, start)
        else:
            self._descend(csr_array(X), codes, shares, start)
        return self

    def _follow_newton(self, X: Any, codes: Indices, shares: Any, start: tuple[ResumePoint, Origin] | None) -> None:
        rows, n_columns = with_ones(as_dense(X)), int(codes.max()) + 1
        near = None if start is None else dense_weights(*start, rows.shape[1])
        W = one_against_rest(rows, codes, n_columns, C=self.C, tol=self.tol, weights=shares, near=near)
        W = W.astype(np.float32)
        self.weights_, self.intercept_ = np.ascontiguousarray(W[:-1]), W[-1].copy()
        if self.resumable:
            self.point_ = ResumePoint(None, W)

    def _descend(self, X: csr_array, codes: Indices, shares: Any, start: tuple[ResumePoint, Origin] | None) -> None:
        n_columns = int(codes.max()) + 1
        problem = self._problem(X, codes, n_columns, shares)
        how: dict[str, Any] = {"packed": X.shape[1] * n_columns > MOST_DENSE, "n_jobs": self.n_jobs}
        if start is None or start[0].alpha is None:
            learnt = problem.learn(**how)
        else:
            learnt = resume_problem(problem, X, start[0].alpha, start[1], codes, **how)
        self.weights_, self.intercept_ = learnt.weights, learnt.biases
        if self.resumable:
            self.point_ = ResumePoint(learnt.alpha, None)

    def _problem(self, X: csr_array, codes: Indices, n_columns: int, shares: Any) -> Problem:
        from untwin.classify.linear.descent import Problem

        seed, members = (
            int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            memberships(codes, n_columns),
        )
        return Problem.of(X, members, C=self.C, passes=self.passes, tol=self.tol, seed=seed, weights=shares)


def memberships(codes: Indices, n_columns: int) -> csr_array:
    """Return which column is that of each row, as CSR; -1: none."""
    own = codes >= 0
    starts = np.concatenate([[0], np.cumsum(own)])
    return csr_array((np.ones(int(own.sum()), np.float32), codes[own], starts), shape=(len(codes), n_columns))
