"""Train linear SVMs again after some rows or labels have changed, from what was learnt before.

The dual variables of sparse rows say what the weights are, so that no rounding adds up, and they stay a good place to
begin after other rows have come or gone, or columns have changed. A class against the rest is a problem of its own: it
is trained again only if its rows have changed, if it leant on a row that is gone, or if a new row is within its margin.
Where only some labels were corrected, these are few of many classes. Where they are more than half, going on takes as
many passes as beginning: then all begin from zero, and get the weights of a fit. Dense rows begin from the weights.

Glossary
--------
n rows, m columns, C classes, k columns of weights (1 for two classes), each before and now
alpha     k x n    dual variables, CSR: few are above zero
rows      n        number that a row had before; -1: it is new
was       n        column of weights that was the row's own; -1: none
columns   k        number that a column of weights had before; -1: it is new
own       n        column of weights that is the row's own now; -1: none
moved     k        whether a column is trained again
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from untwin.classify.linear.weights import scores_of

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats32, Indices
    from untwin.classify.linear.descent import Problem

MOST_MOVED = 0.5  # share of the columns: where more are to be trained again, all are, from nothing


class Learnt(NamedTuple):
    """Weights (m x k, dense or CSR), biases, and the dual variables that they come from."""

    weights: Any
    biases: Floats32
    alpha: csr_array


@dataclass(frozen=True, slots=True, eq=False)
class ResumePoint:
    """What a linear SVM goes on from: the dual variables of sparse rows, or the weights of dense ones, biases last."""

    alpha: csr_array | None
    weights: Array | None


class Origin(NamedTuple):
    """Where rows and classes come from; `classes` are the numbers that they had, the rest as in the glossary.

    `same_rows`: the numbers in the rows that were there are as they were.
    """

    rows: Indices
    was: Indices
    classes: Indices
    same_rows: bool = True

    def columns(self, n_before: int) -> Origin | None:
        """Return the same about columns of weights; None if these mean something else now.

        Of two classes the second has a column, so that with more or fewer classes, or others, nothing can be kept.
        """
        n_now = len(self.classes)
        if min(n_now, n_before) > 2:
            return self
        if n_now == n_before == 2 and self.classes.tolist() == [0, 1]:
            return self._replace(was=self.was - 1, classes=np.zeros(1, np.intp))
        return None


def dense_weights(point: ResumePoint, origin: Origin, width: int) -> Array | None:
    """Return weights (width x k) to begin with for dense rows; zero where a class is new. None if there are none."""
    if point.weights is None or len(point.weights) != width:
        return None
    near = np.zeros((width, len(origin.classes)), dtype=np.float32)
    known = np.flatnonzero(origin.classes >= 0)
    near[:, known] = point.weights[:, origin.classes[known]]
    return near


def resume_problem(problem: Problem, X: Any, alpha: csr_array, origin: Origin, own: Indices, **how: Any) -> Learnt:
    """Return what is learnt of a problem from the dual variables `alpha` of before; `how` as for `Problem.learn`."""
    start, moved = _alpha_now(alpha, origin, own), _moved(alpha, origin, own)
    if too_many(moved):
        return problem.learn(**how)
    restored = problem.learn(start=start, passes=0, **how)
    new = np.flatnonzero(origin.rows < 0)
    if len(new):
        moved |= (scores_of(X[new], restored.weights) + restored.biases > -1).any(axis=0)
    if too_many(moved):
        return problem.learn(**how)
    again = np.flatnonzero(moved)
    if not len(again):
        return restored
    return _replace_columns(restored, problem.only(again).learn(start=csr_array(start[again]), **how), again)


def resume_columns(
    problem: Problem, alpha: csr_array, origin: Origin, own: Indices, columns: Indices, **how: Any
) -> Learnt:
    """Return the weights of some columns, learnt again, and the dual variables of all."""
    start = _alpha_now(alpha, origin, own)
    learnt = problem.only(columns).learn(start=csr_array(start[columns]), **how)
    return learnt._replace(alpha=_replace_rows(start, learnt.alpha, columns))


def too_many(moved: Flags) -> bool:
    """Tell whether so many columns are to be trained again that all are, from nothing."""
    return bool(moved.mean() > MOST_MOVED)


def _own_before(origin: Origin) -> Indices:
    """Return the column, as it is numbered now, that was each row's own; -1: none that is still there; -2: new row."""
    known = np.flatnonzero(origin.classes >= 0)
    now = np.full(max(origin.was.max(initial=-1), origin.classes.max(initial=-1)) + 2, -1)  # the last one is for -1
    now[origin.classes[known]] = known
    return np.where(origin.rows < 0, -2, now[origin.was])


def _moved(alpha: csr_array, origin: Origin, own: Indices) -> Flags:
    """Tell which columns are to be trained again whatever the new rows are like."""
    moved = origin.classes < 0
    if not origin.same_rows:
        return np.ones_like(moved)
    before = _own_before(origin)
    for numbers in (before[before != own], own[before != own]):
        moved[numbers[numbers >= 0]] = True
    gone = np.ones(alpha.shape[1], dtype=np.bool_)
    gone[origin.rows[origin.rows >= 0]] = False
    if gone.any():
        leant = np.diff(csr_array(alpha[:, np.flatnonzero(gone)]).indptr) > 0
        moved |= np.append(leant, False)[origin.classes]  # the last one is for new classes
    return moved


def _alpha_now(alpha: csr_array, origin: Origin, own: Indices) -> csr_array:
    """Return dual variables of the rows and columns of now: zero for new rows, and for rows on another side now."""
    number = np.full(alpha.shape[1], -1)
    there = np.flatnonzero(origin.rows >= 0)
    number[origin.rows[there]] = there
    known = csr_array(alpha[np.maximum(origin.classes, 0)])
    column = np.repeat(np.arange(len(origin.classes)), np.diff(known.indptr))
    row, before = number[known.indices], _own_before(origin)
    kept = (row >= 0) & (origin.classes[column] >= 0) & ((before[row] == column) == (own[row] == column))
    starts = np.concatenate([[0], np.cumsum(np.bincount(column[kept], minlength=len(origin.classes)))])
    found = csr_array((known.data[kept], row[kept], starts), shape=(len(origin.classes), len(own)))
    found.sort_indices()
    return found


def _replace_columns(restored: Learnt, learnt: Learnt, again: Indices) -> Learnt:
    """Return what was restored, with some columns as they were learnt again; what was restored is written to."""
    weights, biases, alpha = restored
    biases[again] = learnt.biases
    alpha = _replace_rows(alpha, learnt.alpha, again)
    if not isinstance(weights, csr_array):
        weights[:, again] = learnt.weights
        return Learnt(weights, biases, alpha)
    columns = _replace_rows(csr_array(weights.T), csr_array(learnt.weights.T), again)
    return Learnt(csr_array(columns.T), biases, alpha)


def _replace_rows(rows: csr_array, others: csr_array, again: Indices) -> csr_array:
    """Return a matrix with some rows replaced."""
    kept = np.delete(np.arange(rows.shape[0]), again)
    above = csr_array(rows[kept])
    starts = np.concatenate([above.indptr, above.indptr[-1] + others.indptr[1:]])
    parts = (np.concatenate([getattr(above, name), getattr(others, name)]) for name in ("data", "indices"))
    order = np.argsort(np.concatenate([kept, again]))
    return csr_array(csr_array((*parts, starts), shape=rows.shape)[order])
