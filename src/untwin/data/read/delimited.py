"""CSV and TSV: Polars where the text is plain, Python's csv module, which is the authority, where it is not."""

from __future__ import annotations

import csv
import io
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from untwin._errors import InputError
from untwin.data.read.records import find_records
from untwin.data.read.table import BadRows, Places, RawTable, Refusal, empty_as_null, text_frame

if TYPE_CHECKING:
    import _csv
    from collections.abc import Iterator, Sequence

    import polars as pl

_SEPARATORS = {"csv": ",", "tsv": "\t"}
_NAMED_SEPARATORS = {"\\t": "\t", "tab": "\t", "space": " "}
_QUOTING_HINT = 'Write a quote inside a quoted cell twice ("") and close every quote.'
_CELLS_HINT = "Quote cells that hold the separator or a line break, or choose another --separator."


def read_delimited(data: bytes, name: str, kind: str, separator: str | None, skip_bad_rows: int) -> RawTable:
    """Return the table in `data`, UTF-8 bytes with a header row."""
    mark = separator_of(separator, kind)
    if not data.strip():
        hint = "Give a table with a header row and at least one row for each of two classes."
        raise InputError(f"{name}: the file is empty.", code="empty", hint=hint)
    return _read_fast(data, name, kind, mark) or _read_slowly(data, name, kind, mark, skip_bad_rows)


def separator_of(given: str | None, kind: str) -> str:
    """Return what separates the cells: as given, by name, or as the format has it."""
    mark = _SEPARATORS[kind] if given is None else _NAMED_SEPARATORS.get(given, given)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
        hint = 'Use one ASCII character such as "," ";" "|" or tab.'
        raise InputError(f"The separator must be one character. Got {mark!r} instead.", code="separator", hint=hint)
    return mark


def _read_fast(data: bytes, name: str, kind: str, mark: str) -> RawTable | None:
    """Return the table, or None if the text is not plain or Polars sees other records than we do."""
    import polars as pl

    records = find_records(data, ord(mark))
    if records is None:
        return None
    header = next(csv.reader(io.StringIO(data[records.header].decode(), newline=""), delimiter=mark, strict=True))
    _check_separator(header, name, mark)
    try:
        frame = pl.read_csv(data, separator=mark, infer_schema=False)
    except pl.exceptions.PolarsError:
        return None
    if frame.shape != (len(records.lines), len(header)):
        return None
    kept = np.flatnonzero(~records.blank)
    if records.blank.any():
        frame = frame.filter(~pl.Series(records.blank))
    places = Places(name, np.arange(1, len(kept) + 1), lines=records.lines[kept])
    return _table(frame, header, places, kind, BadRows(0))


def _read_slowly(data: bytes, name: str, kind: str, mark: str, skip_bad_rows: int) -> RawTable:
    bad = BadRows(skip_bad_rows)
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    with _no_field_limit():
        records = _records(csv.reader(text, delimiter=mark, strict=True), name, bad)
        _, _, header = next(records)
        _check_separator(header, name, mark)
        rows, lines, cells = [], [], []
        for row, line, record in records:
            if len(record) != len(header):
                message = f"{name}, row {row} (line {line}): {len(record)} cells where the header has {len(header)}."
                bad.add(message, code="ragged-row", hint=_CELLS_HINT)
                continue
            rows.append(row)
            lines.append(line)
            cells.append(record)
    columns = list(zip(*cells, strict=True)) or [()] * len(header)
    frame = text_frame([str(i) for i in range(len(header))], columns)
    places = Places(name, np.array(rows, dtype=np.int64), lines=np.array(lines, dtype=np.int64))
    return _table(frame, header, places, kind, bad)


def _records(reader: _csv.Reader, name: str, bad: BadRows) -> Iterator[tuple[int, int, list[str]]]:
    """Yield row number (header: 0), first line and cells of every record; blank lines are passed over."""
    row, line = 0, 1
    record: list[str] | None
    while True:
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            _refuse_quote(
                error, f"{name}, {f'row {row}' if row else 'header'} (line {line})", bad if row else BadRows(0)
            )
            record = None
        if record:
            yield row, line, record
        row += record != []
        line = reader.line_num + 1


def _refuse_quote(error: csv.Error, place: str, bad: BadRows) -> None:
    if "unexpected end of data" in str(error):  # may have swallowed half the file: never just one bad row
        raise InputError(f"{place}: a quote is opened and never closed.", code="unclosed-quote", hint=_QUOTING_HINT)
    message = f"{place}: a quoted cell goes on after its closing quote, or an earlier quote is not closed."
    bad.add(message, code="stray-quote", hint=_QUOTING_HINT)


@contextmanager
def _no_field_limit() -> Iterator[None]:
    """Allow cells of any size; the limit is global to the csv module, so it is restored."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _check_separator(header: Sequence[str], name: str, mark: str) -> None:
    """Refuse a header of one column that another separator would split."""
    if len(header) > 1:
        return
    better = max(",;\t|", key=header[0].count)
    if better != mark and better in header[0]:
        shown = {"\t": "tab"}.get(better, f'"{better}"')
        hint = f"Say --separator {shown}."
        message = f"{name}: the header is one column, {header[0]!r}: it seems to be separated by {shown}."
        raise InputError(message, code="separator", hint=hint)


def _table(frame: pl.DataFrame, header: Sequence[str], places: Places, kind: str, bad: BadRows) -> RawTable:
    """Name the columns as the header does; a second column of a name gets a number and both are refused."""
    given = [column or f"column {i}" for i, column in enumerate(header, start=1)]
    seen: Counter[str] = Counter()
    names: list[str] = []
    for column in given:
        seen[column] += 1
        names.append(column if seen[column] == 1 else _unused(f"{column} ({seen[column]})", [*given, *names]))
    twice = {
        column: Refusal("duplicate-column", f"occurs {count} times in the header", "Rename or remove one of them.")
        for column, count in seen.items()
        if count > 1
    }
    frame.columns = names
    return RawTable(empty_as_null(frame), places, kind, bad.notes(), twice)


def _unused(name: str, taken: Sequence[str]) -> str:
    return _unused(name + "'", taken) if name in taken else name
