"""Compile the fitted state of a model of tables into what answers: columns, and linear layers in whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.cells import NameColumn, NumberColumn, TextColumn
from untwin.answer.tables import TableAnswerer
from untwin.data.column_blocks import NominalValues
from untwin.data.discretize import MDLPDiscretizer
from untwin.data.numbers import NumbersAndIntervals
from untwin.data.table_cells import read_cells
from untwin.export.counting import counter
from untwin.model.linear_layers import layers_of, shared_parts
from untwin.model.packing import Precision, pack
from untwin.model.text_reading import vocabularies_of, whole_idf
from untwin.represent.text_features import TextFeatures

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Floats
    from untwin.answer.cells import TableColumn
    from untwin.data.column_blocks import ColumnBlock
    from untwin.data.encode import TableEncoder
    from untwin.model.state import FittedState

PRECISIONS = {"full": Precision(32767, 1.0), "default": Precision(32767, 0.2), "small": Precision(127, 0.1)}


def compile_table(known: FittedState, precision: str) -> TableAnswerer | None:
    """Return what answers instead of the ensemble; None unless it is made of linear models of usual columns."""
    encoder, layers = known.preprocessing, layers_of(known.ensemble)
    columns = None if layers is None else columns_of(encoder)
    if layers is None or columns is None:
        return None
    factors = column_factors(encoder)
    of_terms = np.repeat(factors, [column.size for column in columns]).astype(np.float32)
    packed, scale = pack(layers, len(of_terms), len(known.ensemble.trained_classes), PRECISIONS[precision], of_terms)
    return TableAnswerer(
        names=tuple(str(name) for name in encoder.feature_names_in_),
        columns=columns,
        factors=factors,
        weights=packed,
        scale=scale,
        read_frame=read_cells,
        **shared_parts(known.ensemble, layers),
    )


def column_factors(encoder: TableEncoder) -> Floats:
    """Return what the terms of each column are multiplied by."""
    return np.array([encoder.block_weights_[block.column] for block in encoder.column_blocks_], dtype=np.float64)


def columns_of(encoder: TableEncoder) -> tuple[TableColumn, ...] | None:
    """Return the columns of a fitted encoder; None if one has a transformer of another kind."""
    found = list[Any]()
    for block in encoder.column_blocks_:
        place = encoder.blocks_[block.column]
        column = _column(block, place.start)
        if column is None or column.size != place.stop - place.start:
            return None
        found.append(column)
    return tuple(found)


def _column(block: ColumnBlock, first: int) -> TableColumn | None:
    make = MAKERS.get(type(block.transformer))
    return None if make is None else make(block, first)


def _intervals(block: ColumnBlock, first: int, numbers: MDLPDiscretizer, **scores: Any) -> NumberColumn | None:
    if numbers.encode != "onehot" or numbers.uncut != "keep":
        return None
    (points,), (missing,) = numbers.cut_points_, numbers.has_missing_.tolist()
    return NumberColumn(block.column, first, np.asarray(points, dtype=np.float64), missing, **scores)


def _numbers(block: ColumnBlock, first: int) -> NumberColumn | None:
    scores = block.transformer.scores_
    (mean,), (scale,) = scores.means_.tolist(), scores.scales_.tolist()
    (missing,) = scores.has_missing_.tolist()
    return _intervals(block, first, block.transformer.intervals_, mean=mean, scale=scale, tells_missing=missing)


def _names(block: ColumnBlock, first: int) -> NameColumn:
    names = block.transformer
    return NameColumn(block.column, first, tuple(names.frequent), tuple(names.rare), bool(names.has_missing))


def _texts(block: ColumnBlock, first: int) -> TextColumn | None:
    blocks, weights = block.transformer.blocks_, block.transformer.weights_
    vocabularies = vocabularies_of(blocks)
    if vocabularies is None:
        return None
    return TextColumn(
        block.column,
        first,
        vocabularies,
        whole_idf(weights),
        blocks.block_of_,
        counter(vocabularies),
    )


MAKERS: dict[type, Callable[[ColumnBlock, int], Any]] = {
    NumbersAndIntervals: _numbers,
    MDLPDiscretizer: lambda block, first: _intervals(block, first, block.transformer),
    NominalValues: _names,
    TextFeatures: _texts,
}
