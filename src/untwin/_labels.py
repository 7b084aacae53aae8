"""Labels on their way into an array, which would make one class of several without a word.

NumPy turns the numbers among strings into strings, truth values among numbers into numbers, drops NUL characters at
the end of a string, and makes floats of whole numbers that no integer of 64 bits holds.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin._types import Array

KINDS = {"bool": (bool, np.bool_), "number": (int, float, np.integer, np.floating), "text": (str,)}
MOST, LEAST = np.iinfo(np.int64).max, np.iinfo(np.int64).min


def require_distinct(y: Any) -> None:
    """Refuse labels of which an array would make one; anything but labels, one for each row, passes.

    >>> require_distinct(["a", "b"])
    >>> require_distinct([1, "1"])
    Traceback (most recent call last):
    untwin._errors.InputError: Labels must be of one kind. Got 1 and '1' instead. Make all of them strings.
    """
    cells = [cell for cell in _cells(y) if not _is_missing(cell)]
    types = dict(zip(map(type, cells), cells, strict=True))
    kinds = {_kind_of(kind): cell for kind, cell in types.items()}
    if len(kinds) > 1:
        shown = " and ".join(repr(cell) for cell in list(kinds.values())[:2])
        message = f"Labels must be of one kind. Got {shown} instead."
        raise InputError(message, code="mixed-labels", hint="Make all of them strings.")
    if "text" in kinds:
        _refuse((cell for cell in cells if cell.endswith("\0")), "end with a NUL character, which is dropped")
    elif "number" in kinds:
        whole = (cell for cell in cells if not isinstance(cell, float | np.floating))
        _refuse((cell for cell in whole if not LEAST <= cell <= MOST), "be a whole number beyond 64 bits")


def label_array(y: Any) -> Array:
    """Return labels, or the names of classes, as an array in which those that differ still do."""
    require_distinct(y)
    return np.asarray(y)


def _cells(y: Any) -> list[Any]:
    """Return labels that are Python objects, one by one; nothing where an array of one type holds them."""
    if isinstance(y, list | tuple):
        return [] if any(np.ndim(cell) for cell in y[:1]) else list(y)
    if isinstance(y, np.ndarray):
        return y.tolist() if y.dtype == object and y.ndim == 1 else []
    return list(y.to_list()) if hasattr(y, "to_list") and np.ndim(y) == 1 else []  # a Series


def _is_missing(cell: Any) -> bool:
    """Tell whether there is no label, which is somebody else's matter."""
    return isnan(cell) if isinstance(cell, float) else type(cell).__name__ in ("NoneType", "NAType", "NaTType")


def _kind_of(kind: type) -> str:
    return next((name for name, types in KINDS.items() if issubclass(kind, types)), kind.__name__)


def _refuse(labels: Iterator[Any], what: str) -> None:
    for label in labels:
        raise InputError(f"A label must not {what}. Got {label!r} instead.", code="merged-labels", hint="Rename it.")
