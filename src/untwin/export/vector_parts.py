"""What only a model of vectors stores: the weights of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.vectors import VectorAnswerer
from untwin.export.checks import LARGEST_NUMBER, require_numbers
from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_COLUMNS = 1 << 23
LARGEST_WEIGHT = 1 << 23


def vector_parts(answerer: VectorAnswerer) -> dict[str, Any]:
    """Return what to store of columns."""
    return {"weights": answerer.weights, "column_scale": answerer.column_scale}


def vector_answerer(parts: Mapping[str, Any], shared: dict[str, Any]) -> VectorAnswerer:
    """Return what answers about rows of a matrix; `shared` are the checked fields of its layers."""
    weights, column_scale = parts["weights"], parts["column_scale"]
    fits = weights.dtype in (np.int8, np.int16, np.int32) and weights.ndim == 2
    fits = fits and 1 <= weights.shape[0] <= MOST_COLUMNS and weights.shape[1] == len(shared["scale"])
    require(fits, "weights must be whole numbers, one for each column and each class of each layer")
    whole = weights.size == 0 or -LARGEST_WEIGHT <= int(weights.min()) <= int(weights.max()) <= LARGEST_WEIGHT
    require(whole, f"weights must be at most {LARGEST_WEIGHT}")
    require_numbers(column_scale, "column_scale", (weights.shape[0],))
    powers = (column_scale >= 1 / LARGEST_NUMBER) & (np.frexp(column_scale)[0] == 0.5)
    require(bool((powers | (column_scale == 0)).all()), "column_scale must be powers of two, or 0")
    return VectorAnswerer(weights=weights, column_scale=column_scale, **shared)
