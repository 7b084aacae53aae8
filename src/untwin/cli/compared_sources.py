"""Old and new answers to the same rows, from models or from tables of answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin.cli.input_errors import as_input_errors
from untwin.cli.loaded_model import LoadedModel, load_answers_for, load_model_for
from untwin.cli.options import let_interrupt_reading
from untwin.data.answer_tables import answers_in, rows_answered, sets_in, settle_truth, unsure_in
from untwin.data.load import labelled_for_model, read_as_meant
from untwin.export.model import is_answer_folder
from untwin.model.comparing import GivenAnswers, compare_answers
from untwin.store import holds_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin.cli.loaded_model import LoadedAnswers
    from untwin.cli.options import Input
    from untwin.data.columns import ColumnRoles
    from untwin.data.load import Table
    from untwin.data.read import RawTable
    from untwin.model.comparing import AnswerComparison

    Model = LoadedModel | LoadedAnswers


@dataclass(frozen=True, slots=True)
class SourcesCompared:
    """A comparison, what was left out while reading, and how many of its rows each model has learnt."""

    found: AnswerComparison
    notes: Sequence[dict[str, Any]]
    learnt: dict[str, int]

    def record(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {"notes": self.notes, "learnt_rows": self.learnt, **self.found.to_dict()}


def compare_sources(old: tuple[str, str], new: tuple[str, str], data: str, given: Input) -> SourcesCompared:
    """Read the rows once, answer them or look the answers up, and compare; `old` and `new` are sources with columns."""
    let_interrupt_reading()
    models = [_load(place, given) if holds_model(place) else None for place, _ in (old, new)]
    raw = read_as_meant(data, given.read)
    known = [model.columns.here for model in models if model is not None]
    roles = _truth_of(raw, known, given)
    tables = [labelled_for_model(raw, _with_truth(one, roles), missing_label=given.missing_label) for one in known]
    truth = tables[0] if tables else labelled_for_model(raw, roles, missing_label=given.missing_label)
    judged = _judged(truth)
    learnt: dict[str, int] = {}
    typed = iter(tables)
    answers = []
    for (place, column), name, model in zip((old, new), ("old", "new"), models, strict=True):
        if model is None:
            answers.append(_looked_up(place, column, name, judged=judged, height=raw.frame.height, given=given))
        else:
            answers.append(_answered(place, model, _judged(next(typed)), learnt))
    with as_input_errors(judged.places.name):
        found = compare_answers(judged.y, *answers, ids=np.array(judged.places.marks()))
    return SourcesCompared(found, [asdict(note) for note in judged.notes], learnt)


def _load(place: str, given: Input) -> Model:
    """Return a model, or the part of one that answers where there is no more."""
    if is_answer_folder(place):
        return load_answers_for(place, given.roles)
    return load_model_for(place, given.roles, explains=False)


def _truth_of(raw: RawTable, known: Sequence[ColumnRoles], given: Input) -> ColumnRoles:
    """Return which columns hold labels, ids and parts: as named, else as the first model has them, else as guessed."""
    if not known:
        return settle_truth(raw, given.roles)
    first = known[0]
    columns = set(raw.frame.columns)
    named = replace(
        given.roles,
        label=given.roles.label or first.label,
        id=given.roles.id or (first.id if first.id in columns else None),
        split=given.roles.split or next((one.split for one in known if one.split in columns), None),
    )
    return settle_truth(raw, named)


def _with_truth(one: ColumnRoles, roles: ColumnRoles) -> ColumnRoles:
    """Return the columns that a model reads beside those that are judged by."""
    return replace(one, label=roles.label, id=roles.id, split=roles.split, group=None, parent=None)


def _judged(table: Table) -> Table:
    """Return the rows marked as test if the parts are told, else all."""
    others, test = table.parts()
    if table.roles.split is not None and not test.frame.height:
        message = f"{table.places.name}, column {table.roles.split!r}: no row is marked as test."
        raise InputError(message, code="no-test-rows", hint="Mark some, or leave the column out of the file.")
    return test if test.frame.height else others


def _answered(place: str, model: Model, judged: Table, learnt: dict[str, int]) -> GivenAnswers:
    """Return what a model answers; note how many of the rows it has learnt."""
    rows = model.columns.rows(judged.frame)
    with as_input_errors(judged.places.name):
        found = model.model.predict_all(rows)
        if isinstance(model, LoadedModel):
            known = model.model.learnt(rows)
            if known is not None and known.any():
                learnt[place] = int(known.sum())
    promised = model.model.threshold_ > 0
    return GivenAnswers(found.labels, found.unsure if promised else None)


def _looked_up(place: str, column: str, name: str, *, judged: Table, height: int, given: Input) -> GivenAnswers:
    """Return the answers that a table holds for the rows; `height` is how many rows DATA has."""
    raw = read_as_meant(place, given.read)
    labels, unsure, sets = answers_in(raw, column, name), unsure_in(raw, column), sets_in(raw, column)
    rows = rows_answered(raw, judged.places, judged.roles.id, height)
    return GivenAnswers(
        labels[rows],
        None if unsure is None else unsure[rows],
        None if sets is None else [sets[row] for row in rows.tolist()],
    )
