"""Compile the fitted state of a model into what answers: linear layers in whole numbers (see `linear_layers`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin.answer.answerer import TextAnswerer
from untwin.data.encode import TableEncoder
from untwin.export.counting import counter
from untwin.model.linear_layers import layers_of, shared_parts
from untwin.model.packing import Precision, pack
from untwin.model.table_answering import compile_table
from untwin.model.text_reading import vocabularies_of, whole_idf
from untwin.model.vector_answering import compile_vectors
from untwin.represent.term_weights import TermWeights

if TYPE_CHECKING:
    from untwin.answer.tables import TableAnswerer
    from untwin.answer.vectors import VectorAnswerer
    from untwin.model.state import FittedState

    Answerer = TextAnswerer | TableAnswerer | VectorAnswerer

USUAL = "default"
PRECISIONS = {"full": Precision(32767, 1.0), USUAL: Precision(127, 0.2), "small": Precision(127, 0.1)}


def compile_state(known: FittedState, precision: str = USUAL) -> Answerer | None:
    """Return what answers instead of the ensemble; None if it is not made of linear models."""
    if isinstance(known.preprocessing, TermWeights):
        return _compile_texts(known, PRECISIONS[precision])
    if isinstance(known.preprocessing, TableEncoder):
        return compile_table(known, precision)
    return compile_vectors(known, precision)


def _compile_texts(known: FittedState, precision: Precision) -> TextAnswerer | None:
    encoder, weights, n_classes = known.view.encoder, known.preprocessing, len(known.ensemble.trained_classes)
    layers, vocabularies = layers_of(known.ensemble), vocabularies_of(encoder)
    if layers is None or vocabularies is None:
        return None
    if len(weights.idf_) != len(encoder.block_of_) or not np.array_equal(weights.block_of, encoder.block_of_):
        raise ValueError("Each term must have one weight and one block. Got others instead.")
    packed, scale = pack(layers, len(weights.idf_), n_classes, precision)
    return TextAnswerer(
        vocabularies=vocabularies,
        idf=whole_idf(weights),
        block_of=encoder.block_of_,
        weights=packed,
        scale=scale,
        shares=np.log(np.unique(known.y, return_counts=True)[1] / len(known.y)),
        count_many=counter(vocabularies),
        **shared_parts(known.ensemble, layers),
    )
