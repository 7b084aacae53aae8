"""Compile the fitted state of a model into what answers: linear layers in whole numbers (see `linear_layers`)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from untwin.answer.answerer import TextAnswerer, Vocabulary
from untwin.answer.fixed_point import ONE, CountedRows, PackedWeights, quantise
from untwin.answer.terms import TermReader
from untwin.data.symbols import WORDS_OF_TWO_OR_MORE
from untwin.data.text_blocks import TextBlocks
from untwin.model.linear_layers import layers_of, shared_parts
from untwin.model.vector_answering import compile_vectors
from untwin.represent.term_weights import TermWeights

if TYPE_CHECKING:
    from untwin._types import Array
    from untwin.answer.vectors import VectorAnswerer
    from untwin.data.counts import TextCounts
    from untwin.model.linear_layers import Layer
    from untwin.model.state import FittedState


class Precision(NamedTuple):
    """The largest whole number that a weight may be, and which share of the weights of a class is kept at least."""

    largest: int
    least_kept: float

    def kept(self, n_weights: int) -> float:
        """Return the share to keep of so many weights: all of a few."""
        return min(1.0, max(self.least_kept, ENOUGH_WEIGHTS / max(n_weights, 1)))


ENOUGH_WEIGHTS = 1_000_000
USUAL = "default"
PRECISIONS = {"full": Precision(32767, 1.0), USUAL: Precision(127, 0.2), "small": Precision(127, 0.1)}


def compile_state(known: FittedState, precision: str = USUAL) -> TextAnswerer | VectorAnswerer | None:
    """Return what answers instead of the ensemble; None if it is not made of linear models of texts or of a matrix."""
    if isinstance(known.preprocessing, TermWeights):
        return _compile_texts(known, PRECISIONS[precision])
    return compile_vectors(known, precision)


def _compile_texts(known: FittedState, precision: Precision) -> TextAnswerer | None:
    encoder, weights, n_classes = known.view.encoder, known.preprocessing, len(known.ensemble.trained_classes)
    layers, readers = layers_of(known.ensemble), _readers(encoder)
    if layers is None or readers is None:
        return None
    if len(weights.idf_) != len(encoder.block_of_) or not np.array_equal(weights.block_of, encoder.block_of_):
        raise ValueError("Each term must have one weight and one block. Got others instead.")
    packed, scale = _pack(layers, len(weights.idf_), n_classes, precision)
    return TextAnswerer(
        vocabularies=tuple(
            Vocabulary(reader, counts.terms_.to_list(), columns)
            for reader, counts, columns in zip(readers, encoder.encoders_, encoder.columns_, strict=True)
        ),
        idf=np.rint(weights.idf_.astype(np.float64) * ONE).astype(np.int64),
        block_of=encoder.block_of_,
        weights=packed,
        scale=scale,
        shares=np.log(np.unique(known.y, return_counts=True)[1] / len(known.y)),
        count_many=lambda texts: counted_rows(encoder.transform(texts)),
        **shared_parts(known.ensemble, layers),
    )


def counted_rows(counts: csr_array) -> CountedRows:
    """Return counts of terms as answering takes them."""
    starts, columns, numbers = (part.astype(np.int64) for part in (counts.indptr, counts.indices, counts.data))
    return CountedRows(starts, columns, numbers)


def _readers(encoder: Any) -> list[TermReader] | None:
    """Return how to read a few texts as an encoder does; None if it has options that only it knows."""
    if not isinstance(encoder, TextBlocks) or not all(map(_is_plain, encoder.encoders_)):
        return None
    return [TermReader(one.analyzer, one.ngram_range[0], one.ngram_range[1], one.stemmer) for one in encoder.encoders_]


def _is_plain(counts: TextCounts) -> bool:
    usual = counts.lowercase and counts.strip_accents is None and counts.stop_words is None and not counts.binary
    return usual and (counts.analyzer != "word" or counts.token_pattern == WORDS_OF_TWO_OR_MORE)


def _pack(layers: list[Layer], n_terms: int, n_classes: int, precision: Precision) -> tuple[PackedWeights, Array]:
    """Return the weights of all layers side by side in whole numbers, without those that hardly count."""
    terms, numbers, scales = [], [], []
    for layer in layers:
        W = layer.weights()
        if W.shape != (n_terms, n_classes):
            raise ValueError(
                f"Weights must be those of {n_terms} terms and {n_classes} classes. Got {W.shape} instead."
            )
        n_kept = ceil(precision.kept(n_terms * n_classes * len(layers)) * n_terms)
        for c in range(n_classes):
            places, weights = _largest(W, c, n_kept)
            whole, scale = quantise(weights[:, np.newaxis], precision.largest)
            kept = np.flatnonzero(whole[:, 0])
            terms.append(places[kept])
            numbers.append(whole[kept, 0])
            scales.append(scale)
    ends = np.cumsum([0, *map(len, terms)])
    by_class = csc_array((np.concatenate(numbers), np.concatenate(terms), ends), shape=(n_terms, len(terms)))
    joined = csr_array(by_class)
    kind = np.uint8 if joined.shape[1] <= 256 else np.uint16 if joined.shape[1] <= 65536 else np.int32
    packed = PackedWeights(joined.indptr.astype(np.int64), joined.indices.astype(kind), joined.data, joined.shape[1])
    return packed, np.concatenate(scales)


def _largest(W: Any, c: int, n_kept: int) -> tuple[Array, Array]:
    """Return the terms of the largest weights of a class, in their order, and these weights; none is zero."""
    if isinstance(W, np.ndarray):
        terms = np.flatnonzero(W[:, c])
        weights = W[terms, c]
    else:
        part = slice(W.indptr[c], W.indptr[c + 1])
        terms, weights = W.indices[part], W.data[part]
    if len(terms) > n_kept:
        largest = np.sort(np.argpartition(-np.abs(weights), n_kept)[:n_kept])
        terms, weights = terms[largest], weights[largest]
    return terms, weights
