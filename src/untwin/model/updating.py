"""Incremental updates: add, relabel or remove rows. The selection is not repeated; out-of-fold answers are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from untwin._values import positions
from untwin.crossfit.folds import identical_rows
from untwin.data.encode import TableEncoder
from untwin.model.features.inputs import stack_rows
from untwin.model.out_of_fold import OutOfFoldAnswers
from untwin.model.records import Drift, UpdateReport
from untwin.model.row_ids import more_ids, places_of_ids
from untwin.model.state import FULL, FittedState

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from untwin._types import Array, Flags, Floats32
    from untwin.model.out_of_fold import Answer


def add_rows(
    known: FittedState, given: Any, y: Array, log_p: Floats32, predicted: Array, *, ids: ArrayLike | None
) -> tuple[FittedState, UpdateReport]:
    """Return the state after it has learnt new rows named `ids`, and a report.

    `log_p` and `predicted` are the answers to these rows from before the update.
    """
    labels = _join_labels(known.y, y)
    names = more_ids(known.ids, known.n_arrived, ids, len(y))
    new = np.arange(len(known.y), len(labels))
    view = known.view.grow(given)
    prepared = view.prepare(labels)
    ensemble = known.ensemble.refit(view, prepared, labels)
    again = learnt_before(known, given)
    fresh = ~(_find_repeated(view.rows, len(known.y)) if again is None else again)
    asked = fresh & np.isin(y, known.ensemble.classes)
    answers = known.answers.append_rows(new, y, log_p, predicted, asked=asked, classes=ensemble.classes)
    n_arrived = known.n_arrived + len(new)
    after = FittedState(view, ensemble, answers, prepared.preprocessing, labels, names, n_arrived)
    accuracy = float((predicted == y)[fresh].mean()) if fresh.any() else None
    record = _record(known, after, len(new))
    return after, replace(record, n_learnt_before=int((~fresh).sum()), accuracy_before=accuracy)


def relabel_rows(known: FittedState, ids: ArrayLike, y: Array, answer: Answer) -> tuple[FittedState, UpdateReport]:
    """Return the state after training rows got other labels, and a report.

    Out-of-fold answers are scored by the new labels. The probability of a class that is gone goes to the classes that
    its rows have now.
    """
    places = places_of_ids(ids, known.ids)
    if len(places) != len(y):
        raise ValueError(f"y must have one label for each of the {len(places)} ids. Got {len(y)} instead.")
    labels = _join_labels(known.y, y)[: len(known.y)].copy()  # wide enough for the new names
    labels[places] = y
    _require_two(labels)
    prepared = known.view.prepare(labels)
    ensemble = known.ensemble.refit(known.view, prepared, labels)
    heirs = _heirs(known.y, labels, known.ensemble.classes, ensemble.classes)
    answers = known.answers.reassign_classes(heirs, ensemble.classes, labels, answer)
    after = replace(
        known, ensemble=ensemble, answers=answers, preprocessing=prepared.preprocessing, y=labels, kept=FULL
    )
    return after, _record(known, after, len(places))


def remove_rows(known: FittedState, ids: ArrayLike, answer: Answer) -> tuple[FittedState, UpdateReport]:
    """Return the state without some training rows, and a report.

    A class without rows is dropped, and its probability in out-of-fold answers is divided among the others.
    """
    gone = places_of_ids(ids, known.ids)
    kept = np.delete(np.arange(len(known.y)), gone)
    labels = known.y[kept]
    _require_two(labels)
    view = known.view.take(kept)
    prepared = view.prepare(labels)
    ensemble = known.ensemble.refit(view, prepared, labels)
    heirs = _heirs(labels, labels, known.ensemble.classes, ensemble.classes)
    answers = known.answers.drop_rows(gone, len(known.y))
    if len(answers.rows):
        answers = answers.reassign_classes(heirs, ensemble.classes, labels, answer)
    else:  # none of the sampled rows with an out-of-fold answer is left
        answers = OutOfFoldAnswers.nothing(labels)
    after = FittedState(
        view, ensemble, answers, prepared.preprocessing, labels, ids=known.ids[kept], n_arrived=known.n_arrived
    )
    return after, _record(known, after, len(gone))


def _heirs(before: Array, after: Array, old: Array, new: Array) -> csr_array:
    """Return old x new classes: 1 for a class that is still there, else the shares of the classes its rows have now."""
    stays = np.isin(old, new)
    rows = ~stays[positions(before, old)]
    here = np.concatenate([np.flatnonzero(stays), positions(before[rows], old)])
    there = positions(np.concatenate([old[stays], after[rows]]), new)
    counts = csr_array((np.ones(len(here)), (here, there)), shape=(len(old), len(new)))
    return csr_array(normalize(counts, norm="l1"))


def learnt_before(known: FittedState, given: Any) -> Flags | None:
    """Tell which rows are equal to a training row; None where the documents to compare with are not kept."""
    if known.documents is None:
        return None
    if isinstance(given, list):
        texts = set(known.documents)
        return np.array([text in texts for text in given], dtype=np.bool_)
    return _find_repeated(stack_rows([known.documents, given]), len(known.y))


def drift_of(known: FittedState, given: Any, y: Array, expected: float | None) -> Drift:
    """Measure how rows with labels differ from the training rows; `expected` is the accuracy that the fit promised."""
    codes = np.unique(_join_labels(known.y, y), return_inverse=True)[1]
    n_old, n_classes = len(known.y), codes.max() + 1
    old, new = (np.bincount(part, minlength=n_classes) / len(part) for part in (codes[:n_old], codes[n_old:]))
    return Drift(expected, float(known.without_evidence(given).mean()), float(abs(old - new).sum() / 2))


def _find_repeated(rows: Any, n_old: int) -> Flags:
    """Tell which of the rows after the first `n_old` equal one of the first: the model knew them when it answered."""
    number = identical_rows(rows)
    return np.isin(number[n_old:], number[:n_old])


def _record(before: FittedState, after: FittedState, n_rows: int) -> UpdateReport:
    old, new = before.ensemble.classes, after.ensemble.classes
    return UpdateReport(
        n_rows=n_rows,
        n_learnt_before=0,
        accuracy_before=None,
        new_classes=tuple(np.setdiff1d(new, old).tolist()),
        lost_classes=tuple(np.setdiff1d(old, new).tolist()),
        n_new_terms=after.n_terms - before.n_terms + len(_terms_of_cells(after) - _terms_of_cells(before)),
        refitted=tuple(member.name for member in after.ensemble.members),
    )


def _terms_of_cells(known: FittedState) -> set[str]:
    """Return the words and names among the terms of a table; not intervals, which change with every fit."""
    encoder = known.preprocessing
    if not isinstance(encoder, TableEncoder):
        return set()
    names, readable = encoder.get_feature_names_out(), encoder.readable_
    parts = [encoder.blocks_[use.name] for use in encoder.columns_ if use.role in ("text", "nominal")]
    return {name for part in parts for name in names[part][readable[part]].tolist()}


def _join_labels(old: Array, new: Array) -> Array:
    if _kind(new) != _kind(old):
        raise ValueError(f"y must hold labels of the kind that fit saw ({old.dtype}). Got {new.dtype} instead.")
    return np.concatenate([old, new])


def _kind(labels: Array) -> str:
    """Return the kind of labels: mixing numbers with truth values would make one class of 1 and True."""
    return "truth" if labels.dtype.kind == "b" else "number" if labels.dtype.kind in "iuf" else "text"


def _require_two(labels: Array) -> None:
    if len(np.unique(labels)) < 2:
        raise ValueError("At least two classes must be left. Got one class instead.")
