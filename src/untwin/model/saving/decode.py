"""From a tree of JSON and arrays back to a model; both may come from a stranger, so nothing is taken on trust.

Only classes of the table are made, with the attributes that they may hold; no code that a file names is run, because a
file cannot name any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._values import freeze
from untwin.model.saving.frames import column_of
from untwin.model.saving.nodes import COLLECTIONS, DEEPEST, LARGEST_WHOLE, MATRICES, NUMBER_TYPES, Node
from untwin.model.saving.registry import KINDS, NOT_READ
from untwin.store.deflated import inflate
from untwin.store.kinds import check_csr
from untwin.store.refusal import damage_error, require
from untwin.store.texts import check_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Array
    from untwin.model.saving.arrays import ArrayReader

STRING = 60  # bytes that a string takes in memory besides its characters
ITEM = 64  # bytes of an item of a list, at least
THING = 1 << 14  # what a column, a matrix or an instance counts for: it takes memory, and a fraction of a millisecond
LONG = 50  # bytes of a string, on average, from which on decoding one by one is as fast


class Decoder:
    """Decodes things one inside the other; `made` lists the instances of kinds, to be checked when all are there."""

    def __init__(self, reader: ArrayReader) -> None:
        self.made: list[tuple[str, Any]] = []
        self._reader = reader
        self._depth = 0
        self._files: set[str] = set()  # of matrices
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "dict": self._decode_items,
            "slice": lambda content: slice(*self._items(content)),
            "float": lambda content: {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}[content],
            "array": self._reader.get,
            "labels": self._labels,
            "objects": self._objects,
            "masked": self._masked,
            "strings": self._strings,
            "dtype": _dtype,
            "type": NUMBER_TYPES.__getitem__,
            "series": self._column,
            "frame": self._frame,
        }

    def thing(self, node: Node) -> Any:
        """Return the thing that a node describes."""
        self._depth += 1
        require(self._depth <= DEEPEST, f"A model must have at most {DEEPEST} levels")
        found = self._thing(node)
        self._depth -= 1
        return found

    def _thing(self, node: Node) -> Any:
        match node:
            case None | bool() | str() | float():
                return node
            case int():
                require(-LARGEST_WHOLE <= node < LARGEST_WHOLE, "Whole numbers must have at most 64 bits")
                return node
            case list():
                return self._items(node)
            case dict() if len(node) == 1:
                return self._of_kind(*next(iter(node.items())))
        raise damage_error(f"A node must be a value or one named kind. Got {str(node)[:200]} instead.")

    def _of_kind(self, kind: str, content: Any) -> Any:
        if kind in self._kinds:
            return self._kinds[kind](content)
        if kind in COLLECTIONS:
            return COLLECTIONS[kind](self._items(content))
        if kind in MATRICES:
            return self._matrix(MATRICES[kind], content)
        if kind not in KINDS:
            raise damage_error(f"A kind must be one that models consist of. Got {kind[:200]} instead.")
        return self._instance(kind, content)

    def _instance(self, name: str, content: Any) -> Any:
        require(isinstance(content, dict), f"A {name} must have attributes")
        content = {attribute: node for attribute, node in content.items() if attribute not in NOT_READ}
        faults = KINDS[name].faults(content)
        require(not faults, f"A {name} must have what its kind has, and no more: {str(faults[:3])[:200]}")
        self._reader.budget.spend(THING)
        made = KINDS[name].make(self._decode_items(content))
        self.made.append((name, made))
        return made

    def _items(self, content: Any) -> list[Any]:
        require(isinstance(content, list), "A collection must be a list of what it holds")
        self._reader.budget.spend(ITEM * len(content))
        return [self.thing(item) for item in content]

    def _decode_items(self, content: Any) -> dict[str, Any]:
        require(isinstance(content, dict), "Things by name must have names")
        self._reader.budget.spend(ITEM * len(content))
        return {name: self.thing(node) for name, node in content.items()}

    def _matrix(self, kind: type, content: Any) -> Any:
        match content:
            case {"shape": [int(n), int(m)], "data": data, "indices": indices, "indptr": indptr}:
                get = self._reader.get
                parts = get(data), get(indices), get(indptr)
                # Values copy their tables, and whoever counts terms makes a number for each column.
                self._reader.budget.spend(THING + parts[2].itemsize * max(m, 0))
                if self._is_shared(data, indices):
                    self._reader.budget.spend(sum(part.nbytes for part in parts))
                matrix = check_csr((n, m), *parts, "a matrix")
                return matrix if kind is type(matrix) else _as(kind, matrix)
        raise damage_error(f"A matrix must have a shape and three arrays. Got {str(content)[:200]} instead.")

    def _is_shared(self, *places: Any) -> bool:
        """Tell whether arrays may be referred to more than once: a run of a pool, or a file that has been before."""
        files = [place["of"] if isinstance(place, dict) else place for place in places]
        shared = any(not isinstance(file, str) or file in self._files for file in files)
        self._files.update(file for file in files if isinstance(file, str))
        return shared

    def _strings(self, content: Any) -> list[str]:
        lengths = self._reader.get(content["lengths"])
        require(lengths.ndim == 1 and lengths.dtype == np.int64, "Strings must have their lengths")
        self._reader.budget.spend(STRING * len(lengths))
        require(len(lengths) == 0 or lengths.min() >= 0, "Lengths must not be negative")
        utf8 = self._reader.get(content["utf8"]) if "utf8" in content else self._inflate(content)
        self._reader.budget.spend(len(utf8))
        texts = check_texts(utf8, np.concatenate([[0], np.cumsum(lengths)]), "strings")
        if len(utf8) > LONG * len(lengths) or not utf8.all():
            return list(texts)
        offsets = texts.offsets
        return np.insert(utf8, offsets[1:-1], 0).tobytes().decode().split("\0")  # a vocabulary three times as fast

    def _inflate(self, content: Any) -> Array:
        """Return compressed bytes, of which there must be as many as their size says."""
        size = content["size"]
        require(type(size) is int and size >= 0, "Compressed texts must have a size")
        self._reader.budget.spend(size)
        return np.frombuffer(inflate(self._reader.get(content["deflated"]), size), dtype=np.uint8)

    def _labels(self, content: Any) -> Array:
        """Return strings by their codes among a few names."""
        names, codes, dtype = self.thing(content["names"]), self._reader.get(content["codes"]), _dtype(content["dtype"])
        known = isinstance(names, list) and all(isinstance(name, str) for name in names)
        require(known and dtype.kind == "U" and codes.ndim == 1 and codes.dtype == np.int64, "Labels must be names")
        within = len(codes) == 0 or 0 <= codes.min() <= codes.max() < len(names)
        require(bool(within), "Codes of labels must be those of names")
        require(max(map(len, names), default=0) <= dtype.itemsize // 4, "Names must fit into their type")
        self._reader.budget.spend((len(names) + len(codes)) * dtype.itemsize)
        return freeze(np.array(names, dtype=dtype)[codes])

    def _objects(self, content: Any) -> Array:
        items = self.thing(content)
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array

    def _masked(self, content: Any) -> Any:
        data, mask = self.thing(content["data"]), self.thing(content["mask"])
        arrays = isinstance(data, np.ndarray) and isinstance(mask, np.ndarray) and data.shape == mask.shape
        require(arrays and mask.dtype == bool, "A masked array must have a mask of its shape")
        self._reader.budget.spend(data.nbytes + mask.nbytes)
        return np.ma.MaskedArray(data, mask=mask, hard_mask=True)

    def _column(self, content: Any) -> pl.Series:
        state = self._decode_items(content)
        spent = [part.nbytes for part in state.values() if isinstance(part, np.ndarray)]
        texts = [STRING * len(part) for part in state.values() if isinstance(part, list)]
        self._reader.budget.spend(THING + 2 * sum(spent) + sum(texts))
        return column_of(state)

    def _frame(self, content: Any) -> pl.DataFrame:
        require(isinstance(content, list), "A frame must be a list of columns")
        return pl.DataFrame([self._column(column) for column in content])


def _as(kind: type, matrix: Any) -> Any:
    """Return a matrix of the older interface with the same arrays, which its constructor would copy."""
    made = kind(matrix.shape, dtype=matrix.dtype)
    made.data, made.indices, made.indptr = matrix.data, matrix.indices, matrix.indptr
    return made


def _dtype(content: Any) -> np.dtype[Any]:
    require(isinstance(content, str), "A dtype must be a name")
    dtype: np.dtype[Any] = np.dtype(content)
    require(dtype.kind in "biufUO" and dtype.names is None, "A dtype must be that of numbers, strings or labels")
    return dtype
