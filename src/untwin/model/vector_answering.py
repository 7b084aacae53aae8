"""Compile the fitted state of a model of vectors into what answers: linear layers in whole numbers.

Columns may differ in size by any factor, and their weights then differ by the inverse. So both are brought to one scale
before they are rounded: a weight is rounded relative to the largest of its column, and a number of a row by what it can
add to a score. Weights that all classes share, as those of naive Bayes do for the most part, are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.fixed_point import quantise
from untwin.answer.vectors import VectorAnswerer, exact_bits
from untwin.model.linear_layers import as_dense, layers_of, shared_parts

if TYPE_CHECKING:
    from untwin._types import Array, Floats
    from untwin.model.linear_layers import Layer
    from untwin.model.state import FittedState

MOST_WEIGHTS = 1 << 24  # of all layers; they are multiplied as dense numbers of 8 bytes
MOST_BITS = 23  # those of the digits of single precision
BITS = {"full": MOST_BITS, "default": 15, "small": 7}  # of the largest weight of a class, without the sign
SMALLEST_SCALE = -90  # logarithm of the least column scale; weights are single-precision numbers


def compile_vectors(known: FittedState, precision: str) -> VectorAnswerer | None:
    """Return what answers instead of the ensemble; None if it is not made of linear models of a matrix as it is."""
    view, layers = known.view, layers_of(known.ensemble)
    if layers is None or view.encoder is not None or view.preprocessing is not None:
        return None
    W, shared = _weights(layers), shared_parts(known.ensemble, layers)
    finite = W is not None and all(np.isfinite(part).all() for part in (W, shared["offset"], shared["intercept"]))
    if W is None or not finite:
        return None
    balanced, column_scale = balance(W)
    bits = min(BITS[precision], exact_bits(len(W)) // 2)
    weights, scale = quantise(balanced, (1 << bits) - 1)
    return VectorAnswerer(weights=weights, column_scale=column_scale, scale=scale, **shared)


def balance(W: Floats) -> tuple[Floats, Floats]:
    """Return weights (m x K) that are as large in each column of the rows, and the powers of two they are divided by.

    >>> balance(np.array([[4.0, 1.0], [0.5, 0.125], [0.0, 0.0]]))[1].tolist()
    [2.0, 0.25, 0.0]
    """
    tops = np.abs(W).max(axis=0, initial=0.0)
    largest = (np.abs(W) / np.where(tops > 0, tops, 1.0)).max(axis=1, initial=0.0)
    scale = np.ldexp(1.0, np.maximum(np.frexp(largest)[1], SMALLEST_SCALE))
    return W / scale[:, np.newaxis], np.where(largest > 0, scale, 0.0)


def _weights(layers: list[Layer]) -> Array | None:
    """Return the weights of all layers side by side (m x K); None if they are too many to be held."""
    parts: list[Any] = [layer.weights() for layer in layers]
    if sum(part.shape[0] * part.shape[1] for part in parts) > MOST_WEIGHTS:
        return None
    return np.hstack([_centre(as_dense(part).astype(np.float64)) for part in parts])


def _centre(W: Floats) -> Floats:
    """Return the weights of a layer around zero in each column: what all classes have in common changes no answer."""
    return np.asarray(W - (W.max(axis=1, keepdims=True) + W.min(axis=1, keepdims=True)) / 2)
