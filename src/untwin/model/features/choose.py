"""Views of the training rows: whatever a user has as rows of numbers, in one way or in two."""

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
    import numpy as np
    from numpy.typing import NDArray

    Indices = NDArray[np.intp]


def choose_views(
    given: Any, codes: Indices, parts: Indices | None, *, kind: str, encoder: Any, **how: Any
) -> tuple[View, ...]:
    """Return the views of the training rows; `how` is what `choose_text_views` wants to know."""
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
    """Return the view of a frame, and a second one by other ways to take its columns, if nobody said how to take them.

    Numbers are taken as intervals, then as they are; texts by the two ways to count that serve best on the texts alone.
    What the columns are for is settled here once, on all rows, for every fold and for rows learnt later: what is
    measured must be the model that is kept. Labels of held-out rows are looked at only to leave a column out that gives
    them away; without it scores can be worse than they might be, never better.
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
    if not names or (how["preset"] == "fast" and len(columns.text)):  # counting texts again is all but fast
        return (view,)
    return view, View(", ".join(names), given, None, (second,))


def _ways_to_count(cells: pl.DataFrame, codes: Indices, parts: Indices | None, **how: Any) -> dict[str, TextCounts]:
    """Return one or two ways to count the texts of a frame, by name, as if all of a row were one text."""
    texts = cells.select(pl.concat_str(map(text_cells, cells), separator=" ")).to_series().to_list()
    with suppress(EmptyVocabularyError):
        return {view.name: clone(view.encoder) for view in choose_text_views(texts, codes, parts, **how)}
    return {"words": TextCounts()}  # who finds nothing to count will say in which column
