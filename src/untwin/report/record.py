"""Views are records first: plain numbers and names, as JSON and as a table; drawing comes second."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

DIGITS = 6  # more would only show on which machine a sum was taken


@dataclass(frozen=True)
class Record:
    """What all views share."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and strings, ready for JSON."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: records as dicts, tuples as lists, numbers rounded, NaN as None.

    >>> plain({"share": 1 / 3, "pair": ("a", float("nan"))})
    {'share': 0.333333, 'pair': ['a', None]}
    """
    match value:
        case Record():
            return value.to_dict()
        case dict():
            return {str(key): plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
        case bool() | int() | None:
            return value
        case float():
            return round(value, DIGITS) if isfinite(value) else None
        case _:
            return str(value)


def table(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return records of the same keys as a frame."""
    import polars as pl

    return pl.DataFrame([plain(dict(row)) for row in rows], infer_schema_length=None)
