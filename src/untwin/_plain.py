"""Values as JSON keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def plain(value: Any, number: Callable[[float], float] = float) -> Any:
    """Return a value as JSON keeps it: records as objects, tuples as lists, numbers that JSON lacks as null.

    Parameters
    ----------
    value : Any
        Dataclasses and named tuples are records; NumPy's numbers are numbers; what is nothing of all this is its text.
    number : callable
        How to write a finite number that is not whole, for instance rounded.

    >>> plain({"pair": ("a", float("nan")), 7: 1 / 3}, lambda value: round(value, 3))
    {'pair': ['a', None], '7': 0.333}
    """
    match _as_mapping(value):
        case None | bool() | str() | int():
            return value
        case Mapping() as content:
            return {str(key): plain(inner, number) for key, inner in content.items()}
        case list() | tuple():
            return [plain(inner, number) for inner in value]
        case float():
            return number(value) if isfinite(value) else None
    return plain(value.item(), number) if hasattr(value, "item") else str(value)  # NumPy's numbers have it


def _as_mapping(value: Any) -> Any:
    """Return a record as a mapping, anything else as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value._asdict() if isinstance(value, tuple) and hasattr(value, "_asdict") else value
