"""Descent: from the root of a tree of experts down to the classes, adding up the log-scores of the experts.

Glossary
--------
S        n x C    log-score of each class: the sum of log-scores on its way from the root
scores   n x B    log-score of the way to each branch; minus infinity where a branch is not used
beam              how many branches of a level score a row: the best ones
place    C        where a class stands in the order of the tree, in which the classes of every branch are neighbours:
                  writing to neighbouring columns is many times as fast
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.classify.experts import Job

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from untwin._types import Floats32, Indices
    from untwin.classify.experts import Expert
    from untwin.classify.multilevel.groups import Branch

UNASKED = np.float32(-2.0)  # log-score of a class in a branch outside the beam: about that of a class far from a row
RULED_OUT = np.float32(-20.0)  # log-score of what hard routing leaves behind: no expert can make up for it


def branch_jobs(branches: Sequence[Branch], codes: Indices, root: Any, expert: Any, select: Any) -> Iterator[Job]:
    """Yield the training job of each branch: the rows of its classes, by child; all but the root on selected terms."""
    child_of = np.empty(codes.max() + 1, dtype=np.intp)
    for number, branch in enumerate(branches):
        child_of[:] = -1
        child_of[branch.classes] = branch.child
        child = child_of[codes]
        rows = np.flatnonzero(child >= 0)
        learner, terms = (expert, select) if number else (root, None)
        yield Job(rows, child[rows], learner, terms)


@dataclass(frozen=True, slots=True, eq=False)
class ExpertTree:
    """Branches, each with the expert that decides between its children."""

    branches: tuple[Branch, ...]
    experts: tuple[Expert, ...]

    @property
    def groups(self) -> Indices:
        """The group of each class: the child of the root it belongs to."""
        return self.branches[0].child

    @property
    def flat(self) -> bool:
        """Whether the root decides between all classes."""
        return len(self.branches) == 1

    def descend(self, X: Any, beam: int | None = None) -> Floats32:
        """Return S; classes in branches outside the beam get their branch's score and `UNASKED`."""
        n = X.shape[0]
        starts, place = self._layout()
        S = np.zeros((n, len(place)), dtype=np.float32)
        scores = np.full((n, len(self.branches)), -np.inf, dtype=np.float32)
        scores[:, 0] = 0.0
        for level in self._levels():
            _narrow(scores, level, beam)
            for number in level:
                self._ask(X, number, scores, S[:, starts[number] :], hard=beam == 1)
        return np.take(S, place, axis=1)

    def _layout(self) -> tuple[list[int], Indices]:
        """Return where the classes of each branch begin in the order of the tree, and the place of each class."""
        starts = [0] * len(self.branches)
        place = np.empty(len(self.branches[0].classes), dtype=np.intp)
        for branch, start in zip(self.branches, starts, strict=True):  # parents first: a start is known when needed
            ends = start + np.cumsum(np.bincount(branch.child))
            leaves = branch.below[branch.child] < 0
            place[branch.classes[leaves]] = ends[branch.child[leaves]] - 1
            for below, begin in zip(branch.below.tolist(), [start, *ends.tolist()], strict=False):
                if below >= 0:
                    starts[below] = begin
        return starts, place

    def _levels(self) -> Iterator[list[int]]:
        """Yield the branches of each level, from the root down."""
        level = [0]
        while level:
            yield level
            level = [below for number in level for below in self.branches[number].below.tolist() if below >= 0]

    def _ask(self, X: Any, number: int, scores: Floats32, S: Floats32, *, hard: bool) -> None:
        """Add the scores of a branch's expert to the rows that reach it; its classes are the first columns of S."""
        branch = self.branches[number]
        rows = np.flatnonzero(np.isfinite(scores[:, number]))
        said = self.experts[number].log_scores(X[rows] if len(rows) < len(scores) else X)
        said = said + scores[rows, number, np.newaxis]
        inner = np.flatnonzero(branch.below >= 0)
        if hard and inner.size:
            said[said < said.max(axis=1, keepdims=True)] += RULED_OUT  # groups of one class too
        scores[np.ix_(rows, branch.below[inner])] = said[:, inner]
        said[:, inner] += UNASKED  # until the expert below is asked, if it is
        S[rows, : len(branch.classes)] = np.repeat(said, np.bincount(branch.child), axis=1)


def _narrow(scores: Floats32, level: list[int], beam: int | None) -> None:
    """Close all branches of a level but the best `beam` of each row."""
    if beam is None or len(level) <= beam:
        return
    mine = scores[:, level]
    bar = np.partition(mine, len(level) - beam, axis=1)[:, len(level) - beam, np.newaxis]
    scores[:, level] = np.where(mine >= bar, mine, -np.inf)
