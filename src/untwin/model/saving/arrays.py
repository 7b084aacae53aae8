"""Where the arrays of a model lie: large ones have a file each, small ones share a file with others of their dtype.

Glossary
--------
place     what the tree says about an array: the name of its part, or [dtype, start, shape, order] of a run of a pool;
          {"as": dtype, "of": place} where whole numbers lie there in a smaller type
pool      items of all small arrays of one dtype, one after the other
budget    bytes that loading may make beyond what is stored

A model of many experts has thousands of arrays, most of them tiny; a file for each would cost more than its content.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._values import freeze
from untwin.store.npy import storable
from untwin.store.refusal import damage_error, require
from untwin.store.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin._types import Array
    from untwin.store.kinds import Part

    Place = str | list[Any] | dict[str, Any]

SMALL = 1 << 12  # bytes below which an array shares a file
POOLS = "small arrays"
ALLOWED = 1 << 26  # bytes that any model may make when it is loaded
GROWTH = 16  # times the bytes stored that it may make besides
WHOLE = ("|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8")  # types of whole numbers


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
        narrow = _narrow(array) if array.dtype.kind in "iu" else array
        if narrow.dtype != array.dtype:
            return {"as": array.dtype.str, "of": self.put(narrow, group)}
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


def _narrow(array: Array) -> Array:
    """Return large arrays of whole numbers in the smallest type that holds them."""
    if array.nbytes < SMALL:
        return array
    least, largest = int(array.min()), int(array.max())
    kind = np.min_scalar_type(largest) if least >= 0 else np.promote_types(*map(np.min_scalar_type, (least, -largest)))
    return array if kind.itemsize >= array.dtype.itemsize else array.astype(kind)


class Budget:
    """Counts the bytes that loading makes, so that a small folder cannot fill the memory."""

    def __init__(self, parts: object) -> None:
        self._left = ALLOWED + GROWTH * stored_bytes(parts)

    def spend(self, n_bytes: int) -> None:
        """Take so many bytes away, or refuse the model."""
        self._left -= n_bytes
        require(self._left >= 0, "A model must not be many times as large in memory as it is on disk")


def stored_bytes(part: Any) -> int:
    """Return the bytes of all arrays of a part."""
    if isinstance(part, dict):
        return sum(map(stored_bytes, part.values()))
    if isinstance(part, Texts):
        return int(part.utf8.nbytes + part.offsets.nbytes)
    return int(part.nbytes) if isinstance(part, np.ndarray) else 0


class ArrayReader:
    """Gives the arrays of a stored model back, read-only, or refuses a place where there is none.

    An array that is asked for several times is made once.
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.budget = Budget(parts)
        self._parts = parts
        pools = parts.get(POOLS, {})
        self._pools: dict[str, Array] = pools if isinstance(pools, dict) else {}
        self._widened: dict[str, Array] = {}

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
            case {"as": str(dtype), "of": str() | list() as inner}:
                return self._widen(dtype, inner)
        raise damage_error(f"The place of an array must be a part or a run of one. Got {str(place)[:200]} instead.")

    def _widen(self, dtype: str, place: object) -> Array:
        """Return whole numbers of a smaller type in a larger one, which holds them all."""
        key = f"{dtype} {place}"
        if key not in self._widened:
            stored = self.get(place)
            fits = dtype in WHOLE and stored.dtype.str in WHOLE and stored.dtype.itemsize < np.dtype(dtype).itemsize
            require(fits, "Whole numbers must be widened to whole numbers")
            require(bool(np.can_cast(stored.dtype, dtype)), f"Numbers must fit into {dtype}")
            self.budget.spend(stored.size * np.dtype(dtype).itemsize)
            self._widened[key] = freeze(stored.astype(dtype, order="K"))
        return self._widened[key]

    def _run(self, dtype: str, start: int, shape: list[Any], order: Any) -> Array:
        pool = self._pools.get(dtype)
        sizes = [size for size in shape if type(size) is int and size >= 0]
        require(len(sizes) == len(shape) <= 32, "The shape of an array must be at most 32 whole numbers")
        end = start + math.prod(sizes)
        sound = isinstance(pool, np.ndarray) and pool.ndim == 1 and pool.dtype.str == dtype
        if pool is None or not sound or not 0 <= start <= end <= len(pool):
            raise damage_error(f"A small array must lie among those of its dtype. Got {dtype} {start} {shape} instead.")
        return pool[start:end].reshape(shape, order=order)
