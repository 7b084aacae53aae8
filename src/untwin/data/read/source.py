"""From a path or standard input to pieces of UTF-8 text: gzip and encoding undone, other files refused.

What is wrong with a file is told when all text before it has been handed on, so that the first mistake of a file is
the one that is told, however the file is cut into pieces.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import sys
import zlib
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from untwin._errors import InputError
from untwin._wording import option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STDIN = "-"
PIECE = 1 << 23  # bytes
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_SPREADSHEETS = {b"PK\x03\x04": "a spreadsheet or zip archive", b"\xd0\xcf\x11\xe0": "an old Office document"}
# UTF-32 before UTF-16: its little-endian mark begins with UTF-16's.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Readable(Protocol):
    """What can be read as it comes."""

    def read1(self, size: int, /) -> bytes:
        """Return the next bytes that are there, at most so many; none at the end."""


class _Peeked:
    """A stream whose first bytes are known; a pipe cannot be wound back."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._ahead = b""
        self.start = self._ahead = self.read(8)

    def read(self, size: int, /) -> bytes:
        """Return the next bytes; fewer only at the end.

        They are taken as they come, since a signal that arrives between two parts of one long read would have to wait
        for its end, which may never come where the rows come through a pipe.
        """
        parts, self._ahead = [self._ahead[:size]], self._ahead[size:]
        missing = size - len(parts[0])
        while missing and (part := self._stream.read1(missing)):
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    read1 = read  # of a stream inside another one


def name_of(source: str) -> str:
    """Return what messages call a source."""
    return "stdin" if source == STDIN else source


@contextmanager
def open_source(source: str) -> Iterator[_Peeked]:
    """Open a file or standard input for a while."""
    with ExitStack() as stack:
        try:
            file: Readable = _stdin() if source == STDIN else stack.enter_context(Path(source).open("rb"))
            yield _Peeked(file)
        except gzip.BadGzipFile:
            raise
        except OSError as error:
            hint = "Check that it is a file and that you may read it."
            message = f"{name_of(source)}: cannot be read: {error.strerror or error}."
            raise InputError(message, code="unreadable", hint=hint) from None


def _stdin() -> Readable:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    return cast("Readable", sys.stdin.buffer)


def text_pieces(source: str, encoding: str | None) -> Iterator[bytes]:
    """Yield the text of a file or of standard input as UTF-8 without a byte order mark, in pieces of any cut."""
    name = name_of(source)
    with open_source(source) as file:
        yield from utf8_pieces(_unpack(file, name), name, encoding)


def _unpack(file: _Peeked, name: str) -> Iterator[bytes]:
    """Yield the bytes of a file that may be packed by gzip."""
    try:
        if file.start.startswith(_GZIP):
            file = _Peeked(gzip.GzipFile(fileobj=cast("Any", file), mode="rb"))  # of which it calls read only
        _refuse_by_start(file.start, name)
        while piece := file.read(PIECE):
            yield piece
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        hint = "The file is damaged or cut off: copy or download it again."
        raise InputError(f"{name}: the gzip data is broken: {error}", code="gzip", hint=hint) from None


def _refuse_by_start(start: bytes, name: str) -> None:
    """Refuse files that are no text and say so in their first bytes."""
    for magic, kind in _SPREADSHEETS.items():
        if start.startswith(magic):
            refuse_spreadsheet(name, kind)
    if start.startswith(_PARQUET):
        hint = f"Say {option('format', 'parquet')}."
        raise InputError(f"{name}: is a Parquet file, not a text table.", code="format", hint=hint)


def refuse_spreadsheet(name: str, kind: str = "a spreadsheet") -> None:
    """Raise the error for files that only a spreadsheet program reads well."""
    hint = "Open it in the program that made it and save it as CSV (UTF-8)."
    raise InputError(f"{name}: is {kind}, not a text table.", code="spreadsheet", hint=hint)


