"""Weights of linear layers in whole numbers, without those that hardly count."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from untwin.answer.fixed_point import PackedWeights, quantise

if TYPE_CHECKING:
    from untwin._types import Array
    from untwin.model.linear_layers import Layer

ENOUGH_WEIGHTS = 1_000_000


class Precision(NamedTuple):
    """The largest whole number that a weight may be, and which share of the weights of a class is kept at least."""

    largest: int
    least_kept: float

    def kept(self, n_weights: int) -> float:
        """Return the share to keep of so many weights: all of a few."""
        return min(1.0, max(self.least_kept, ENOUGH_WEIGHTS / max(n_weights, 1)))


def pack(
    layers: list[Layer], n_terms: int, n_classes: int, precision: Precision, factors: Array | None = None
) -> tuple[PackedWeights, Array]:
    """Return the weights of all layers side by side in whole numbers, and what 1 stands for in each column.

    `factors` are what the values of each term are multiplied with in rows, where answering leaves that to the weights.
    """
    terms, numbers, scales = [], [], []
    for layer in layers:
        W = layer.weights() if factors is None else _multiply(layer.weights(), factors)
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


def _multiply(W: Any, factors: Array) -> Any:
    """Return weights with those of each term times its factor."""
    if isinstance(W, np.ndarray):
        return W * factors[:, np.newaxis]
    return csc_array((W.data * factors[W.indices], W.indices, W.indptr), shape=W.shape)
