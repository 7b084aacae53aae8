"""Candidates of a row: the classes that a fast classifier ranks highest and that the confusion graph links.

Glossary
--------
k                 how many classes are ranked for a row
codes    n x k    classes, by number, the best-ranked first: column 0 is the prediction of the base classifier
scores   n x k    scores of the base classifier for them; minus infinity: it does not know the class
open     n x k    whether the class is a candidate; column 0 always is, unless the row was never ranked
cell              a pair (row, column) of these tables
weights  n x k    of the edge from the class in column 0 to each class: the share of that class's rows which the base
                  takes for the class in column 0 (structure/graph.py); zero without an edge
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from untwin import _progress
from untwin._values import positions
from untwin.crossfit.outoffold import class_scores
from untwin.linalg.blocks import slices
from untwin.structure.graph import ConfusionGraph
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin._types import Array, Flags, Floats, Indices

BLOCK_CELLS = 1 << 22  # scores of all classes at a time: rows x classes never stand in memory as a whole


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidate classes of each row; made by `rank_classes` or `rank_out_of_fold`."""

    codes: Indices
    scores: Floats
    open: Flags
    weights: Floats

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self.codes[rows], self.scores[rows], self.open[rows], self.weights[rows])

    def linked(self, confusion: Confusion) -> Self:
        """Return the candidates with the edge weights of the graph of `confusion`."""
        incidence = ConfusionGraph.from_confusion(confusion, 0.0).incidence
        weights = incidence[np.repeat(self.codes[:, 0], self.codes.shape[1]), self.codes.ravel()]
        return replace(self, weights=np.asarray(weights).reshape(self.codes.shape))

    def within(self, threshold: float | None) -> Self:
        """Return the candidates without classes whose edge is not heavier than `threshold`; None keeps all."""
        if threshold is None:
            return self
        kept = self.weights > threshold
        kept[:, 0] = True
        return replace(self, open=self.open & kept)

    def hits(self, truth: Indices) -> Flags:
        """Return n x k: the cell of the true class, where it is open."""
        return np.asarray(self.open & (self.codes == truth[:, None]))

    def best(self, scores: Floats) -> Indices:
        """Return the code of the candidate with the largest score (n x k) in each row."""
        return np.asarray(np.take_along_axis(self.codes, scores.argmax(axis=1, keepdims=True), axis=1)[:, 0])

    def sets(self, n_classes: int) -> csr_array:
        """Return n x C: one where a class is among the open candidates of a row."""
        row, column = np.nonzero(self.open)
        cells = np.ones(len(row), dtype=np.intp), (row, self.codes[row, column])
        return csr_array(cells, shape=(len(self.codes), n_classes))


def rank_classes(model: Any, X: Any, classes: Array, k: int) -> Candidates:
    """Return the `k` classes that `model` ranks highest for each row; ties in class order except for the last place."""
    known, parts = positions(model.classes_, classes), []
    for block in slices(X.shape[0], BLOCK_CELLS // len(classes)):
        scores = _log_scores(model, X[block])
        all_scores = np.full((len(scores), len(classes)), -np.inf)
        all_scores[:, known] = scores
        parts.append(_highest(all_scores, k))
    codes, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Candidates(codes, scores, np.isfinite(scores), np.zeros(scores.shape))


def _highest(scores: Floats, k: int) -> tuple[Indices, Floats]:
    if k < scores.shape[1]:
        codes = np.sort(np.argpartition(-scores, k - 1, axis=1)[:, :k], axis=1)
        scores = np.take_along_axis(scores, codes, axis=1)
    else:
        codes = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(codes, order, axis=1), np.take_along_axis(scores, order, axis=1)


def _log_scores(model: Any, rows: Any) -> Floats:
    """Return decision values, or log-probabilities, which still rank classes whose probability rounds to zero."""
    if not hasattr(model, "decision_function") and hasattr(model, "predict_log_proba"):
        with np.errstate(divide="ignore"):  # trees say zero
            return np.asarray(model.predict_log_proba(rows))
    scores, absent = class_scores(model, rows)
    if scores is None:
        raise ValueError(f"base must have decision_function or predict_proba. Got {model!r} instead.")
    with np.errstate(divide="ignore"):
        return scores if absent else np.log(scores)


def rank_out_of_fold(
    base: Any, X: Any, y: Array, *, classes: Array, folds: tuple[Indices, Indices], k: int, n_jobs: int | None
) -> tuple[Candidates, list[Confusion]]:
    """Return the candidates of each row by a clone of `base` not trained on it, and the confusion of each fold.

    `folds` are the fold in which each row is held out, and the fold whose model is not trained on it
    (crossfit/folds.py). Edges come from the confusion of the other folds, so that a row does not add the edge to its
    own class. Rows that are never held out have no candidates.
    """
    held, parts = folds

    def rank(fold: int, rows: Indices) -> Candidates:
        others = np.flatnonzero(parts != fold)
        return rank_classes(clone(base).fit(X[others], y[others]), X[rows], classes, k)

    asked = [np.flatnonzero(held == fold) for fold in range(held.max() + 1)]
    work = [delayed(rank)(fold, rows) for fold, rows in enumerate(asked)]
    ranked = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(work)
    found: list[Candidates] = list(_progress.reporting("folds", ranked, len(work)))
    confusions = [
        Confusion.from_predictions(y[rows], classes[part.codes[:, 0]], classes=classes)
        for rows, part in zip(asked, found, strict=True)
    ]
    total = reduce(add, confusions)
    linked = [part.linked(without(total, own)) for part, own in zip(found, confusions, strict=True)]
    return _joined(linked, asked, len(y)), confusions


def without(total: Confusion, part: Confusion) -> Confusion:
    """Return the confusion of the other folds."""
    return Confusion(total.counts - part.counts, total.classes)


def _joined(found: list[Candidates], asked: list[Indices], n_rows: int) -> Candidates:
    shape = (n_rows, found[0].codes.shape[1])
    joined = Candidates(np.zeros(shape, np.intp), np.full(shape, -np.inf), np.zeros(shape, bool), np.zeros(shape))
    for rows, part in zip(asked, found, strict=True):
        joined.codes[rows], joined.scores[rows] = part.codes, part.scores
        joined.open[rows], joined.weights[rows] = part.open, part.weights
    return joined


def by_expert(experts: Indices) -> Iterator[tuple[int, Indices]]:
    """Yield each expert's number with the positions where it occurs; negative numbers mean no expert.

    >>> [(expert, places.tolist()) for expert, places in by_expert(np.array([4, 2, -1, 4]))]
    [(2, [1]), (4, [0, 3])]
    """
    order = np.argsort(experts, kind="stable")
    asked, starts = np.unique(experts[order], return_index=True)
    for expert, places in zip(asked.tolist(), np.split(order, starts[1:]), strict=True):
        if expert >= 0:
            yield expert, places
