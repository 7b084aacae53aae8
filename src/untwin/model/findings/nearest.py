"""The nearest rows of other folds: where most of them have another label, a row's own is in doubt.

A change of a few rows or labels takes no neighbour away but those that are gone. So they are carried over, and only new
rows are searched for; after many changes all are searched for again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._values import freeze
from untwin.classify.knn.classifier import KNNClassifier
from untwin.model.selection.sampling import stratified_sample
from untwin.represent.term_weights import TermWeights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin._types import Array, Indices
    from untwin.model.out_of_fold import OutOfFoldAnswers
    from untwin.model.state import FittedState

NEIGHBOURS = 20  # wrong labels are found better by twenty neighbours than by ten (bench/labels.py)
# Comparing all rows with all takes minutes beyond so many. Then only rows whose label is in doubt, since the model
# answered otherwise, are compared, with a sample of so many; a row without neighbours is believed as the model says.
MANY_ROWS = 50_000
MANY_CHANGES = 0.1  # share of the rows changed since all neighbours were searched for from which on they are again


def neighbours_of_other_folds(X: Any, answers: OutOfFoldAnswers, known: Array | None = None) -> Array:
    """Return for each row the nearest rows of other folds by their terms; -1 where nobody was asked.

    `known` are neighbours found before: only rows without any are searched for.
    """
    n, folds = len(answers.rows), answers.folds
    found = np.full((n, NEIGHBOURS), -1, dtype=np.int32) if known is None else known.copy()  # saved: half the bytes
    in_doubt, searched = answers.held & (found < 0).all(axis=1), np.arange(n)
    if n > MANY_ROWS:
        in_doubt &= answers.said != answers.true
        searched = stratified_sample(answers.true, MANY_ROWS, 0)
    for fold in np.unique(folds[in_doubt]):
        asked, others = np.flatnonzero(in_doubt & (folds == fold)), searched[folds[searched] != fold]
        reach = min(found.shape[1], len(others))
        if not reach:
            continue
        knn = KNNClassifier(n_neighbors=reach).fit(X[others], np.zeros(len(others), dtype=np.intp))
        found[asked, :reach] = others[knn.kneighbors(X[asked])[1]]
    return freeze(found)


def carry_neighbours(
    noted: Mapping[str, Any], before: FittedState, after: FittedState, rows: Indices
) -> dict[str, Any]:
    """Return what is noted of neighbours after a change; nothing if all have to be searched for again.

    `rows` are the numbers that the rows after the change had before; -1: new, and still without neighbours.
    """
    near, same_terms = (
        noted.get("neighbours", noted.get("carried")),
        isinstance(after.view.preprocessing, TermWeights | None),
    )
    if near is None or after.learning is None or not same_terms:  # other terms depend on labels
        return {}
    if after.learning.changed - noted["searched_at"] > MANY_CHANGES * len(after.y):
        return {}
    answers, folds = before.answers, after.answers.folds
    place = np.full(len(before.y) + 1, -1)  # the last one is for new rows
    place[answers.rows] = np.arange(len(answers.rows))
    old = place[rows[after.answers.rows]]
    now = np.full(len(answers.rows) + 1, -1, dtype=np.int32)  # the last one is for no neighbour
    now[old[old >= 0]] = np.flatnonzero(old >= 0)
    found = np.where((old >= 0)[:, np.newaxis], now[near[old]], np.int32(-1))
    found[folds[found] == folds[:, np.newaxis]] = -1
    found = np.take_along_axis(found, np.argsort(found < 0, axis=1, kind="stable"), axis=1)
    return {"carried": freeze(found), "searched_at": noted["searched_at"]}
