"""Views are records first: plain numbers and names, as JSON and as a table; drawing comes second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from untwin._plain import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

DIGITS = 6  # more would only show on which machine a sum was taken


@dataclass(frozen=True)
class Record:
    """What all views share."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and strings, ready for JSON."""
        content: dict[str, Any] = plain(self, _rounded)
        return content


def _rounded(value: float) -> float:
    return round(value, DIGITS)


def table(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return records of the same keys as a frame."""
    import polars as pl

    return pl.DataFrame([plain(dict(row), _rounded) for row in rows], infer_schema_length=None)
