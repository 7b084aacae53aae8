"""Add, relabel or remove rows: the chosen members go on from where they were, and so do held-out answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.crossfit.folds import NothingHeldOutError, identical_rows
from untwin.data.encode import TableEncoder
from untwin.model.effects import effects
from untwin.model.features.inputs import stack_rows
from untwin.model.findings.nearest import carry_neighbours
from untwin.model.fitting import fit_again, rules_of
from untwin.model.records import Drift, UpdateReport
from untwin.model.relearning import RowChange, relearn
from untwin.model.row_ids import more_ids, places_of_ids

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from untwin._types import Array, Flags, Floats32
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.selection.comparison import Candidate
    from untwin.model.state import FittedState

MANY_CHANGES = 0.1  # share of the rows changed since the fit from which on the choice of candidates is made again


class Update(NamedTuple):
    """The state after a change, the scores to expect, the candidates if there was a new selection, and a report.

    `noted` is what holds good of what the model had measured, `held_out` what the next change can go on from.
    """

    state: FittedState
    scores: dict[str, float]
    candidates: list[Candidate] | None
    report: UpdateReport
    noted: dict[str, Any]
    held_out: dict[str, Floats32] | None


def add_rows(model: UntwinClassifier, given: Any, y: Array, ids: ArrayLike | None) -> Update:
    """Return the model's update with new rows named `ids`."""
    known = model.state_
    labels = join_labels(known.y, y)
    log_p, _ = known.log_proba(given)
    predicted = model._answer(log_p)
    change = RowChange(
        view=known.view.grow(given),
        y=labels,
        ids=more_ids(known.ids, known.n_arrived, ids, len(y)),
        n_arrived=known.n_arrived + len(y),
        rows=np.concatenate([np.arange(len(known.y)), np.full(len(y), -1)]),
        n_changed=len(y),
    )
    again = learnt_before(known, given)
    fresh = ~(_find_repeated(change.view.rows, len(known.y)) if again is None else again)
    update = _update(model, change)
    accuracy = float((predicted == y)[fresh].mean()) if fresh.any() else None
    report = replace(update.report, n_learnt_before=int((~fresh).sum()), accuracy_before=accuracy)
    return update._replace(report=report)


def relabel_rows(model: UntwinClassifier, ids: ArrayLike, y: Array) -> Update:
    """Return the model's update with other labels of the training rows named `ids`."""
    known = model.state_
    places = places_of_ids(ids, known.ids)
    if len(places) != len(y):
        raise ValueError(f"y must have one label for each of the {len(places)} ids. Got {len(y)} instead.")
    labels = join_labels(known.y, y)[: len(known.y)].copy()  # wide enough for the new names
    labels[places] = y
    _require_two(labels)
    rows = np.arange(len(labels))
    return _update(model, RowChange(known.view, labels, known.ids, known.n_arrived, rows, len(places)))


def remove_rows(model: UntwinClassifier, ids: ArrayLike, anew: str = "") -> Update:
    """Return the model's update without the training rows named `ids`; `anew`: why it must be fitted from nothing."""
    known = model.state_
    gone = places_of_ids(ids, known.ids)
    kept = np.delete(np.arange(len(known.y)), gone)
    labels = known.y[kept]
    _require_two(labels)
    change = RowChange(known.view.take(kept), labels, known.ids[kept], known.n_arrived, kept, len(gone))
    return _update(model, change, anew)


def _update(model: UntwinClassifier, change: RowChange, anew: str = "") -> Update:
    """Return the update with a change: by learning on, or from nothing where that is not good enough."""
    known, why = model.state_, anew or _why_anew(model.state_, change)
    try:
        if not why:
            after, scores, held_out = relearn(known, change, rules_of(model, change.y), model._held_out)
            noted = still_noted(model, after, change)
            return Update(after, scores, None, report_of(known, after, change, ""), noted, held_out)
    except NothingHeldOutError:
        why = "no row can be held out any more"
    after, choice = fit_again(model, change)
    noted = {name: value for name, value in model._noted.items() if name == "parents"}
    return Update(after, choice.scores, choice.candidates, report_of(known, after, change, why), noted, None)


def still_noted(model: UntwinClassifier, after: FittedState, change: RowChange) -> dict[str, Any]:
    """Return what a change leaves of what has been measured.

    The known tree, neighbours, and, where so little has changed that temperatures stay, the chance to be of no class.
    """
    kept = {"parents", "unknown_chance"} if after.learning is not None and after.learning.uncalibrated else {"parents"}
    left = {name: value for name, value in model._noted.items() if name in kept}
    return left | carry_neighbours(model._noted, model.state_, after, change.rows)


def _why_anew(known: FittedState, change: RowChange) -> str:
    """Return why learning on would not be good enough; nothing if it is."""
    if known.learning is None:
        return "no row could be held out before"
    changed = known.learning.changed + change.n_changed
    if changed > MANY_CHANGES * len(change.y):
        return f"{changed:,} changes since the fit, for {len(change.y):,} rows"
    return ""


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
    codes = np.unique(join_labels(known.y, y), return_inverse=True)[1]
    n_old, n_classes = len(known.y), codes.max() + 1
    old, new = (np.bincount(part, minlength=n_classes) / len(part) for part in (codes[:n_old], codes[n_old:]))
    return Drift(expected, float(known.without_evidence(given).mean()), float(abs(old - new).sum() / 2))


def _find_repeated(rows: Any, n_old: int) -> Flags:
    """Tell which of the rows after the first `n_old` equal one of the first: the model knew them when it answered."""
    number = identical_rows(rows)
    return np.isin(number[n_old:], number[:n_old])


def report_of(before: FittedState, after: FittedState, change: RowChange, fitted_anew: str) -> UpdateReport:
    """Return what a change did to the state of a model."""
    old, new = before.ensemble.classes, after.ensemble.classes
    return UpdateReport(
        n_rows=change.n_changed,
        new_classes=tuple(np.setdiff1d(new, old).tolist()),
        lost_classes=tuple(np.setdiff1d(old, new).tolist()),
        n_new_terms=after.n_terms - before.n_terms + len(_terms_of_cells(after) - _terms_of_cells(before)),
        **effects(before, after, change.rows),
        refitted=tuple(member.name for member in after.ensemble.members),
        fitted_anew=fitted_anew,
    )


def _terms_of_cells(known: FittedState) -> set[str]:
    """Return the words and names among the terms of a table; not intervals, which change with every fit."""
    encoder = known.preprocessing
    if not isinstance(encoder, TableEncoder):
        return set()
    names, readable = encoder.get_feature_names_out(), encoder.readable_
    parts = [encoder.blocks_[use.name] for use in encoder.columns_ if use.role in ("text", "nominal")]
    return {name for part in parts for name in names[part][readable[part]].tolist()}


def join_labels(old: Array, new: Array) -> Array:
    """Return labels one after the other; raise ValueError if they are of different kinds."""
    if _kind(new) != _kind(old):
        raise ValueError(f"y must hold labels of the kind that fit saw ({old.dtype}). Got {new.dtype} instead.")
    return np.concatenate([old, new])


def _kind(labels: Array) -> str:
    """Return the kind of labels: mixing numbers with truth values would make one class of 1 and True."""
    return "truth" if labels.dtype.kind == "b" else "number" if labels.dtype.kind in "iuf" else "text"


def _require_two(labels: Array) -> None:
    if len(np.unique(labels)) < 2:
        raise ValueError("At least two classes must be left. Got one class instead.")
