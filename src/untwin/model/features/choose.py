"""Make the view of the training rows: how they become numbers."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import polars as pl
from sklearn.base import clone

from untwin.data.counts import TextCounts
from untwin.data.encode import TableEncoder
from untwin.data.frames import text_cells
from untwin.data.numbers import NumbersAndIntervals
from untwin.data.text_blocks import TextBlocks
from untwin.model.features.text_encoders import text_encoders
from untwin.model.features.view import View
from untwin.represent.term_weights import TermWeights
from untwin.represent.text_features import TextFeatures

if TYPE_CHECKING:
    from untwin._types import Indices


def make_view(given: Any, codes: Indices, *, kind: str, encoder: Any) -> View:
    """Return the view of the training rows; `encoder` is the user's, or None."""
    if isinstance(encoder, TextCounts) or (kind == "texts" and encoder is None):
        ways = text_encoders(given, int(codes.max()) + 1) if encoder is None else {"given encoder": encoder}
        blocks = TextBlocks(list(ways.values()))
        rows = blocks.fit_transform(given)
        least = blocks.encoders_[0].min_df  # a share counts as 1: of fewer rows it would keep more terms
        weights = TermWeights(min_df=int(least) if isinstance(least, Integral) else 1, block_of=blocks.block_of_)
        return View(" and ".join(ways), given, rows, blocks, weights)
    if kind == "frame" and (encoder is None or isinstance(encoder, TableEncoder)):
        columns = _columns(given, codes, encoder)
        return View("columns" if encoder is None else "given encoder", given, preprocessing=columns)
    if encoder is None:
        return View("matrix", given)
    return View("given encoder", given, preprocessing=clone(encoder))


def _columns(given: pl.DataFrame, codes: Indices, encoder: TableEncoder | None) -> TableEncoder:
    """Return the untrained encoder of a frame, with what the user left open.

    The roles of the columns are chosen here once, on all rows, for every fold and for rows learnt later, so that the
    model measured is the model kept. Labels of held-out rows are used only to leave out a column that reveals the
    label; without that column scores can only be lower.
    """
    columns = (TableEncoder() if encoder is None else encoder).with_named_roles(given, codes)
    if len(columns.text) and columns.counts is None:
        names = [columns.text] if isinstance(columns.text, str) else list(columns.text)
        joined = pl.concat_str([text_cells(given[name]) for name in names], separator=" ")
        texts = given.select(joined).to_series().to_list()
        columns.counts = TextFeatures(list(text_encoders(texts, int(codes.max()) + 1).values()))
    if len(columns.numeric) and columns.discretizer is None:
        columns.discretizer = NumbersAndIntervals()
    return columns
