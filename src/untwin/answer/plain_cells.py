"""Cells of a few rows, read without frames: those that Python reads as Polars does, and no others.

All cells of a column must be of one kind (or None): texts, whole numbers, numbers, truth values. Whatever is more
(dates, vectors, other frames, numbers spelled in other ways, what is wrong) is left to `untwin.data.table_cells`, which
has the last word on what a cell means, and says what is wrong with one.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.layers import FEW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from untwin._types import Array, Floats
    from untwin.answer.cells import Cells, NameColumn, TableColumn

PLAIN_NUMBER = re.compile(r" *[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})? *", re.ASCII)
LONGEST_WHOLE = 63  # bits
SPELLED_ALIKE = (1e-3, 1e15)  # between these Python and Polars write a number in the same way


def read_plain(columns: tuple[TableColumn, ...], given: Mapping[str, Any]) -> Cells | None:
    """Return the cells of each column of a few rows, given as lists by the names of columns; None if others must."""
    found: Cells = []
    for column in columns:
        cells = _as_list(given.get(column.name))
        kind = None if cells is None else _kind_of(cells)
        if cells is None or kind is None or len(cells) > FEW:
            return None
        made = READERS[column.role](column, cells, kind)
        if made is None or (found and len(made) != len(found[0])):
            return None
        found.append(made)
    return found if found and len(found[0]) else None


def _as_list(cells: Any) -> list[Any] | None:
    if isinstance(cells, np.ndarray):
        plain = cells.ndim == 1 and (cells.dtype.kind in "biuUO" or cells.dtype == np.float64)
        return cells.tolist() if plain else None
    return cells if isinstance(cells, list) else None


def _kind_of(cells: list[Any]) -> type | None:
    """Return the type of all cells that are there, str if none is; None if they are of several, or of another."""
    kinds = {type(cell) for cell in cells if cell is not None}
    kind = kinds.pop() if len(kinds) == 1 else None if kinds else str
    return kind if kind in (str, int, float, bool) else None


def _numbers(column: TableColumn, cells: list[Any], kind: type) -> Floats | None:
    if kind is str:
        cells = [cell or None for cell in cells]
        if not all(cell is None or PLAIN_NUMBER.fullmatch(cell) for cell in cells):
            return None
    elif kind is int and any(cell is not None and cell.bit_length() > LONGEST_WHOLE for cell in cells):
        return None
    found = np.array([math.nan if cell is None else float(cell) for cell in cells])
    return None if np.isinf(found).any() else found


def _names(column: NameColumn, cells: list[Any], kind: type) -> Array | None:
    places, found = column.places, list[int]()
    for cell in cells:
        name = None if cell is None else cell if kind is str else _spell(cell)
        if name is None and cell is not None and not (kind is float and math.isnan(cell)):
            return None
        found.append(places.get(name, column.new) if name else column.missing)
    return np.array(found, dtype=np.int64)


def _spell(cell: float) -> str | None:
    """Return a number or a truth value as Polars writes it, whole numbers without decimals; None if that is not sure.

    >>> _spell(True), _spell(2.0), _spell(0.5), _spell(1e-7)
    ('true', '2', '0.5', None)
    """
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int):
        return str(cell) if cell.bit_length() <= LONGEST_WHOLE else None
    if not SPELLED_ALIKE[0] <= abs(cell) < SPELLED_ALIKE[1]:
        return "0" if cell == 0 and math.copysign(1.0, cell) > 0 else None
    return repr(cell).removesuffix(".0")


def _texts(column: TableColumn, cells: Sequence[Any], kind: type) -> list[str] | None:
    return ["" if cell is None else cell for cell in cells] if kind is str else None


READERS: dict[str, Any] = {"numeric": _numbers, "nominal": _names, "text": _texts}
