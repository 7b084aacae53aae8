"""Choose the views of the training rows: one or two ways to turn them into numbers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import polars as pl
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from untwin.data.counts import EmptyVocabularyError, TextCounts
from untwin.data.encode import TableEncoder
from untwin.data.frames import text_cells
from untwin.data.standard import StandardNumbers
from untwin.model.features.text_encodings import choose_text_views, counted, weights
from untwin.model.features.view import View

if TYPE_CHECKING:
    from untwin._types import Indices


def choose_views(
    given: Any, codes: Indices, parts: Indices | None, *, kind: str, encoder: Any, **how: Any
) -> tuple[View, ...]:
    """Return the views of the training rows; `how` holds the keyword arguments of `choose_text_views`."""
    if kind == "texts" and encoder is None:
        return choose_text_views(given, codes, parts, **how)
    if kind == "frame" and (encoder is None or isinstance(encoder, TableEncoder)):
        return _table_views(given, codes, parts, encoder, **how)
    if isinstance(encoder, TextCounts):
        return (counted("given encoder", encoder, given),)
    return (View("matrix", given) if encoder is None else View("given encoder", given, None, (encoder,)),)


def _table_views(
    given: pl.DataFrame, codes: Indices, parts: Indices | None, encoder: TableEncoder | None, **how: Any
) -> tuple[View, ...]:
    """Return the view of a frame, and a second view with other encodings unless the user chose the encodings.

    Numbers become intervals in the first view and standardised numbers in the second; texts are counted in the two ways
    that are best on the texts alone. The roles of the columns are chosen here once, on all rows, for every fold and for
    rows learnt later, so that the model measured is the model kept. Labels of held-out rows are used only to
    leave out a column that reveals the label; without that column scores can only be lower.
    """
    columns = (TableEncoder() if encoder is None else encoder).with_named_roles(given, codes)
    first, second, names = clone(columns), clone(columns), []
    if len(columns.text) and columns.counts is None:
        ways = _ways_to_count(given.select(columns.text), codes, parts, **how)
        better, *other = ways.values()
        first.counts, second.counts = (make_pipeline(way, weights()) for way in (better, *(other or [better])))
        names += list(ways)[1:]
    if len(columns.numeric) and columns.discretizer is None:
        second.discretizer = StandardNumbers()
        names.append("standardised numbers")
    view = View("columns" if encoder is None else "given encoder", given, None, (first,))
    if not names or (how["preset"] == "fast" and len(columns.text)):  # counting texts again is slow
        return (view,)
    return view, View(", ".join(names), given, None, (second,))


def _ways_to_count(cells: pl.DataFrame, codes: Indices, parts: Indices | None, **how: Any) -> dict[str, TextCounts]:
    """Return one or two text encoders by name, chosen as if all texts of a row were one text."""
    texts = cells.select(pl.concat_str(map(text_cells, cells), separator=" ")).to_series().to_list()
    with suppress(EmptyVocabularyError):
        return {view.name: clone(view.encoder) for view in choose_text_views(texts, codes, parts, **how)}
    return {"words": TextCounts()}  # the table encoder will raise an error that names the column
