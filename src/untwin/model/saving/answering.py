"""What answers, as it was stored, put into the model that it belongs to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from untwin.answer.vectors import VectorAnswerer
from untwin.model.answering import counted_rows
from untwin.store.refusal import require

if TYPE_CHECKING:
    from untwin.answer.answerer import TextAnswerer
    from untwin.answer.predictions import Decision
    from untwin.model.classifier import UntwinClassifier


def attach_answerer(model: UntwinClassifier, answerer: TextAnswerer | VectorAnswerer, decision: Decision) -> None:
    """Let the model answer by what was stored; refuse what is not about its classes and terms."""
    known = model.state_
    require(np.array_equal(decision.classes, model.classes_), "What answers must be about the classes of the model")
    require([*decision.groups] == [*model.groups_], "What answers must know the groups of the model")
    if isinstance(answerer, VectorAnswerer):
        require(
            answerer.n_columns == getattr(model, "n_features_in_", None),
            "What answers must take rows like those of the model",
        )
        require(known.view.encoder is None and known.view.preprocessing is None, "What answers must be about texts")
        vars(known)["answerer"] = answerer  # as if it had been compiled
        return
    encoder, weights = known.view.encoder, known.preprocessing
    require(hasattr(encoder, "encoders_") and hasattr(weights, "idf_"), "What answers must be about texts")
    require(len(answerer.vocabularies) == len(encoder.encoders_), "What answers must read texts as the model does")
    for (reader, terms, columns), counts, places in zip(
        answerer.vocabularies, encoder.encoders_, encoder.columns_, strict=True
    ):
        ways = (reader.analyzer, reader.shortest, reader.longest, reader.stemmer)
        same = ways == (counts.analyzer, *counts.ngram_range, counts.stemmer) and np.array_equal(columns, places)
        require(same and terms == counts.terms_.to_list(), "What answers must know the terms of the model")
    require(np.array_equal(answerer.block_of, encoder.block_of_), "What answers must know the blocks of the model")
    require(len(weights.idf_) == len(answerer.idf), "Each term must have a weight")
    many = replace(answerer, count_many=lambda texts: counted_rows(encoder.transform(texts)))
    vars(known)["answerer"] = many
