"""What a change of labels or rows did to held-out answers: the effect of the labels, and that of the model, apart.

A corrected label raises the measured accuracy at once if the model had always answered so: nothing was learnt. So the
answers before the change are first judged by the labels after it (label effect); only then are they compared with the
answers after it (model effect). Both on the rows that were held out before and after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.model.findings.twins import twin_pairs
from untwin.model.learning import places_of
from untwin.model.records import Flip
from untwin.model.selection.comparison import paired_effect

if TYPE_CHECKING:
    from untwin._types import Array, Indices
    from untwin.model.state import FittedState
    from untwin.tables.confusion import Confusion


def effects(before: FittedState, after: FittedState, rows: Indices) -> dict[str, Any]:
    """Return effects, flipped answers and twins as `UpdateReport` holds them.

    `rows` are the numbers that the rows after the change had before it; -1: new.
    """
    here, there = _common_rows(before, after, rows)
    twins_before, twins_after = (_twins(known.answers.confusion) for known in (before, after))
    found: dict[str, Any] = {
        "label_effect": None,
        "model_effect": None,
        "flipped": (),
        "twins_gone": tuple(sorted(twins_before - twins_after)),
        "twins_new": tuple(sorted(twins_after - twins_before)),
    }
    if not len(here):
        return found
    old, new = before.answers, after.answers
    said = renamed(before, after, rows)[old.said[there]]
    label, label_before, answer = new.y[here], old.y[there], new.predicted[here]
    right_before, right_between, right_after = old.predicted[there] == label_before, said == label, answer == label
    flipped = np.flatnonzero(said != answer)
    names = after.ids[new.rows[here[flipped]]]
    parts = (names, label[flipped], said[flipped], answer[flipped])
    return found | {
        "label_effect": paired_effect(right_before, right_between),
        "model_effect": paired_effect(right_between, right_after),
        "flipped": tuple(Flip(*flip) for flip in zip(*(part.tolist() for part in parts), strict=True)),
    }


def renamed(before: FittedState, after: FittedState, rows: Indices) -> Array:
    """Return for each class before the change its name after it: of one that is gone, what most of its rows are now.

    So an answer is not wrong because its class has another name now. A class whose rows are gone keeps its name.
    """
    old = before.ensemble.classes
    names = old.astype(np.promote_types(old.dtype, after.y.dtype))
    for number in np.flatnonzero(places_of(old, after.ensemble.classes) < 0).tolist():
        now = after.y[(rows >= 0) & (before.y[rows] == old[number])]
        if len(now):
            found, counts = np.unique(now, return_counts=True)
            names[number] = found[counts.argmax()]
    return names


def _common_rows(before: FittedState, after: FittedState, rows: Indices) -> tuple[Indices, Indices]:
    """Return the places, among the answers after and before, of the rows that were held out both times."""
    place = np.full(len(before.y) + 1, -1)  # the last one is for new rows
    place[before.answers.rows] = np.where(before.answers.held, np.arange(len(before.answers.rows)), -1)
    there = place[rows[after.answers.rows]]
    here = np.flatnonzero(after.answers.held & (there >= 0))
    return here, there[here]


def _twins(confusion: Confusion) -> set[tuple[Any, Any]]:
    pairs = twin_pairs(confusion)
    return set(zip(pairs["a"].tolist(), pairs["b"].tolist(), strict=True))
