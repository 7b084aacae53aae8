"""Compile the fitted state of a model of texts into what answers: linear layers in whole numbers.

A stack's first stage has a layer for each model. Without one, members that are added up are one layer: probabilities
are invariant to what is added to all classes of a row, so that the mean of log-probabilities is a softmax of the sum of
scores, each divided by its temperature. Only a cosine is a layer of its own, since it is divided by the row's length.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from untwin.answer.answerer import SecondStage, TextAnswerer, Vocabulary
from untwin.answer.fixed_point import ONE, CountedRows, PackedWeights, quantise
from untwin.answer.terms import TermReader
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.linear import LinearSVM, NaiveBayes
from untwin.classify.stack import RULED_OUT, StackedClassifier
from untwin.data.symbols import WORDS_OF_TWO_OR_MORE
from untwin.data.text_blocks import TextBlocks
from untwin.represent.term_weights import TermWeights

if TYPE_CHECKING:
    from untwin._types import Array, Floats
    from untwin.data.counts import TextCounts
    from untwin.model.state import FittedState

LINEAR = (LinearSVM, NaiveBayes, CentroidClassifier)


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


class Layer(NamedTuple):
    """Linear models that are added up, each times a factor; `by_length`: they are cosines."""

    parts: tuple[tuple[Any, float], ...]
    by_length: bool

    def weights(self) -> Any:
        """Return the weights of all classes (m x C): CSC if they are sparse, else dense, class by class."""
        total = sum(np.float32(factor) * _weights(model) for model, factor in self.parts)
        return np.asfortranarray(total) if isinstance(total, np.ndarray) else csc_array(total)

    def offset_and_intercept(self, n_classes: int) -> tuple[Floats, Floats]:
        """Return what each unit of a row, and each row, adds to the score of each class."""
        offset, intercept = np.zeros(n_classes), np.zeros(n_classes)
        for model, factor in self.parts:
            if isinstance(model, NaiveBayes):
                offset += factor * model.offsets_
            if isinstance(model, LinearSVM):
                intercept += factor * (_both(model.intercept_) if n_classes == 2 else model.intercept_)
        return offset, intercept


def compile_state(known: FittedState, precision: str = USUAL) -> TextAnswerer | None:
    """Return what answers instead of the ensemble; None if it is not made of linear models of counted texts."""
    layers = _layers(known)
    readers = _readers(known.view.encoder)
    if layers is None or readers is None or not isinstance(known.preprocessing, TermWeights):
        return None
    encoder, weights, n_classes = known.view.encoder, known.preprocessing, len(known.ensemble.classes)
    offsets = [layer.offset_and_intercept(n_classes) for layer in layers]
    member = known.ensemble.members[0]
    second = _second_stage(member.model, n_classes) if isinstance(member.model, StackedClassifier) else None
    if len(weights.idf_) != len(encoder.block_of_) or not np.array_equal(weights.block_of, encoder.block_of_):
        raise ValueError("Each term must have one weight and one block. Got others instead.")
    shares = np.log(np.unique(known.y, return_counts=True)[1] / len(known.y))
    packed, scale = _pack(layers, len(weights.idf_), n_classes, PRECISIONS[precision])
    return TextAnswerer(
        tuple(
            Vocabulary(reader, counts.terms_.to_list(), columns)
            for reader, counts, columns in zip(readers, encoder.encoders_, encoder.columns_, strict=True)
        ),
        np.rint(weights.idf_.astype(np.float64) * ONE).astype(np.int64),
        encoder.block_of_,
        packed,
        scale,
        np.array([offset for offset, _ in offsets]),
        np.array([intercept for _, intercept in offsets]),
        np.array([layer.by_length for layer in layers]),
        second,
        1.0 if second is None else member.temperature,
        known.ensemble.top_class.slope,
        known.ensemble.top_class.shift,
        shares,
        lambda texts: counted_rows(encoder.transform(texts)),
    )


def counted_rows(counts: csr_array) -> CountedRows:
    """Return counts of terms as answering takes them."""
    starts, columns, numbers = (part.astype(np.int64) for part in (counts.indptr, counts.indices, counts.data))
    return CountedRows(starts, columns, numbers)


def _layers(known: FittedState) -> list[Layer] | None:
    members, classes = known.ensemble.members, known.ensemble.classes
    if not all(np.array_equal(member.model.classes_, classes) for member in members):
        return None
    first = members[0].model
    if isinstance(first, StackedClassifier):
        pairs = list(zip(first.models_, first.temperatures_, strict=True))
        whole = all(len(model.classes_) == len(classes) for model, _ in pairs)
        if len(members) > 1 or first.second_ is None or not whole or not _are_linear(first.models_):
            return None
        return [Layer(((model, 1 / T),), isinstance(model, CentroidClassifier)) for model, T in pairs]
    if not _are_linear([member.model for member in members]):
        return None
    cold = len(members) * (known.ensemble.temperature if len(members) > 1 else 1.0)
    parts = [(member.model, 1 / (member.temperature * cold)) for member in members]
    sides = [tuple(part for part in parts if isinstance(part[0], CentroidClassifier) is side) for side in (False, True)]
    return [Layer(side, by_length) for side, by_length in zip(sides, (False, True), strict=True) if side]


def _are_linear(models: list[Any]) -> bool:
    return all(isinstance(model, LINEAR) for model in models)


def _readers(encoder: Any) -> list[TermReader] | None:
    """Return how to read a few texts as an encoder does; None if it has options that only it knows."""
    if not isinstance(encoder, TextBlocks) or not all(map(_is_plain, encoder.encoders_)):
        return None
    return [TermReader(one.analyzer, one.ngram_range[0], one.ngram_range[1], one.stemmer) for one in encoder.encoders_]


def _is_plain(counts: TextCounts) -> bool:
    usual = counts.lowercase and counts.strip_accents is None and counts.stop_words is None and not counts.binary
    return usual and (counts.analyzer != "word" or counts.token_pattern == WORDS_OF_TWO_OR_MORE)


def _both(numbers: Array) -> Array:
    """Return the scores of both classes by that of the second."""
    return np.concatenate([-numbers, numbers], axis=-1)


def _weights(model: Any) -> Any:
    """Return the weights of all classes; a cosine of two classes counts by how much it is larger."""
    W = model.centroids_.T if isinstance(model, CentroidClassifier) else model.weights_
    if len(model.classes_) != 2:
        return W if isinstance(W, np.ndarray) else csr_array(W)
    W = _dense(W)
    if isinstance(model, CentroidClassifier):
        W = W[:, 1:] - W[:, :1]
    return _both(W) if W.shape[1] == 1 else W


def _dense(W: Any) -> Any:
    return W if isinstance(W, np.ndarray) else W.toarray()


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


def _second_stage(stack: StackedClassifier, n_classes: int) -> SecondStage:
    """Return the second stage in whole numbers; classes that it has not seen come last."""
    second: LinearSVM = stack.second_  # type: ignore[assignment]
    W, b = _dense(second.weights_), second.intercept_
    W, b = (_both(W), _both(b)) if len(second.classes_) == 2 else (W, b)
    wide, intercept = np.zeros((len(W), n_classes)), np.full(n_classes, float(RULED_OUT))
    wide[:, second.classes_], intercept[second.classes_] = W, b
    return SecondStage(*quantise(wide, 32767), intercept)
