"""Which document to explain: given in so many words, as a row, or by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin.data.columns import require_named
from untwin.data.formulas import undo_guard_of_table
from untwin.data.load import require_columns, typed_features
from untwin.data.read import read_batches
from untwin.data.read.jsonl import read_jsonl
from untwin.model.features.inputs import in_words

if TYPE_CHECKING:
    from untwin.cli.loaded_model import LoadedAnswers, LoadedModel
    from untwin.data.read import RawTable, ReadOptions
    from untwin.model import UntwinClassifier

SEARCHED = 4096  # rows at a time
SHOWN_IDS = 3


def find_row_to_explain(
    loaded: LoadedModel | LoadedAnswers,
    data: str | None,
    read: ReadOptions,
    *,
    text: str | None,
    row: str | None,
    row_id: str | None,
) -> tuple[Any, Any]:
    """Return one row as the model takes it; and what it is called, if it is a training row."""
    if text is not None:
        return _text(loaded, text), None
    if row is not None:
        return _row(loaded, row), None
    if data is not None:
        return _find_row(loaded, data, read, str(row_id)), None
    return _training_row(loaded, str(row_id))


def document_of(model: UntwinClassifier, name: Any) -> str | None:
    """Return a training row in words; None if the model was saved without them."""
    documents = model.state_.documents
    if documents is None:
        return None
    return in_words(documents[model.ids_.tolist().index(name)])


def _text(loaded: LoadedModel | LoadedAnswers, text: str) -> list[str]:
    if loaded.columns.read is None:
        return [text]
    columns = ", ".join(map(repr, loaded.columns.fitted.features))
    message = f"The model reads the columns {columns}, not one text."
    raise InputError(message, code="not-texts", hint='Give the row: --row \'{"column": "value", ...}\'.')


def _row(loaded: LoadedModel | LoadedAnswers, row: str) -> Any:
    hint = 'Give one JSON object with the columns of the fit, as in {"column": "value"}; null where there is no value.'
    try:
        raw = next(read_jsonl([row.encode()], "--row", 0)).table
        return loaded.columns.rows(typed_features(raw, loaded.columns.here))
    except InputError as error:
        raise InputError(error.message, code=error.code, hint=hint) from None


def _find_row(loaded: LoadedModel | LoadedAnswers, data: str, read: ReadOptions, wanted: str) -> Any:
    """Return the row of a table that has this id; its number, where the table has no id column."""
    for batch in read_batches(data, read, SEARCHED):
        if batch.cells.height == 0:  # bad rows alone
            continue
        table = undo_guard_of_table(batch.raw)
        require_named(table, loaded.columns.named)
        require_columns(table, loaded.columns.here.features)
        place = _place(loaded, table, wanted)
        if place is not None:
            return loaded.columns.rows(typed_features(table, loaded.columns.here)[place])
    column = "row" if loaded.columns.here.id is None else f"column {loaded.columns.here.id!r}"
    raise InputError(f"{data}: there is no row with {column} {wanted!r}.", code="unknown-id", hint="Check the id.")


def _place(loaded: LoadedModel | LoadedAnswers, table: RawTable, wanted: str) -> int | None:
    if loaded.columns.here.id is None:
        (found,) = np.nonzero(table.places.rows.astype(np.str_) == wanted)
    else:
        require_columns(table, [loaded.columns.here.id], ["id"])
        found = (table.frame[loaded.columns.here.id] == wanted).arg_true().to_numpy()
    return int(found[0]) if len(found) else None


def _training_row(loaded: LoadedModel | LoadedAnswers, wanted: str) -> tuple[Any, Any]:
    """Return a training row, and what findings and explanations call it."""
    from untwin.cli.loaded_model import LoadedAnswers

    if isinstance(loaded, LoadedAnswers) or loaded.model.state_.documents is None:
        message = "The model was saved without its documents, so that none of them can be explained again."
        raise InputError(
            message, code="no-documents", hint="Say which file holds it: untwin explain MODEL DATA --id ID."
        )
    documents, ids = loaded.model.state_.documents, loaded.model.ids_.tolist()
    place = _place_of_id([str(name) for name in ids], wanted)
    return ([documents[place]] if loaded.columns.read is None else documents[place]), ids[place]


def _place_of_id(names: list[str], wanted: str) -> int:
    if wanted in names:
        return names.index(wanted)
    near = [name for name in names if name.startswith(f"{wanted} (")] or names
    left = f" and {len(near) - SHOWN_IDS:,} more" if len(near) > SHOWN_IDS else ""
    shown = ", ".join(map(repr, near[:SHOWN_IDS])) + left
    message = f"The model has no training row {wanted!r}. It has {shown}."
    hint = "Findings and explanations name training rows; for any row of a table: untwin explain MODEL DATA --id ID."
    raise InputError(message, code="unknown-id", hint=hint)
