"""What reading yields: text cells, and where each of them came from.

frame   every column String, null = missing (an empty cell is a missing cell, in every format)
places  for each frame row the data row (1 = first row after the header), and the line or file where that says more;
        once roles are settled, what the id column calls it
refused columns that can be shown but not used: named twice in the header, lists, binary
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from untwin._errors import InputError
from untwin._wording import cut, format_count, option

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import polars as pl

    from untwin._types import Integers

_WIDEST_NAME = 60  # of a column, in a message


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a table; everything left out is taken from the file itself.

    >>> ReadOptions(separator=";").separator
    ';'
    """

    format: str | None = None
    separator: str | None = None
    encoding: str | None = None
    skip_bad_rows: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something left out or passed over while reading: how often, and in words."""

    code: str
    count: int
    text: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a column cannot be used, and what to do about it."""

    code: str
    reason: str
    hint: str


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where the rows of a frame stand in their source.

    >>> Places("tickets.csv", np.array([1, 2]), lines=np.array([2, 3])).say(1)
    'tickets.csv, row 2 (line 3)'
    """

    name: str
    rows: Integers
    lines: Integers | None = None
    files: Sequence[str] | None = None
    ids: Sequence[str] | None = None

    def say(self, index: int) -> str:
        """Return the place of frame row `index` in words."""
        if self.files is not None:
            return f"{self.name}/{self.files[int(self.rows[index]) - 1]}"
        more = [] if self.lines is None else [f"line {self.lines[index]}"]
        more += [] if self.ids is None else [f"id {self.ids[index]!r}"]
        shown = f" ({', '.join(more)})" if more else ""
        return f"{self.name}, row {self.rows[index]}{shown}"

    def mark(self, index: int) -> int | str:
        """Return what stands for frame row `index` in lists: its own id, or its file, or its data row."""
        if self.ids is not None:
            return self.ids[index]
        row = int(self.rows[index])
        return row if self.files is None else self.files[row - 1]

    def marks(self) -> list[str]:
        """Return what stands for each frame row, all different."""
        return [str(self.mark(index)) for index in range(len(self.rows))]

    def marks_beside(self, taken: Collection[str]) -> list[str]:
        """Return what stands for each frame row beside rows whose names are `taken`: its id or file, or file:row.

        >>> Places("new/more.csv", np.array([1, 2]), ids=["T-1", "T-9"]).marks_beside({"T-1"})
        ['T-1 (more.csv:1)', 'T-9']
        """
        rows = [f"{Path(self.name).name}:{row}" for row in self.rows.tolist()]
        if self.ids is None and self.files is None:
            return make_distinct(rows, taken)
        named = zip(self.marks(), rows, strict=True)
        return make_distinct((f"{name} ({row})" if name in taken else name for name, row in named), taken)

    def with_ids(self, ids: Sequence[str | None]) -> Places:
        """Return the places with the owner's ids; rows without one, or with one that others have too, by their row.

        >>> Places("t.csv", np.array([1, 2, 3, 4])).with_ids(["T-1", "T-2", "T-2", None]).marks()
        ['T-1', 'T-2 (row 2)', 'T-2 (row 3)', 'row 4']
        """
        times = Counter(ids)
        rows = zip(ids, self.rows.tolist(), strict=True)
        named = [
            f"row {row}" if name is None else name if times[name] == 1 else f"{name} (row {row})" for name, row in rows
        ]
        return replace(self, ids=make_distinct(named))

    def take(self, indices: Integers) -> Places:
        """Return the places of the frame rows `indices`."""
        lines = None if self.lines is None else self.lines[indices]
        ids = None if self.ids is None else [self.ids[index] for index in indices.tolist()]
        return replace(self, rows=self.rows[indices], lines=lines, ids=ids)


def make_distinct(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names of which each occurs once and none is `taken`; those that would not get a number.

    >>> make_distinct(["T-1", "T-2", "T-1"], ["T-2"])
    ['T-1', 'T-2 #2', 'T-1 #2']
    """
    seen, different = set(taken), []
    for name in names:
        fresh, number = name, 2
        while fresh in seen:
            fresh, number = f"{name} #{number}", number + 1
        seen.add(fresh)
        different.append(fresh)
    return different


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """A table as written: text cells and nothing guessed.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"text": ["a", None], "label": ["01", "1"]})
    >>> RawTable(frame, Places("t.csv", np.array([1, 2])), "csv")
    RawTable(t.csv: csv, 2 rows, 2 columns)
    """

    frame: pl.DataFrame
    places: Places
    format: str
    notes: tuple[Note, ...] = ()
    refused: Mapping[str, Refusal] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"RawTable({self.name}: {self.format}, {self.frame.height} rows, {self.frame.width} columns)"

    @property
    def name(self) -> str:
        """The source, as messages call it."""
        return self.places.name

    def size(self) -> int:
        """Return how many bytes of memory the table takes: its texts, and 16 for each cell and each place."""
        return int(self.frame.estimated_size()) + 16 * self.frame.height * (self.frame.width + 1)

    def column_list(self) -> str:
        """Return the names of the columns for a message."""
        names, more = self.frame.columns[:40], self.frame.width - 40
        shown = ", ".join(repr(cut(name, _WIDEST_NAME)) for name in names)
        return shown + (f" and {more:,} more" if more > 0 else "")

    def require_usable(self, column: str) -> None:
        """Refuse a column that can be shown but not used."""
        refusal = self.refused.get(column)
        if refusal is not None:
            message = f"{self.name}: column {column!r} {refusal.reason}."
            raise InputError(message, code=refusal.code, hint=refusal.hint)

    def part(self, start: int, stop: int) -> RawTable:
        """Return some of the rows; notes belong to the first of them."""
        places = self.places.take(np.arange(start, stop))
        return replace(self, frame=self.frame[start:stop], places=places, notes=() if start else self.notes)


@dataclass(slots=True)
class BadRows:
    """Counts rows that cannot be used; the first one beyond `allowed` ends the reading."""

    allowed: int
    count: int = 0
    noted: int = 0

    def add(self, message: str, *, code: str, hint: str) -> None:
        """Pass over one bad row, or refuse the file."""
        self.count += 1
        if self.count > self.allowed:
            so_far = f" ({format_count(self.count, 'bad row')} so far)" if self.allowed else ""
            more = f"Or leave out up to N such rows with {option('skip_bad_rows', meta='N')}."
            raise InputError(message + so_far, code=code, hint=f"{hint} {more}")

    def new_notes(self) -> tuple[Note, ...]:
        """Return a note about the rows passed over since the last time, if there are any."""
        new, self.noted = self.count - self.noted, self.count
        return bad_rows(new)


def bad_rows(count: int) -> tuple[Note, ...]:
    """Return the note that tells of rows passed over, if there are any."""
    return (Note("bad-rows", count, f"{format_count(count, 'bad row')} skipped"),) if count else ()


def text_frame(names: Sequence[str], columns: Sequence[Sequence[str | None]]) -> pl.DataFrame:
    """Return a frame of String columns in which an empty cell is null."""
    import polars as pl

    frame = pl.DataFrame(dict(zip(names, columns, strict=True)), schema=dict.fromkeys(names, pl.String))
    return empty_as_null(frame)


def empty_as_null(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with empty strings as nulls: a quoted and an unquoted empty cell mean the same."""
    import polars as pl

    return frame.with_columns(pl.when(pl.col(pl.String) != "").then(pl.col(pl.String)).name.keep())
