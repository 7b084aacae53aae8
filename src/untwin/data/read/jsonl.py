"""JSON Lines: one object a line, numbers kept as they are written, the union of all keys as columns."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from untwin._errors import InputError
from untwin.data.read.source import lone_surrogate
from untwin.data.read.table import BadRows, Places, RawTable, Refusal, text_frame

_HINT = 'Every line must be one JSON object, for example {"text": "...", "label": "..."}.'


def read_jsonl(data: bytes, name: str, skip_bad_rows: int) -> RawTable:
    """Return the table in `data`, UTF-8 bytes."""
    bad = BadRows(skip_bad_rows)
    rows, lines, records = [], [], []
    row = 0
    for line, text in enumerate(io.BytesIO(data), start=1):
        if not text.strip():
            continue
        row += 1
        place = f"{name}, row {row} (line {line})"
        try:
            record = _record(text.decode())
        except (ValueError, RecursionError) as error:
            bad.add(f"{place}: {_reason(error)}", code="bad-json", hint=_HINT)
            continue
        if b"\\u" in text:
            _require_whole_characters(record, place)
        rows.append(row)
        lines.append(line)
        records.append(record)
    if row == 0:
        raise InputError(f"{name}: the file is empty.", code="empty", hint=_HINT)
    places = Places(name, np.array(rows, dtype=np.int64), lines=np.array(lines, dtype=np.int64))
    return _table(records, places, bad)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice.")
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


def _table(records: list[dict[str, Any]], places: Places, bad: BadRows) -> RawTable:
    names = list(dict.fromkeys(key for record in records for key in record))
    nested = {key for record in records for key, value in record.items() if isinstance(value, dict | list)}
    hint = "Write it as plain text (one value a cell), or name another column."
    refused = {name: Refusal("nested-column", "holds lists or objects", hint) for name in names if name in nested}
    columns = [[_cell(record.get(name)) for record in records] for name in names]
    return RawTable(text_frame(names, columns), places, "jsonl", bad.notes(), refused)


def _cell(value: Any) -> str | None:
    """Return a JSON value as written; numbers are text already, nested values become JSON text again."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
