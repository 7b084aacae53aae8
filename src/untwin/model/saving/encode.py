"""From a fitted model to a tree of JSON, with its arrays beside it."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array, csr_matrix

from untwin._errors import InputError
from untwin.model.saving.arrays import SMALL
from untwin.model.saving.frames import UnknownColumn, column_state
from untwin.model.saving.nodes import FEW_STRINGS, NUMBER_TYPES, Node
from untwin.model.saving.registry import KINDS, name_of
from untwin.model.saving.rules import require_harmless
from untwin.store.deflated import deflate
from untwin.store.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from untwin._types import Array
    from untwin.model.saving.arrays import ArrayWriter

    Path = tuple[str, ...]

ROOT = "state"  # its attributes name the parts of the model directory


class Encoder:
    """Encodes things one inside the other; `path` leads from the model to the thing at hand."""

    def __init__(self, writer: ArrayWriter) -> None:
        self._writer = writer
        self._kinds: dict[type, Callable[[Any, Path], Node]] = {  # a masked array is an array too: first comes first
            np.ma.MaskedArray: lambda thing, path: {"masked": self._encode_items(_mask_parts(thing), path)},
            np.ndarray: self._array,
            csr_array: lambda thing, path: {"csr": self._matrix(thing, path)},
            csr_matrix: lambda thing, path: {"csr_matrix": self._matrix(thing, path)},
            pl.Series: lambda thing, path: {"series": self._column(thing, path)},
            pl.DataFrame: lambda thing, path: {"frame": [self._column(column, path) for column in thing]},
            np.dtype: lambda thing, path: {"dtype": thing.str},
            slice: lambda thing, path: {"slice": self._list([thing.start, thing.stop, thing.step], path)},
        }

    def node(self, thing: Any, path: Path = ()) -> Node:
        """Return a thing as JSON; refuse what cannot be saved, with the way to it."""
        if thing is None or isinstance(thing, bool | str):
            return thing
        if isinstance(thing, int | float | np.generic):
            return _number(thing)
        for kind, encode in self._kinds.items():
            if isinstance(thing, kind):
                return encode(thing, path)
        return self._collection(thing, path)

    def _collection(self, thing: Any, path: Path) -> Node:
        kind = type(thing)
        if kind is list and len(thing) > FEW_STRINGS and all(isinstance(item, str) for item in thing):
            return {"strings": self._strings(thing, path)}
        if kind is list:
            return self._list(thing, path)
        if kind in (tuple, set, frozenset):
            return {kind.__name__: self._list(thing if kind is tuple else sorted(thing), path)}
        if kind is dict and all(isinstance(key, str) for key in thing):
            return {"dict": self._encode_items(thing, path)}
        if isinstance(thing, type) and thing in NUMBER_TYPES.values():
            return {"type": thing.__name__}
        name = name_of(thing)
        if name is not None:
            return {name: self._encode_items(self._state(name, thing, path), path)}
        raise _not_savable(thing, path)

    def _list(self, things: Iterable[Any], path: Path) -> list[Node]:
        return [self.node(thing, (*path, str(number))) for number, thing in enumerate(things)]

    def _encode_items(self, things: Mapping[str, Any], path: Path) -> dict[str, Node]:
        now = list(things.items())  # another thread may have the model note something meanwhile
        return {name: self.node(thing, (*path, name)) for name, thing in now}

    def _state(self, name: str, thing: Any, path: Path) -> dict[str, Any]:
        """Return what an instance of a kind holds, if it holds what its kind may and loading would not refuse it."""
        state = KINDS[name].state(thing)
        faults = KINDS[name].faults(state)
        if faults:
            raise _not_savable(state.get(faults[0]), (*path, faults[0]))
        require_harmless(name, thing)
        return state

    def _array(self, array: Array, path: Path) -> Node:
        if array.dtype.kind == "U" and array.ndim == 1 and len(array) > FEW_STRINGS:
            names, codes = np.unique(array, return_inverse=True)
            if 2 * len(names) < len(array):
                content = {"names": self.node(names.tolist(), path), "codes": self._put(codes, path)}
                return {"labels": {"dtype": array.dtype.str, **content}}
        if array.dtype != object:
            return {"array": self._put(array, path)}
        if array.ndim != 1:
            raise _not_savable(array, path)
        return {"objects": self.node(array.tolist(), path)}

    def _matrix(self, matrix: Any, path: Path) -> Node:
        arrays = {name: self._put(getattr(matrix, name), path) for name in ("data", "indices", "indptr")}
        return {"shape": list(matrix.shape), **arrays}

    def _strings(self, texts: list[str], path: Path) -> Node:
        block = Texts.of(texts)
        lengths = {"lengths": self._put(np.diff(block.offsets), path)}
        if block.utf8.nbytes >= SMALL:
            return {"deflated": self._put(deflate(block.utf8.data), path), "size": block.utf8.nbytes, **lengths}
        return {"utf8": self._put(block.utf8, path), **lengths}

    def _column(self, column: pl.Series, path: Path) -> Node:
        try:
            state = column_state(column)
        except UnknownColumn:
            raise _not_savable(column, (*path, column.name)) from None
        return self._encode_items(state, path)

    def _put(self, array: Array, path: Path) -> Any:
        return self._writer.put(array, path[1] if path[:1] == (ROOT,) and len(path) > 1 else "more")


def _mask_parts(array: Any) -> dict[str, Array]:
    return {"data": array.data, "mask": np.ma.getmaskarray(array)}


def _number(value: Any) -> Node:
    plain = value.item() if isinstance(value, np.generic) else value
    return {"float": str(plain)} if isinstance(plain, float) and not isfinite(plain) else plain


def _not_savable(thing: Any, path: Path) -> InputError:
    shown = f"a column of {thing.dtype}" if isinstance(thing, pl.Series) else f"{thing!r:.60} ({type(thing).__name__})"
    hint = (
        "Encoders and estimators may be untwin's own, TfidfTransformer, Normalizer, StandardScaler, ComplementNB, "
        "LinearSVC and pipelines of these; random_state an int; cv an int or fold numbers; columns of a frame texts, "
        "names, numbers, times or vectors."
    )
    message = f"{'.'.join(path) or 'The model'} must be something that can be saved. Got {shown} instead."
    return InputError(message, code="not-savable", hint=hint)
