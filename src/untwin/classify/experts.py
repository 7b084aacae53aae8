"""Experts: classifiers for a few classes and a few terms, many of them trained in parallel.

Glossary
--------
X        n x m    all rows, CSR or dense
job               which rows an expert learns from, and what each of them is
terms    t        columns that the rows of a job use (of these the best, if asked): all that the expert looks at
coef     t x k    weights of a linear expert, one column a class; two classes share one; dense, or CSR where large
margins  n x k    decision values for each class of an expert; zero is undecided

A term that none of an expert's rows has would get weight zero, so leaving it out changes nothing but the size of the
model: it falls from classes x terms to what the groups use. Rows are sliced for each job and let go after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import log_expit, log_softmax
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from untwin import _progress
from untwin._compat import is_sparse
from untwin.classify.linear.weights import scores_of
from untwin.crossfit.outoffold import class_scores
from untwin.tables import Contingency

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Indices

STEEPNESS = np.float32(2.0)  # of the sigmoid: a row at the margin of an SVM is right in 88 of 100 cases


class Job(NamedTuple):
    """Rows to learn from, and the code (any whole number) of what each of them is.

    `estimator` is what learns, if not the common one. `select` keeps only so many (int), or this share (float), of the
    rows' terms, by the information gain of their presence; or what a scikit-learn feature selector keeps.
    """

    rows: Indices
    labels: Indices
    estimator: Any = None
    select: Any = None


@dataclass(frozen=True, slots=True)
class Expert:
    """Tells its classes apart by its terms; made by `fit_experts`.

    Attributes
    ----------
    classes : (k,) codes, ascending
    terms : (t,) columns of X, ascending
    coef : (t, k) float32 array or CSR (two classes: one column, for the second), or None if not linear
    intercept : (k,) float32 array or None
    model : the fitted estimator, if not linear
    softmax : whether a linear expert's margins are the logits of one distribution over its classes
    """

    classes: Indices
    terms: Indices
    coef: Any = None
    intercept: Any = None
    model: Any = None
    softmax: bool = False

    def log_scores(self, X: Any) -> Array:
        """Return rows x k: log-probabilities, or the log-sigmoid of decision values; never above zero."""
        margins = self.margins(X)
        if self.model is not None and not hasattr(self.model, "decision_function"):
            return margins
        if len(self.classes) == 1:
            return margins
        return log_softmax(margins, axis=1) if self.softmax else log_expit(STEEPNESS * margins)

    def margins(self, X: Any) -> Array:
        """Return rows x k: decision values, or log-probabilities of a model that has no decision values."""
        if len(self.classes) == 1:
            return np.zeros((X.shape[0], 1), dtype=np.float32)
        seen = columns_of(X, self.terms)
        if self.coef is not None:
            values = scores_of(seen, self.coef) + self.intercept
            return np.hstack([-values, values]) if values.shape[1] == 1 else values
        scores, absent = class_scores(self.model, seen)
        if scores is None:
            raise ValueError(f"expert must have decision_function or predict_proba. Got {self.model!r} instead.")
        return scores if absent else np.log(np.maximum(scores, np.finfo(scores.dtype).tiny))

    @property
    def n_numbers(self) -> int:
        """Number of weights, intercepts and term places of a linear expert."""
        return self.terms.size + sum(int(part.size) for part in (self.coef, self.intercept) if part is not None)


def fit_experts(estimator: Any, X: Any, jobs: Sequence[Job], *, n_jobs: int | None = None) -> list[Expert]:
    """Train a clone of `estimator` for each job, on the rows and the columns of the job only.

    Parameters
    ----------
    estimator : classifier
        Anything with `coef_` and `intercept_` is kept as weights on its own terms; anything else as it is.
    X : (n, m) CSR or dense
    jobs : sequence of Job
        A job with one class needs no training, and its expert has one column of zeros.
    n_jobs : int, optional
        Experts at a time, in threads. liblinear, whose random numbers are one stream for a process, then differs from
        run to run in the fourth digit; the models of this package do not.
    """
    work = (delayed(_fitted)(estimator, X, job) for job in jobs)
    trained = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(work)
    return list(_progress.reporting("experts", trained, len(jobs)))


def _fitted(estimator: Any, X: Any, job: Job) -> Expert:
    classes = np.unique(job.labels)
    if len(classes) < 2:
        return Expert(classes, np.empty(0, dtype=np.intp))
    rows = X[job.rows]
    terms = used_columns(rows)
    rows = columns_of(rows, terms)
    if job.select is not None:
        best = _selected(rows, job.labels, job.select)
        rows, terms = columns_of(rows, best), terms[best]
    model = clone(estimator if job.estimator is None else job.estimator).fit(rows, job.labels)
    if not hasattr(model, "coef_"):
        return Expert(classes, terms, model=model)
    packed = is_sparse(model.coef_)
    coef = csr_array(model.coef_.T) if packed else np.ascontiguousarray(np.atleast_2d(model.coef_).T, dtype=np.float32)
    softmax = len(classes) > 2 and hasattr(model, "predict_proba")
    return Expert(classes, terms, coef, np.atleast_1d(model.intercept_).astype(np.float32), softmax=softmax)


def _selected(rows: Any, labels: Indices, select: Any) -> Indices:
    """Return the positions of the terms to keep, ascending."""
    if hasattr(select, "get_support"):
        return np.flatnonzero(clone(select).fit(rows, labels).get_support())
    n_terms = rows.shape[1]
    n_kept = select if isinstance(select, int | np.integer) else max(1, round(select * n_terms))
    if n_kept >= n_terms:
        return np.arange(n_terms)
    gain = Contingency.from_counts(csr_array(rows != 0), labels).information_gain()
    return np.sort(np.argsort(-gain, kind="stable")[:n_kept])


def used_columns(X: Any) -> Indices:
    """Return the columns that have a stored number, ascending; of a dense matrix all."""
    if not is_sparse(X):
        return np.arange(X.shape[1])
    used = np.zeros(X.shape[1], dtype=bool)
    used[X.indices] = True
    return np.flatnonzero(used)


def columns_of(X: Any, terms: Indices) -> Any:
    """Return the columns `terms` (ascending) of X; of CSR rows in one pass over their numbers."""
    if len(terms) == X.shape[1]:
        return X
    if not is_sparse(X):
        return X[:, terms]
    place = np.full(X.shape[1], -1, dtype=X.indices.dtype)
    place[terms] = np.arange(len(terms), dtype=X.indices.dtype)
    moved = place[X.indices]
    kept = moved >= 0
    ends = np.concatenate([[0], np.cumsum(kept)])[X.indptr].astype(X.indptr.dtype)
    return csr_array((X.data[kept], moved[kept], ends), shape=(X.shape[0], len(terms)))