def utf8_pieces(pieces: Iterable[bytes], name: str, encoding: str | None) -> Iterator[bytes]:
    """Yield encoded text as UTF-8 without a byte order mark; NUL characters mean a binary file."""
    line = 1
    for piece in _decode(pieces, name, encoding):
        if b"\0" in piece:
            sound = piece[: piece.index(b"\0")]
            yield sound
            line += sound.count(b"\n")
            message = f"{name}, line {line}: holds a NUL byte, so the file seems to be a binary one."
            unmarked = f"say {option('encoding', 'utf-16-le')} (or utf-16-be)"
            hint = f"Give a text table; for UTF-16 without a byte order mark {unmarked}."
            raise InputError(message, code="binary", hint=hint)
        yield piece
        line += piece.count(b"\n")


def _decode(pieces: Iterable[bytes], name: str, encoding: str | None) -> Iterator[bytes]:
    decoder: _Decoder | None = None
    for piece in pieces:
        if decoder is None:
            marked = next((codec for mark, codec in _MARKS.items() if piece.startswith(mark)), "utf-8")
            decoder = _Decoder(name, encoding or marked)
        yield from decoder.feed(piece, final=False)
    decoder = decoder or _Decoder(name, encoding or "utf-8")
    yield from decoder.feed(b"", final=True)


class _Decoder:
    """Turns encoded bytes into UTF-8 and knows where it is in the file."""

    def __init__(self, name: str, codec: str) -> None:
        self.name, self.codec = name, _codec_name(codec)
        self.decoder = codecs.getincrementaldecoder(self.codec)()
        self.offset, self.line, self.begun = 0, 1, False

    def feed(self, piece: bytes, *, final: bool) -> Iterator[bytes]:
        """Yield a piece as UTF-8; up to what is wrong with it, if anything is, which is raised then."""
        state, wrong = self.decoder.getstate(), None
        start = self.offset - len(state[0])
        try:
            text = self.decoder.decode(piece, final)
        except UnicodeDecodeError as error:
            self.decoder.setstate(state)
            text = self.decoder.decode(piece[: max(error.start - len(state[0]), 0)])
            found = error.object[error.start : error.start + 3]
            wrong = self._wrong(start + error.start, self.line + text.count("\n"), found)
        except UnicodeError as error:
            raise self._wrong(start, self.line, piece[:3]) from error
        yield from self._encode(text)
        if wrong is not None:
            raise wrong
        self.offset += len(piece)

    def _encode(self, text: str) -> Iterator[bytes]:
        if not self.begun:
            self.begun, text = bool(text), text.removeprefix("\ufeff")
        try:
            yield text.encode()
        except UnicodeEncodeError as error:  # utf-7 and friends may yield lone surrogates
            sound = text[: error.start]
            yield sound.encode()
            line = self.line + sound.count("\n")
            raise lone_surrogate(f"{self.name}, line {line}") from None
        self.line += text.count("\n")

    def _wrong(self, offset: int, line: int, found: bytes) -> InputError:
        place = f"{self.name}, byte {offset} (line {line})"
        if self.codec == "utf-8" and found[:1] == b"\xed" and b"\xa0" <= found[1:2] <= b"\xbf":
            return lone_surrogate(place)
        shown = "UTF-8" if self.codec == "utf-8" else self.codec
        message = f"{place}: the bytes {found.hex(' ')} are not {shown} text."
        hint = f"Say how the file is encoded, for example {option('encoding', 'cp1252')}, or save it as UTF-8."
        return InputError(message, code="encoding", hint=hint)


def _codec_name(codec: str) -> str:
    try:
        name = codecs.lookup(codec).name
        "".encode(codec)  # refuses codecs that are not text, such as base64
        codecs.getincrementaldecoder(name)
    except (LookupError, UnicodeError):
        hint = "Use a Python codec name such as utf-8, utf-16, cp1252, latin-1, shift_jis, gb18030."
        raise InputError(f"Unknown encoding {codec!r}.", code="encoding", hint=hint) from None
    return "utf-8" if name == "utf-8-sig" else name


def lone_surrogate(place: str) -> InputError:
    """Return the error for half of a UTF-16 pair: no character, and nothing can store it."""
    hint = "The text was cut in the middle of a character: remove or repair it where it was written."
    return InputError(f"{place}: holds a lone surrogate (half a character).", code="lone-surrogate", hint=hint)
