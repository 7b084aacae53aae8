"""Carry a planned change out: what is answered at once, what is learnt on the rows afterwards, rows that come back."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from untwin._compat import is_sparse
from untwin._errors import InputError
from untwin.model.history.redirecting import redirect_state
from untwin.model.ordinal import class_order
from untwin.model.records import UpdateReport
from untwin.model.selection.comparison import Comparison
from untwin.model.selection.select import expected_scores
from untwin.model.updating import Update, add_rows, relabel_rows, remove_rows, report_of, still_noted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from untwin._types import Array
    from untwin.model.classifier import UntwinClassifier
    from untwin.taxonomy.events import RowNote


def answer_by(model: UntwinClassifier, becomes: Mapping[Any, Any]) -> Update:
    """Return the update after which classes are answered as what they have become, with nothing trained."""
    after, change = redirect_state(model, becomes)
    answers, scores = after.answers, model.scores_
    if answers.held.any():
        order = class_order(model.order, answers.classes, model.scoring)
        comparison = Comparison(answers.classes, answers.true, answers.folds, model.scoring, order)
        scores = expected_scores(comparison, answers.said)
    report = report_of(model.state_, after, change, "")
    moved = int((model.state_.y[change.rows] != after.y).sum()) + change.n_changed
    noted = still_noted(model, after, change)
    return Update(after, scores, None, replace(report, n_rows=moved, refitted=()), noted, None)


def learn_rows(model: UntwinClassifier, ids: Array, y: Array, gone: Array) -> Update:
    """Return the update with other labels of some rows, and without others."""
    if not len(ids):
        return remove_rows(model, gone)
    update = relabel_rows(model, ids, y)
    return remove_rows(after_update(model, update), gone) if len(gone) else update


def bring_back(model: UntwinClassifier, notes: Sequence[RowNote], y: Array) -> Update:
    """Return the update with rows that had left the model."""
    return add_rows(model, rows_of_notes(model, notes), y, [note.id for note in notes])


def after_update(model: UntwinClassifier, update: Update) -> UntwinClassifier:
    """Return a copy of the model as an update would leave it."""
    more = {"_noted": update.noted, "_held_out": update.held_out}
    return copy(model)._hold(update.state, scores_=update.scores, **more)


def require_contents(notes: Sequence[RowNote], wanted: Sequence[str]) -> list[RowNote]:
    """Return what the log knows of rows; raise InputError if it does not hold what was in them."""
    known = {note.id: note for note in notes if note.content is not None}
    absent = [row for row in wanted if row not in known]
    if absent:
        message = f"Row {absent[0]!r} has left the model, and the log does not hold what was in it."
        hint = "Add the rows again with `untwin add`."
        raise InputError(message, code="rows-gone", hint=hint)
    return [known[row] for row in wanted]


def rows_of_notes(model: UntwinClassifier, notes: Sequence[RowNote]) -> Any:
    """Return rows as the model takes them."""
    rows, contents = model.state_.view.given, [note.content for note in notes]
    if isinstance(rows, pl.DataFrame):
        return pl.DataFrame(contents, schema=rows.schema)
    if isinstance(rows, list):
        return contents
    if not is_sparse(rows):
        return np.array(contents, dtype=rows.dtype)
    starts = np.cumsum([0, *(len(one["columns"]) for one in contents)])
    columns, values = (np.concatenate([one[name] for one in contents]) for name in ("columns", "values"))
    shape = (len(contents), rows.shape[1])
    return csr_array((values.astype(rows.dtype), columns.astype(np.intp), starts), shape=shape)


def nothing_learnt() -> UpdateReport:
    """Return the report of a change that concerns no row and no name."""
    nothing: Any = ()
    return UpdateReport(
        n_rows=0,
        new_classes=nothing,
        lost_classes=nothing,
        n_new_terms=0,
        label_effect=None,
        model_effect=None,
        flipped=nothing,
        twins_gone=nothing,
        twins_new=nothing,
        refitted=nothing,
    )
