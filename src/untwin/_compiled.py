"""The one door to numba: compiled loops over sparse rows, which release the GIL so that Python threads share the work.

numba compiles a function at its first call and caches it on disk. Its own thread pools are not used: they do not
survive a fork. Compiled loops check no index, so that callers hand over what `as_rows` returns. Import this module
late, where something is trained or many rows are asked about: loading numba takes some time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Array

Function = TypeVar("Function", bound="Callable[..., Any]")


def compiled(function: Function) -> Function:
    """Compile a function at its first call; cached, except where no folder for the cache can be written."""
    options: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}}
    try:
        made: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba's word for: no folder
        made = numba.njit(**options)(function)
    checked: Function = made
    return checked


class Rows(NamedTuple):
    """CSR rows in the types that loops are compiled for: int64, int32, float32."""

    starts: Array
    terms: Array
    values: Array


def as_rows(X: Any) -> Rows:
    """Return the arrays of a CSR matrix as compiled loops take them; copies only where a type differs."""
    return Rows(
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.data, dtype=np.float32),
    )
