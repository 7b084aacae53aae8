"""A model directory as a single file: a zip archive whose members are stored as they are, not compressed.

So a file cannot make us allocate more than its own size, and any unzip makes a model directory of it again. Times in
it are fixed: the same model gives the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from untwin._files import flush
from untwin.store.files import MANIFEST, is_packable
from untwin.store.refusal import ModelRefused, damage_error, require

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from untwin._types import Array
    from untwin.store.npy import ArrayFile

ENCRYPTED = 1  # bit of the flags of a member
_NEW = ".new"


class PackedFile:
    """A packed model that is open for reading; raises `ModelRefused` if it is anything else."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = ZipFile(path)
        except (BadZipFile, RuntimeError, ValueError):
            hint = "Give the folder that `untwin fit` has written, or the file of `untwin pack`."
            raise ModelRefused("holds no model.", code="model-missing", hint=hint) from None
        members, size = self._zip.infolist(), path.stat().st_size
        self._members = {member.filename: member for member in members}
        try:
            require(len(self._members) == len(members), "A packed model must have each file once")
            require(all(map(is_packable, self._members)), "A packed model must hold files of a model only")
            require(all(map(_is_stored, members)), "Files of a packed model must be stored as they are")
            require(sum(member.file_size for member in members) <= size, "Files must not be larger than their archive")
        except ModelRefused:
            self._zip.close()
            raise

    def read(self, name: str, most: int | None = None) -> bytes:
        """Return the bytes of a file, the first `most` + 1 of them."""
        if name not in self._members:
            raise damage_error(f"{name} must be in the packed model. Got no such file instead.")
        try:
            with self._zip.open(self._members[name]) as file:
                return file.read() if most is None else file.read(most + 1)
        except (BadZipFile, EOFError, OSError, RuntimeError, ValueError) as error:
            raise damage_error(f"{name} must be readable. Got instead: {error}") from None

    def arrays(self, files: list[ArrayFile]) -> Iterator[Array]:
        """Yield the arrays of files."""
        return (file.array_in(self.read(file.name)) for file in files)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()


def write_packed(folder: Path, manifest: bytes, names: list[str], target: Path) -> int:
    """Write a manifest and named files of a folder into a single file, in one step; return its bytes."""
    new = target.with_name(target.name + _NEW)
    try:
        with ZipFile(new, "w", ZIP_STORED) as packed:
            packed.writestr(ZipInfo(MANIFEST), manifest)
            for name in names:
                packed.writestr(ZipInfo(name), (folder / name).read_bytes())
        flush(new)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
    return target.stat().st_size


def _is_stored(member: ZipInfo) -> bool:
    plain = member.compress_type == ZIP_STORED and not member.flag_bits & ENCRYPTED
    return plain and member.file_size == member.compress_size
