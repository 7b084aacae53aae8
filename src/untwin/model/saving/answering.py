"""What answers, as it was stored, put into the model that it belongs to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from untwin.answer.cells import same_column
from untwin.answer.counting import same_vocabularies
from untwin.answer.tables import TableAnswerer
from untwin.answer.vectors import VectorAnswerer
from untwin.data.encode import TableEncoder
from untwin.model.table_answering import column_factors, columns_of
from untwin.model.text_reading import vocabularies_of
from untwin.store.refusal import damage_error, require

if TYPE_CHECKING:
    from untwin.answer.answerer import TextAnswerer
    from untwin.answer.predictions import Decision
    from untwin.model.answering import Answerer
    from untwin.model.classifier import UntwinClassifier


def attach_answerer(model: UntwinClassifier, answerer: Answerer, decision: Decision) -> None:
    """Let the model answer by what was stored; refuse what is not about its classes and terms."""
    require(np.array_equal(decision.classes, model.classes_), "What answers must be about the classes of the model")
    require([*decision.groups] == [*model.groups_], "What answers must know the groups of the model")
    attached: Answerer = answerer
    match answerer:
        case VectorAnswerer():
            _require_columns(model, answerer)
        case TableAnswerer():
            attached = _with_columns(model, answerer)
        case _:
            _require_terms(model, answerer)
    vars(model.state_)["answerer"] = attached  # as if it had been compiled


def _require_columns(model: UntwinClassifier, answerer: VectorAnswerer) -> None:
    view, same = model.state_.view, answerer.n_columns == getattr(model, "n_features_in_", None)
    require(same, "What answers must take rows like those of the model")
    require(view.encoder is None and view.preprocessing is None, "What answers must be about texts")


def _with_columns(model: UntwinClassifier, answerer: TableAnswerer) -> TableAnswerer:
    """Return what answers with the columns of the model, of which it must be."""
    encoder = model.state_.preprocessing
    columns = columns_of(encoder) if isinstance(encoder, TableEncoder) else None
    if columns is None:
        raise damage_error("What answers must be about the tables of the model. Got others instead.")
    same = answerer.names == tuple(map(str, encoder.feature_names_in_)) and len(columns) == len(answerer.columns)
    same = same and all(map(same_column, columns, answerer.columns))
    same = same and np.array_equal(answerer.factors, column_factors(encoder))
    require(same, "What answers must know the columns of the model")
    return replace(answerer, columns=columns)


def _require_terms(model: UntwinClassifier, answerer: TextAnswerer) -> None:
    """Refuse what answers about other terms than those of the model's encoder."""
    known = model.state_
    encoder, weights = known.view.encoder, known.preprocessing
    require(hasattr(encoder, "encoders_") and hasattr(weights, "idf_"), "What answers must be about texts")
    vocabularies = vocabularies_of(encoder)
    same = vocabularies is not None and same_vocabularies(answerer.vocabularies, vocabularies)
    require(same, "What answers must know the terms of the model")
    require(np.array_equal(answerer.block_of, encoder.block_of_), "What answers must know the blocks of the model")
    require(len(weights.idf_) == len(answerer.idf), "Each term must have a weight")
