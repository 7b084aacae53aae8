"""A text file as blocks of whole records; each block is small, and where it stands in the file is known.

The readers of `untwin.data.read` do the rest, block by block, so that a stream is read exactly as a whole file is.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
import zlib
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from untwin._errors import InputError
from untwin.data.read.source import STDIN, refuse_spreadsheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    BinaryStream = io.BufferedReader | gzip.GzipFile

BLOCK_CHARACTERS = 1 << 23
LONGEST_RECORD = 1 << 28  # characters; a quote that is never closed swallows the rest of the file
GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
# UTF-32 before UTF-16: its little-endian mark begins with UTF-16's.
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Block(NamedTuple):
    """Whole records as text; `rows` records and `lines` lines stand before them, not counting a header."""

    text: str
    rows: int
    lines: int


@contextmanager
def opened_bytes(source: str) -> Iterator[BinaryStream]:
    """Open a file or standard input for a while; what gzip has packed is unpacked on the way."""
    name = "stdin" if source == STDIN else source
    with ExitStack() as stack:
        try:
            file: Any = sys.stdin.buffer if source == STDIN else stack.enter_context(Path(source).open("rb"))
        except OSError as error:
            hint = "Check that it is a file and that you may read it."
            raise InputError(f"{name}: cannot be read: {error.strerror}.", code="unreadable", hint=hint) from None
        stream = io.BufferedReader(file)  # whatever standard input is, this can be peeked at
        stack.callback(stream.detach)
        start = stream.peek(4)
        if start.startswith(ZIP):
            refuse_spreadsheet(name, "a spreadsheet or zip archive")
        yield stack.enter_context(gzip.GzipFile(fileobj=stream)) if start.startswith(GZIP) else stream


def lines_of(source: str, encoding: str | None, newline: str) -> Iterator[str]:
    """Yield the lines of a text file or of standard input, without a byte order mark; `newline` as in `open`."""
    name = "stdin" if source == STDIN else source
    number = 0
    try:
        with opened_bytes(source) as stream, _decoded(stream, encoding, newline) as text:
            for line in text:
                number += 1
                yield line
    except LookupError:
        hint = "Use a Python codec name such as utf-8, utf-16, cp1252, latin-1, shift_jis, gb18030."
        raise InputError(f"Unknown encoding {encoding!r}.", code="encoding", hint=hint) from None
    except UnicodeDecodeError as error:
        found, before = error.object[error.start : error.start + 3].hex(" "), error.object[: error.start]
        number += before.decode(error.encoding, "replace").count("\n") + 1
        message = f"{name}, line {number}: the bytes {found} are not {error.encoding} text."
        hint = "Say how the file is encoded, for example --encoding cp1252, or save it as UTF-8."
        raise InputError(message, code="encoding", hint=hint) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        hint = "The file is damaged or cut off: copy or download it again."
        raise InputError(f"{name}: the gzip data is broken: {error}", code="gzip", hint=hint) from None


@contextmanager
def _decoded(stream: BinaryStream, encoding: str | None, newline: str) -> Iterator[io.TextIOWrapper]:
    start = stream.peek(4)
    marked = next((codec for mark, codec in MARKS.items() if start.startswith(mark)), "utf-8")
    text = io.TextIOWrapper(stream, encoding=encoding or marked, newline=newline)
    try:
        yield text
    finally:
        text.detach()


def line_blocks(lines: Iterator[str], most_rows: int) -> Iterator[Block]:
    r"""Cut JSON Lines: a record is a line that is not blank.

    >>> [block.text for block in line_blocks(iter(["1\n", "\n", "2\n", "3"]), 2)]
    ['1\n\n2\n', '3']
    """
    return _gathered(([line] for line in lines), most_rows)


def record_blocks(lines: Iterator[str], separator: str, most_rows: int) -> Iterator[Block]:
    """Cut CSV; a record ends where Python's csv module, which is the authority, sees its end."""
    return _gathered(_records(lines, separator), most_rows)


def header_of(lines: Iterator[str], separator: str) -> list[str]:
    """Return the lines of the first record that is not blank, and those before it."""
    passed = []
    for record in _records(lines, separator):
        passed += record
        if "".join(record).strip():
            break
    return passed


def _records(lines: Iterator[str], separator: str) -> Iterator[list[str]]:
    """Yield the lines of each record."""
    taken: list[str] = []
    csv.field_size_limit(LONGEST_RECORD)  # of a cell; the module's own limit is far lower

    def passing() -> Iterator[str]:
        size = 0
        for line in lines:
            size = size + len(line) if taken else len(line)
            if size > LONGEST_RECORD:
                return
            taken.append(line)
            yield line

    for _ in csv.reader(passing(), delimiter=separator):
        yield taken.copy()
        taken.clear()


def _gathered(records: Iterator[list[str]], most_rows: int) -> Iterator[Block]:
    """Put records together until a block is large enough."""
    text: list[str] = []
    size = rows = rows_before = lines_before = 0
    for record in records:
        text += record
        size += sum(map(len, record))
        rows += bool(record[0].strip())
        if rows >= most_rows or size >= BLOCK_CHARACTERS:
            yield Block("".join(text), rows_before, lines_before)
            rows_before, lines_before = rows_before + rows, lines_before + sum(line.count("\n") for line in text)
            text, size, rows = [], 0, 0
    if text:
        yield Block("".join(text), rows_before, lines_before)
