"""CSV and TSV: Polars where the text is plain, Python's csv module, which is the authority, where it is not.

The text comes in pieces of any cut. From each, all records that are complete become a table; what is left begins the
next one. So memory does not depend on how long a file is.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwin._errors import InputError
from untwin._wording import format_count, option
from untwin.data.read import limits
from untwin.data.read.records import find_records
from untwin.data.read.table import BadRows, Places, RawTable, Refusal, empty_as_null, text_frame

if TYPE_CHECKING:
    import _csv
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

_SEPARATORS = {"csv": ",", "tsv": "\t"}
_NAMED_SEPARATORS = {"\\t": "\t", "tab": "\t", "space": " "}
_QUOTING_HINT = 'Write a quote inside a quoted cell twice ("") and close every quote.'
_CELLS_HINT = "Quote cells that hold the separator or a line break, or choose another"
_LONG_HINT = "If a quote opens there and is never closed, close it."


def read_delimited(
    pieces: Iterable[bytes], name: str, kind: str, separator: str | None, skip_bad_rows: int
) -> Iterator[RawTable]:
    """Yield the table in pieces of UTF-8 text that begin with a header row, block by block."""
    reader = _DelimitedReader(name, kind, separator_of(separator, kind), BadRows(skip_bad_rows))
    for piece in pieces:
        yield from reader.feed(piece, final=False)
    yield from reader.feed(b"", final=True)


def separator_of(given: str | None, kind: str) -> str:
    """Return what separates the cells: as given, by name, or as the format has it."""
    mark = _SEPARATORS[kind] if given is None else _NAMED_SEPARATORS.get(given, given)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
        hint = 'Use one ASCII character such as "," ";" "|" or tab.'
        raise InputError(f"The separator must be one character. Got {mark!r} instead.", code="separator", hint=hint)
    return mark


class _DelimitedReader:
    """What is known while a file is read: its header, the row and the line it has come to, what is not used yet."""

    def __init__(self, name: str, kind: str, mark: str, bad: BadRows) -> None:
        self.name, self.kind, self.mark, self.bad = name, kind, mark, bad
        self.columns: list[str] = []
        self.refused: dict[str, Refusal] = {}
        self.row, self.line, self.rest = 0, 1, b""

    def feed(self, piece: bytes, *, final: bool) -> Iterator[RawTable]:
        """Yield a table of the records that are complete with this piece, if there are any."""
        self.rest += piece
        if self.row == 0:
            self._take_header(final=final)
        if self.row and self.rest:
            table = self._read_fast(final=final) or self._read_slowly(final=final)
            if table.frame.height or table.notes:
                yield table
        if len(self.rest) > limits.LONGEST_RECORD + 2:  # a line break
            limits.refuse_long_record(self._place(), _LONG_HINT)

    def _take_header(self, *, final: bool) -> None:
        """Name the columns by the first record that is not blank."""
        done = _Taken()
        for done in self._records(final=final):
            if done.cells and any(map(str.strip, done.cells)):
                limits.require_columns_within_limits(done.cells, self._place(done.line))
                _check_separator(done.cells, self.name, self.mark)
                self.columns, self.refused = _name_columns(done.cells)
                self._move(done)
                self.row = 1
                return
        self._move(done)
        if final:
            hint = "Give a table with a header row and at least one row below it."
            raise InputError(f"{self.name}: the file is empty.", code="empty", hint=hint)

    def _read_fast(self, *, final: bool) -> RawTable | None:
        """Return a table, or None if the text is not plain or Polars sees other records than we do."""
        import polars as pl

        width = len(self.columns)
        records = find_records(self.rest, ord(self.mark), width, final=final)
        if records is None or records.longest > limits.LONGEST_RECORD:
            return None
        header = self.mark.join(map(str, range(width))).encode() + b"\n"
        try:
            frame = pl.read_csv(header + self.rest[: records.end], separator=self.mark, infer_schema=False)
        except pl.exceptions.PolarsError:
            return None
        if frame.shape != (len(records.lines), width):
            return None
        kept = np.flatnonzero(~records.blank)
        if records.blank.any():
            frame = frame.filter(~pl.Series(records.blank))
        places = Places(
            self.name, np.arange(self.row, self.row + len(kept)), lines=records.lines[kept] + (self.line - 1)
        )
        self.row, self.line, self.rest = self.row + len(kept), self.line + records.n_lines, self.rest[records.end :]
        return self._table(frame, places)

    def _read_slowly(self, *, final: bool) -> RawTable:
        rows, lines, cells = [], [], []
        done = _Taken()
        for done in self._records(final=final):
            if done.cells is not None and len(done.cells) == len(self.columns):
                rows.append(self.row)
                lines.append(done.line)
                cells.append(done.cells)
            elif done.cells:
                found = format_count(len(done.cells), "cell")
                message = f"{self._place(done.line)}: {found} where the header has {len(self.columns):,}."
                self.bad.add(message, code="ragged-row", hint=f"{_CELLS_HINT} {option('separator')}.")
            self.row += done.cells != []
        self._move(done)
        columns = list(zip(*cells, strict=True)) or [()] * len(self.columns)
        frame = text_frame([str(i) for i in range(len(self.columns))], columns)
        places = Places(self.name, np.array(rows, dtype=np.int64), lines=np.array(lines, dtype=np.int64))
        return self._table(frame, places)

    def _records(self, *, final: bool) -> Iterator[_Taken]:
        """Yield the complete records at the beginning of the text."""
        body = self.rest if final else self.rest[: _end_of_lines(self.rest)]
        text = io.TextIOWrapper(io.BytesIO(body), encoding="utf-8", newline="")
        taken: list[str] = []
        reader = csv.reader(_remember(text, taken), delimiter=self.mark, strict=True)
        line, end = self.line, 0
        while True:
            taken.clear()
            cells: list[str] | None = None
            try:
                cells = _next_record(reader)
            except StopIteration:
                return
            except csv.Error as error:
                unclosed = "unexpected end of data" in str(error)
                if unclosed and not final:
                    return
                self._refuse_quote(self._place(line), unclosed=unclosed)
            size = len("".join(taken).encode())
            if size > limits.LONGEST_RECORD + _line_break(taken):
                limits.refuse_long_record(self._place(line), _LONG_HINT)
            end += size
            yield _Taken(cells, line, end, reader.line_num)
            line = self.line + reader.line_num

    def _refuse_quote(self, place: str, *, unclosed: bool) -> None:
        if unclosed:  # may have swallowed half the file: never just one bad row
            raise InputError(f"{place}: a quote is opened and never closed.", code="unclosed-quote", hint=_QUOTING_HINT)
        message = f"{place}: a quoted cell goes on after its closing quote, or an earlier quote is not closed."
        (self.bad if self.row else BadRows(0)).add(message, code="stray-quote", hint=_QUOTING_HINT)

    def _move(self, done: _Taken) -> None:
        """Go on behind a record."""
        self.rest, self.line = self.rest[done.end :], self.line + done.n_lines

    def _place(self, line: int | None = None) -> str:
        what = f"row {self.row}" if self.row else "header"
        return f"{self.name}, {what} (line {self.line if line is None else line})"

    def _table(self, frame: pl.DataFrame, places: Places) -> RawTable:
        frame.columns = self.columns
        return RawTable(empty_as_null(frame), places, self.kind, self.bad.new_notes(), self.refused)


class _Taken(NamedTuple):
    """A record taken off a text.

    cells    None: it is a bad one, none: a blank line
    line     on which it starts, in the file
    end      of the record in the text, in bytes
    n_lines  of the text up to there
    """

    cells: list[str] | None = None
    line: int = 0
    end: int = 0
    n_lines: int = 0


def _end_of_lines(data: bytes) -> int:
    """Return where the last complete line ends; a carriage return at the end may be half of a line break."""
    return max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1


def _remember(lines: Iterable[str], taken: list[str]) -> Iterator[str]:
    for line in lines:
        taken.append(line)
        yield line


def _line_break(lines: list[str]) -> int:
    """Return how many characters end the last line."""
    last = lines[-1] if lines else ""
    return len(last) - len(last.rstrip("\r\n"))


def _next_record(reader: _csv.Reader) -> list[str]:
    """Return a record with cells of any size; the limit is global to the csv module, so it is restored."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(before)


