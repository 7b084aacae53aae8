"""Checks of stored arrays, and whole numbers as small as they can be stored."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.store.refusal import require

if TYPE_CHECKING:
    from untwin._types import Array

MOST_LAYERS = 8
LARGEST_NUMBER = 1e30  # of scales, offsets and the like: products of three stay finite


def small(numbers: Any) -> Array:
    """Return whole numbers from 0 on in the smallest type that holds them.

    >>> small([3, 300]).dtype
    dtype('uint16')
    """
    array = np.asarray(numbers)
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def finite(number: float) -> float | None:
    """Return a number as facts keep it: infinity, which JSON lacks, as None."""
    return float(number) if isfinite(number) else None


def require_whole(array: Any, name: str, length: int, most: int) -> None:
    """Raise `ModelRefused` unless an array holds so many whole numbers from 0 to `most`."""
    fits = array.dtype.kind in "iu" and array.shape == (length,)
    fits = fits and (length == 0 or (array.min() >= 0 and array.max() <= most))
    require(bool(fits), f"{name} must be {length} whole numbers from 0 to {most}")


def require_numbers(array: Any, name: str, shape: tuple[int, ...]) -> None:
    """Raise `ModelRefused` unless an array holds finite numbers, not too large, in this shape."""
    fits = array.dtype == np.float64 and array.shape == shape and bool((np.abs(array) <= LARGEST_NUMBER).all())
    require(fits, f"{name} must be numbers of shape {shape}")
