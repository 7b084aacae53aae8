"""What thresholds would give, and which predictions experts change, in a confusion graph classifier.

Glossary
--------
found    candidates of held-out rows (classify/candidates.py), with edges from other folds than the row's own
bound    share of rows whose class is among their candidates: the accuracy of perfect experts
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.structure.graph import ConfusionGraph

if TYPE_CHECKING:
    from collections.abc import Iterable

    from untwin._types import Array, Indices
    from untwin.classify.graph.candidates import Candidates
    from untwin.tables.confusion import Confusion

KEPT = 0.99  # of the rows that experts could save, the sparest threshold keeps so many


class SweepRow(NamedTuple):
    """What a threshold gives: edges, candidates a row, the accuracy that perfect experts would reach out of fold."""

    threshold: float | None
    n_edges: int
    mean_candidates: float
    upper_bound: float


class Change(NamedTuple):
    """Where the base says `predicted` and experts `became`: how often they were right, the base was, neither was."""

    predicted: Any
    became: Any
    corrected: int
    broke: int
    neither: int


def sweep(
    found: Candidates, truth: Indices, confusion: Confusion, thresholds: Iterable[float | None]
) -> list[SweepRow]:
    """Return the graph's size and accuracy bound for each threshold; None: no graph."""
    rows = []
    for threshold in thresholds:
        kept = found.within(threshold)
        n_edges = ConfusionGraph.from_confusion(confusion, threshold or 0.0).incidence.nnz
        bound = float(kept.hits(truth).any(axis=1).mean())
        rows.append(SweepRow(threshold, n_edges, float(kept.open.sum(axis=1).mean()), bound))
    return rows


def sparest(rows: list[SweepRow], accuracy: float) -> SweepRow:
    """Return the last row that keeps nearly all that experts could add to the base's `accuracy` in the first."""
    enough = accuracy + KEPT * (rows[0].upper_bound - accuracy)
    return [rows[0], *(row for row in rows[1:] if row.upper_bound >= enough)][-1]


def changes(truth: Indices, before: Indices, after: Indices, classes: Array) -> list[Change]:
    """Return counts of rows whose class experts changed, by (base's class, experts' class)."""
    changed = np.flatnonzero(before != after)
    truth, before, after = truth[changed], before[changed], after[changed]
    pairs, number = np.unique(np.column_stack([before, after]), axis=0, return_inverse=True)
    corrected = np.bincount(number, truth == after, minlength=len(pairs)).astype(int)
    broke = np.bincount(number, truth == before, minlength=len(pairs)).astype(int)
    neither = np.bincount(number, minlength=len(pairs)) - corrected - broke
    best = np.lexsort([*pairs.T[::-1], broke - corrected])
    columns = [*classes[pairs[best].T], corrected[best], broke[best], neither[best]]
    return [Change(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