def _check_separator(header: Sequence[str], name: str, mark: str) -> None:
    """Refuse a header of one column that another separator would split."""
    if len(header) > 1:
        return
    better = max(",;\t|", key=header[0].count)
    if better != mark and better in header[0]:
        shown = {"\t": "tab"}.get(better, f'"{better}"')
        hint = f"Say {option('separator', 'tab') if shown == 'tab' else option('separator', meta=shown)}."
        message = f"{name}: the header is one column, {header[0][:80]!r}: it seems to be separated by {shown}."
        raise InputError(message, code="separator", hint=hint)


def _name_columns(header: Sequence[str]) -> tuple[list[str], dict[str, Refusal]]:
    """Return names for the columns; a second column of a name gets a number and the name is refused."""
    given = [column or f"column {i}" for i, column in enumerate(header, start=1)]
    counts, seen = Counter(given), Counter[str]()
    taken, names = set(given), []
    for column in given:
        seen[column] += 1
        name = column if seen[column] == 1 else _find_unused(f"{column} ({seen[column]})", taken)
        taken.add(name)
        names.append(name)
    hint = "Rename or remove one of them."
    twice = {
        column: Refusal("duplicate-column", f"occurs {count} times in the header", hint)
        for column, count in counts.items()
        if count > 1
    }
    return names, twice


def _find_unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    return name
