"""Which rows of a class a rule means: rows with some words in a text, or with a value in a column of a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

from untwin._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin.model.state import FittedState


def rows_where(known: FittedState, own: Mapping[str, int], rule: str) -> list[str]:
    """Return the ids, of those in `own` (with their places), of rows that a rule means.

    "price list" means rows with these words, one after the other and whatever their case; "town=Ulm" rows of a table
    with this value in this column.
    """
    documents = known.documents
    if documents is None:
        hint = "Say which rows go to each new class."
        raise InputError("The model keeps no texts, so that no rule can be about them.", code="class-change", hint=hint)
    says = _says(documents, rule)
    found = [row for row, place in own.items() if says(_cells(documents, place))]
    if not found or len(found) == len(own):
        told = "no row" if not found else "every row"
        message = f"The rule {rule!r} means {told} of the class."
        raise InputError(message, code="class-change", hint="Choose words that some of its rows have.")
    return found


def _says(documents: Any, rule: str) -> Any:
    column, equals, value = rule.partition("=")
    if equals and isinstance(documents, pl.DataFrame):
        if column not in documents.columns:
            hint = f"Columns are {', '.join(documents.columns)}."
            raise InputError(f"The model has no column {column!r}.", code="missing-column", hint=hint)
        return lambda cells: str(cells[column]) == value
    phrase = r"\s+".join(map(re.escape, rule.casefold().split()))
    words = re.compile(rf"(?<!\w){phrase}(?!\w)")
    return lambda cells: any(isinstance(cell, str) and words.search(cell.casefold()) for cell in cells.values())


def _cells(documents: Any, place: int) -> dict[str, Any]:
    return documents.row(place, named=True) if isinstance(documents, pl.DataFrame) else {"": documents[place]}
