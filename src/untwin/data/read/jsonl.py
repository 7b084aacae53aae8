"""JSON Lines: one object a line, numbers kept as they are written, the union of all keys as columns.

The text comes in pieces of any cut; whole lines become tables, so that memory does not depend on how long a file is.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin._errors import InputError
from untwin.data.read import limits
from untwin.data.read.source import lone_surrogate
from untwin.data.read.table import BadRows, Places, RawTable, Refusal, text_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_CELLS = 1 << 22  # of one table
PLAIN = {str, type(None)}  # what needs no spelling out
_LONG_HINT = "Every object ends with a line break."
_HINT = 'Every line must be one JSON object, for example {"text": "...", "label": "..."}.'


class ReadObjects(NamedTuple):
    """Some objects: as a table, and as they are written."""

    table: RawTable
    written: list[str]


def read_jsonl(pieces: Iterable[bytes], name: str, skip_bad_rows: int) -> Iterator[ReadObjects]:
    """Yield the table in pieces of UTF-8 text, block by block; a block has the columns of those before it as well."""
    reader = _JsonLinesReader(name, BadRows(skip_bad_rows))
    rest = b""
    for piece in pieces:
        whole, newline, rest = (rest + piece).rpartition(b"\n")
        yield from reader.read(whole + newline)
        if len(rest) > limits.LONGEST_RECORD + 2:  # a line break
            limits.refuse_long_record(reader.place(1), _LONG_HINT)
    yield from reader.read(rest)
    if reader.row == 0:
        raise InputError(f"{name}: the file is empty.", code="empty", hint=_HINT)


class _JsonLinesReader:
    """What is known while a file is read: its keys, the row and the line it has come to, objects for the next table."""

    def __init__(self, name: str, bad: BadRows) -> None:
        self.name, self.bad = name, bad
        self.row = self.line = 0
        self.keys: dict[str, None] = {}
        self.objects = _Objects.none()

    def read(self, data: bytes) -> Iterator[ReadObjects]:
        """Yield tables of whole lines, none with more cells than are good for memory."""
        for text in io.BytesIO(data):
            self._take(text)
            if len(self.objects.rows) * len(self.keys) > MOST_CELLS:
                yield self._table()
        if self.objects.rows or self.bad.count > self.bad.noted:
            yield self._table()

    def place(self, ahead: int = 0) -> str:
        """Return where the reading is, or so many lines ahead."""
        return f"{self.name}, row {self.row + ahead} (line {self.line + ahead})"

    def _take(self, text: bytes) -> None:
        """Read one line."""
        self.line += 1
        if not text.strip():
            return
        self.row += 1
        if len(text.rstrip(b"\r\n")) > limits.LONGEST_RECORD:
            limits.refuse_long_record(self.place(), _LONG_HINT)
        written = text.decode()
        try:
            record = _record(written)
        except (ValueError, RecursionError) as error:
            self.bad.add(f"{self.place()}: {_reason(error)}", code="bad-json", hint=_HINT)
            return
        if b"\\u" in text:
            _require_whole_characters(record, self.place())
        if not record.keys() <= self.keys.keys():
            new = [key for key in record if key not in self.keys]
            limits.require_columns_within_limits(new, self.place(), known=len(self.keys))
            self.keys |= dict.fromkeys(new)
        self.objects.add(self.row, self.line, record, written.removesuffix("\n"))

    def _table(self) -> ReadObjects:
        objects, self.objects = self.objects, _Objects.none()
        hint = "Write it as plain text (one value a cell), or name another column."
        columns, refused = [], dict[str, Refusal]()
        for key in self.keys:
            cells = [record.get(key) for record in objects.records]
            kinds = set(map(type, cells))
            if kinds & {dict, list}:
                refused[key] = Refusal("nested-column", "holds lists or objects", hint)
            columns.append(cells if kinds <= PLAIN else list(map(_cell, cells)))
        rows, lines = np.array(objects.rows, dtype=np.int64), np.array(objects.lines, dtype=np.int64)
        places = Places(self.name, rows, lines=lines)
        frame = text_frame(list(self.keys), columns)
        return ReadObjects(RawTable(frame, places, "jsonl", self.bad.new_notes(), refused), objects.written)


class _Objects(NamedTuple):
    """Some lines of a file, side by side: a list of each is read faster than a list of all four."""

    rows: list[int]
    lines: list[int]
    records: list[dict[str, Any]]
    written: list[str]

    @classmethod
    def none(cls) -> _Objects:
        return cls([], [], [], [])

    def add(self, row: int, line: int, record: dict[str, Any], written: str) -> None:
        self.rows.append(row)
        self.lines.append(line)
        self.records.append(record)
        self.written.append(written)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {Counter(keys).most_common(1)[0][0][:80]!r} occurs twice.")
    return record


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_unique_keys)


def _record(text: str) -> dict[str, Any]:
    record = _DECODER.decode(text)
    if not isinstance(record, dict):
        kind = "a JSON array" if isinstance(record, list) else "a single value"
        raise ValueError(f"holds {kind}, not an object.")
    return record


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {error.msg} at character {error.pos + 1}."
    return "nested too deeply." if isinstance(error, RecursionError) else str(error)


def _require_whole_characters(record: dict[str, Any], place: str) -> None:
    r"""Refuse ``\ud800`` without its partner: Python takes it, no file or table can hold it."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise lone_surrogate(place) from None


def _cell(value: Any) -> str | None:
    """Return a JSON value as written; numbers are text already, nested values become JSON text again."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
