"""Where the arrays of a model lie: large ones have a file each, small ones share a file with others of their dtype.

Glossary
--------
place     what the tree says about an array: the name of its part, or [dtype, start, shape, order] of a run of a pool
pool      items of all small arrays of one dtype, one after the other

A model of many experts has thousands of arrays, most of them tiny; a file for each would cost more than its content.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.store.npy import storable
from untwin.store.refusal import damage_error, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin._types import Array
    from untwin.store.kinds import Part

    Place = str | list[Any]

SMALL = 1 << 12  # bytes below which an array shares a file
POOLS = "small arrays"


class ArrayWriter:
    """Takes the arrays of a model and says where it has put them."""

    def __init__(self) -> None:
        self._large: dict[str, dict[str, Array]] = {}
        self._runs: dict[str, list[Array]] = {}
        self._sizes: dict[str, int] = {}
        self._known: dict[tuple[Any, ...], Place] = {}

    def put(self, array: Array, group: str) -> Place:
        """Keep an array; `group` says in which part of the model."""
        array = storable(array, group)
        order = "C" if array.flags.c_contiguous else "F"
        return self._put_small(array, order) if array.nbytes < SMALL else self._put_large(array, group)

    def parts(self) -> dict[str, Part]:
        """Return what is to be stored."""
        pools = {dtype: np.concatenate(runs, dtype=np.dtype(dtype)) for dtype, runs in self._runs.items()}
        return {**self._large, POOLS: pools}

    def _put_large(self, array: Array, group: str) -> Place:
        arrays = self._large.setdefault(group, {})
        name = str(len(arrays))
        arrays[name] = array
        return f"{group}/{name}"

    def _put_small(self, array: Array, order: Any) -> Place:
        dtype, items = array.dtype.str, array.ravel(order)
        key = (dtype, array.shape, order, items.tobytes())
        if key not in self._known:
            start = self._sizes.get(dtype, 0)
            self._known[key] = [dtype, start, list(array.shape), order]
            self._runs.setdefault(dtype, []).append(items)
            self._sizes[dtype] = start + items.size
        return self._known[key]


class ArrayReader:
    """Gives the arrays of a stored model back, read-only, or refuses a place where there is none."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self._parts = parts
        pools = parts.get(POOLS, {})
        self._pools: dict[str, Array] = pools if isinstance(pools, dict) else {}

    def get(self, place: object) -> Array:
        """Return the array at a place."""
        match place:
            case str():
                group, _, name = place.partition("/")
                arrays = self._parts.get(group)
                found = arrays.get(name) if isinstance(arrays, dict) else None
                if isinstance(found, np.ndarray):
                    return found
            case [str(dtype), int(start), list(shape), "C" | "F" as order]:
                return self._run(dtype, start, shape, order)
        raise damage_error(f"The place of an array must be a part or a run of one. Got {str(place)[:200]} instead.")

    def _run(self, dtype: str, start: int, shape: list[Any], order: Any) -> Array:
        pool = self._pools.get(dtype)
        sizes = [size for size in shape if type(size) is int and size >= 0]
        require(len(sizes) == len(shape) <= 32, "The shape of an array must be at most 32 whole numbers")
        end = start + math.prod(sizes)
        sound = isinstance(pool, np.ndarray) and pool.ndim == 1 and pool.dtype.str == dtype
        if pool is None or not sound or not 0 <= start <= end <= len(pool):
            raise damage_error(f"A small array must lie among those of its dtype. Got {dtype} {start} {shape} instead.")
        return pool[start:end].reshape(shape, order=order)
