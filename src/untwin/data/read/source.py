"""From a path or standard input to UTF-8 bytes: gzip and encoding undone, binary files refused."""

from __future__ import annotations

import codecs
import gzip
import sys
import zlib
from typing import TYPE_CHECKING

from untwin._errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

STDIN = "-"
_BLOCK = 1 << 24
_GZIP = b"\x1f\x8b"
_SPREADSHEETS = {b"PK\x03\x04": "a spreadsheet or zip archive", b"\xd0\xcf\x11\xe0": "an old Office document"}
# UTF-32 before UTF-16: its little-endian mark begins with UTF-16's.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_bytes(path: Path, name: str) -> bytes:
    """Return the whole file (or standard input), refused with a reason if it cannot be read."""
    try:
        return sys.stdin.buffer.read() if name == "stdin" else path.read_bytes()
    except OSError as error:
        hint = "Check that it is a file and that you may read it."
        raise InputError(f"{name}: cannot be read: {error.strerror}.", code="unreadable", hint=hint) from None


def read_text(path: Path, name: str, encoding: str | None) -> bytes:
    """Return the text of a file as UTF-8 bytes without a byte order mark."""
    data = read_bytes(path, name)
    if data.startswith(_GZIP):
        data = _decompressed(data, name)
    for magic, kind in _SPREADSHEETS.items():
        if data.startswith(magic):
            refuse_spreadsheet(name, kind)
    return to_utf8(data, name, encoding)


def refuse_spreadsheet(name: str, kind: str = "a spreadsheet") -> None:
    """Raise the error for files that only a spreadsheet program reads well."""
    hint = "Open it in the program that made it and save it as CSV (UTF-8)."
    raise InputError(f"{name}: is {kind}, not a text table.", code="spreadsheet", hint=hint)


def to_utf8(data: bytes, name: str, encoding: str | None) -> bytes:
    """Return `data` as valid UTF-8 bytes without a byte order mark; NUL characters mean a binary file."""
    marked = next((codec for mark, codec in _MARKS.items() if data.startswith(mark)), None)
    codec = encoding or marked or "utf-8"
    if _codec_name(codec) == "utf-8":
        data = data.removeprefix(codecs.BOM_UTF8)
        skipped = 3 if marked == "utf-8-sig" else 0
        _require_utf8(data, name, skipped)
    else:
        data = _decoded(data, name, codec).removeprefix("\ufeff").encode()
    if b"\0" in data:
        hint = "Give a text table; for UTF-16 without a byte order mark say --encoding utf-16-le (or utf-16-be)."
        raise InputError(f"{name}: looks like a binary file (it holds NUL bytes).", code="binary", hint=hint)
    return data


def _codec_name(codec: str) -> str:
    try:
        name = codecs.lookup(codec).name
        "".encode(codec)  # refuses codecs that are not text, such as base64
    except LookupError:
        hint = "Use a Python codec name such as utf-8, utf-16, cp1252, latin-1, shift_jis, gb18030."
        raise InputError(f"Unknown encoding {codec!r}.", code="encoding", hint=hint) from None
    return "utf-8" if name == "utf-8-sig" else name


def _require_utf8(data: bytes, name: str, skipped: int) -> None:
    """Decode block by block: the text itself may be too large to stand in memory twice."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, len(data), _BLOCK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(view[start : start + _BLOCK], start + _BLOCK >= len(data))
        except UnicodeDecodeError as error:
            offset = start - pending + error.start
            line = data.count(b"\n", 0, offset) + 1
            raise _wrong_encoding(name, "UTF-8", offset + skipped, line, data[offset : offset + 3]) from None


def _decoded(data: bytes, name: str, codec: str) -> str:
    try:
        text = data.decode(codec)
        text.encode()  # utf-7 and friends may yield lone surrogates
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(codec, "replace").count("\n") + 1
        raise _wrong_encoding(name, codec, error.start, line, data[error.start : error.start + 3]) from None
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise lone_surrogate(f"{name}, line {line}") from None
    return text


def _wrong_encoding(name: str, codec: str, offset: int, line: int, found: bytes) -> InputError:
    place = f"{name}, byte {offset} (line {line})"
    if codec == "UTF-8" and found[:1] == b"\xed" and b"\xa0" <= found[1:2] <= b"\xbf":
        return lone_surrogate(place)
    message = f"{place}: the bytes {found.hex(' ')} are not {codec} text."
    hint = "Say how the file is encoded, for example --encoding cp1252, or save it as UTF-8."
    return InputError(message, code="encoding", hint=hint)


def lone_surrogate(place: str) -> InputError:
    """Return the error for half of a UTF-16 pair: no character, and nothing can store it."""
    hint = "The text was cut in the middle of a character: remove or repair it where it was written."
    return InputError(f"{place}: holds a lone surrogate (half a character).", code="lone-surrogate", hint=hint)


def _decompressed(data: bytes, name: str) -> bytes:
    try:
        return gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        hint = "The file is damaged or cut off: copy or download it again."
        raise InputError(f"{name}: the gzip data is broken: {error}", code="gzip", hint=hint) from None
