"""From named values to plain arrays, and back with every index checked.

    array                        {"array": digest}
    csr_array                    {"csr": {"shape": [n, m], "data": digest, "indices": digest, "indptr": digest}}
    sequence of strings          {"texts": {"utf8": digest, "offsets": digest}}
    mapping of all of these      {"parts": {name: ...}}

`put` stores an array and returns its digest; `get` does the reverse, or refuses the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from untwin.store.npy import storable
from untwin.store.refusal import damage_error, require
from untwin.store.texts import Texts, check_texts

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from untwin._types import Array

    Put = Callable[[Array], str]
    Get = Callable[[object], Array]
    Part: TypeAlias = Array | csr_array | Sequence[str] | Mapping[str, "Part"]

_INDEX_DTYPES = {np.dtype(name) for name in ("int32", "int64")}
_DATA_DTYPES = {np.dtype(kind) for kind in "?bhilqBHILQfd"}


def pack_part(part: Part, put: Put, name: str = "parts") -> dict[str, Any]:
    """Store the arrays of a part and return its entry of the manifest."""
    from scipy.sparse import csr_array  # slow to load, and not needed by a model that only answers

    match part:
        case np.ndarray():
            return {"array": put(storable(part, name))}
        case csr_array():
            arrays = {key: put(storable(getattr(part, key), name)) for key in ("data", "indices", "indptr")}
            return {"csr": {"shape": part.shape, **arrays}}
        case Texts():
            return {"texts": {key: put(storable(getattr(part, key), name)) for key in ("utf8", "offsets")}}
        case list() | tuple() if all(isinstance(text, str) for text in part):
            return pack_part(Texts.of(part), put, name)
        case Mapping() if all(isinstance(key, str) for key in part):
            return {"parts": {key: pack_part(value, put, f"{name}/{key}") for key, value in part.items()}}
    raise ValueError(
        f"{name} must be a NumPy array, a csr_array, a list of strings, or a mapping of these by name. "
        f"Got {type(part).__name__} instead."
    )


def unpack_part(entry: object, get: Get, name: str = "parts") -> Any:
    """Return the part that an entry of the manifest describes; mappings come back as dictionaries."""
    match entry:
        case {"array": sha256}:
            return get(sha256)
        case {"csr": {"shape": [int(rows), int(columns)], "data": data, "indices": indices, "indptr": indptr}}:
            return check_csr((rows, columns), get(data), get(indices), get(indptr), name)
        case {"texts": {"utf8": utf8, "offsets": offsets}}:
            return check_texts(get(utf8), get(offsets), name)
        case {"parts": dict(parts)}:
            return {key: unpack_part(value, get, f"{name}/{key}") for key, value in parts.items()}
    raise damage_error(f"{name} must be an array, a csr matrix, texts or parts. Got {str(entry)[:200]} instead.")


def check_csr(shape: tuple[int, int], data: Array, indices: Array, indptr: Array, name: str) -> csr_array:
    """Return the CSR matrix of these arrays; raise `ModelRefused` for invalid indices, which SciPy does not check."""
    index_dtype = indices.dtype
    require(index_dtype == indptr.dtype and index_dtype in _INDEX_DTYPES, f"Indices of {name} must be int32 or int64")
    require(data.dtype in _DATA_DTYPES, f"Values of {name} must be numbers that SciPy computes with")
    require(data.ndim == indices.ndim == indptr.ndim == 1, f"Arrays of {name} must have one axis")
    require(len(data) == len(indices), f"{name} must have as many indices as values")
    require(0 <= min(shape) <= max(shape) <= np.iinfo(index_dtype).max, f"Indices of {name} must suffice for its shape")
    require(len(indptr) == shape[0] + 1, f"{name} must have as many rows as its shape says")
    rising = indptr[0] == 0 and bool((indptr[:-1] <= indptr[1:]).all())
    require(rising and indptr[-1] == len(indices), f"Row pointers of {name} must rise from 0 to the number of values")
    within = len(indices) == 0 or 0 <= indices.min() <= indices.max() < shape[1]
    require(within, f"Indices of {name} must be less than its number of columns")
    from scipy.sparse import csr_array

    # The constructor would look for a smaller index dtype, and copy.
    matrix = csr_array(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix
