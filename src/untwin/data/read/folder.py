"""A folder with one sub-folder a class: each file below a sub-folder is a document."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from untwin._errors import InputError
from untwin._wording import format_count
from untwin.data.read import limits
from untwin.data.read.source import utf8_pieces
from untwin.data.read.table import Note, Places, RawTable, text_frame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LINKS, _BINARY, _LOOSE = "links", "binary-files", "loose-files"
_WORDS = {
    _LINKS: ("link", "not followed"),
    _BINARY: ("binary file", "skipped"),
    _LOOSE: ("file", "outside any class folder skipped"),
}


def read_folder(folder: Path, encoding: str | None) -> RawTable:
    """Return columns text, label (the sub-folder) and id (the path below `folder`), in the order of the paths."""
    skipped: Counter[str] = Counter()
    texts, labels, files, size = [], [], [], 0
    for path in _files(folder, skipped):
        relative = path.relative_to(folder)
        if len(relative.parts) == 1:
            skipped[_LOOSE] += 1
            continue
        text = _document(path, encoding)
        if text is None:
            skipped[_BINARY] += 1
            continue
        size += len(text)
        limits.require_fits(size, str(folder))
        texts.append(text)
        labels.append(relative.parts[0])
        files.append(relative.as_posix())
    notes = tuple(_note(code, count) for code, count in sorted(skipped.items()))
    if not files:
        found = ", ".join(note.text for note in notes) or "no files at all"
        hint = "Put each document as a text file into a sub-folder named after its class."
        raise InputError(f"{folder}: holds no documents ({found}).", code="empty", hint=hint)
    places = Places(str(folder), np.arange(1, len(files) + 1), files=files)
    return RawTable(text_frame(["text", "label", "id"], [texts, labels, files]), places, "folder", notes)


def _note(code: str, count: int) -> Note:
    what, happened = _WORDS[code]
    return Note(code, count, f"{format_count(count, what)} {happened}")


def _files(folder: Path, skipped: Counter[str]) -> Iterator[Path]:
    """Yield regular files in a fixed order; hidden ones are ignored, links counted."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise _unreadable(folder, error) from None
    for entry in entries:
        path = folder / entry.name
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            skipped[_LINKS] += 1
        elif entry.is_dir():
            yield from _files(path, skipped)
        elif entry.is_file():
            yield path


def _document(path: Path, encoding: str | None) -> str | None:
    """Return the text of a file, or None if it is binary."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.LONGEST_RECORD + 1)
    except OSError as error:
        raise _unreadable(path, error) from None
    if len(data) > limits.LONGEST_RECORD and b"\0" not in data:
        limits.refuse_long_record(str(path), "")
    try:
        return b"".join(utf8_pieces([data], str(path), encoding)).decode()
    except InputError as error:
        if error.code == "binary" or b"\0" in data:
            return None
        raise


def _unreadable(path: Path, error: OSError) -> InputError:
    hint = "Make it readable (chmod) or move it out of the folder."
    return InputError(f"{path}: cannot be read: {error.strerror}.", code="unreadable", hint=hint)
