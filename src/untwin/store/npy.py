"""One array, one `.npy` file whose name is the SHA-256 of its bytes.

Glossary
--------
header    magic, version 1.0, length, and the text {'descr': ..., 'fortran_order': ..., 'shape': ...}, filled up with
          blanks so that the payload begins at a multiple of 64 bytes
payload   the items of the array, as they lie in memory: in C or Fortran order (products of the one and of the other may
          differ in their last bit, so the order is kept)

The header is written here and not by NumPy, so that its bytes, and with them the digest, never depend on NumPy's
version. On the way back it is not parsed: the manifest names dtype, shape and order, and the file must begin with the
header that they give. No text of a stranger is evaluated, and the size of the file is known before it is read.
"""

from __future__ import annotations

import hashlib
import math
import mmap
import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from untwin.store.refusal import damage_error, require

if TYPE_CHECKING:
    from pathlib import Path

    from untwin._types import Array

LARGEST_ARRAY = 1 << 40  # bytes; larger numbers in a manifest could overflow
_MOST_AXES = 32
_LAST_CODE_POINT = 0x10FFFF
_MAGIC = b"\x93NUMPY\x01\x00"
_ALIGNMENT = 64
_PLAIN_DTYPE = re.compile(r"\|[biu]1|[<>][iu][248]|[<>]f[248]|[<>]U[1-9][0-9]{0,6}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """What the manifest says about an array, and so all that its file must be.

    Examples
    --------
    >>> file = ArrayFile.of(np.array([[1, 2, 3]], dtype=np.int8))
    >>> file.dtype, file.shape, file.size
    ('|i1', (1, 3), 131)
    """

    sha256: str
    dtype: str
    shape: tuple[int, ...]
    fortran_order: bool

    @classmethod
    def of(cls, array: Array) -> Self:
        """Return the description of a contiguous array of a plain dtype."""
        described = cls("", array.dtype.str, array.shape, not array.flags.c_contiguous)
        digest = hashlib.sha256(described.header)
        digest.update(payload(array))
        return replace(described, sha256=digest.hexdigest())

    @classmethod
    def from_json(cls, sha256: str, entry: object) -> Self:
        """Return the description in a manifest's entry; raise `ModelRefused` if it is not valid."""
        match entry:
            case {"dtype": str(dtype), "shape": list(shape), "fortran_order": bool(fortran_order)}:
                if _DIGEST.fullmatch(sha256) and _PLAIN_DTYPE.fullmatch(dtype) and _is_shape(shape, dtype):
                    return cls(sha256, dtype, tuple(shape), fortran_order)
        raise damage_error(f"A file must have a digest, a plain dtype and a shape. Got {str(entry)[:200]} instead.")

    def to_json(self) -> dict[str, object]:
        """Return the entry of the manifest."""
        return {"dtype": self.dtype, "shape": list(self.shape), "fortran_order": self.fortran_order}

    @property
    def name(self) -> str:
        """Name of the file."""
        return f"{self.sha256}.npy"

    @property
    def header(self) -> bytes:
        """First bytes of the file."""
        text = f"{{'descr': {self.dtype!r}, 'fortran_order': {self.fortran_order}, 'shape': {self.shape!r}, }}"
        blanks = -(len(_MAGIC) + 2 + len(text) + 1) % _ALIGNMENT
        return _MAGIC + (len(text) + blanks + 1).to_bytes(2, "little") + f"{text}{' ' * blanks}\n".encode()

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.header) + math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def map_file(self, folder: Path) -> Array:
        """Return the array, read-only and still on disk, once every byte of the file has been checked."""
        return self.array_in(self._content(folder, in_memory=False))

    def read_file(self, folder: Path) -> Array:
        """Return the same, read into memory: whoever truncates a mapped file ends the process that reads it."""
        return self.array_in(self._content(folder, in_memory=True))

    def array_in(self, content: bytes | mmap.mmap) -> Array:
        """Return the array of a file's content, read-only, once every byte has been checked."""
        header = self.header
        require(len(content) == self.size, f"{self.name} must have {self.size} bytes")
        digest = hashlib.sha256(content).hexdigest()
        require(digest == self.sha256, f"{self.name} must have the digest that its name says")
        require(content[: len(header)] == header, f"{self.name} must have the dtype and shape that the manifest says")
        order: Literal["C", "F"] = "F" if self.fortran_order else "C"
        array: Array = np.ndarray(self.shape, self.dtype, buffer=content, offset=len(header), order=order)
        _require_sound_items(array, self.name)
        return array

    def _content(self, folder: Path, *, in_memory: bool) -> bytes | mmap.mmap:
        try:
            with (folder / self.name).open("rb") as file:
                require(os.fstat(file.fileno()).st_size == self.size, f"{self.name} must have {self.size} bytes")
                return file.read(self.size) if in_memory else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise damage_error(f"{self.name} must be in the folder. Got no such file instead.") from None


def storable(array: Array, name: str) -> Array:
    """Return the array as it can be stored: plain dtype, contiguous; copied only if it was not contiguous."""
    if _PLAIN_DTYPE.fullmatch(array.dtype.str) is None:
        raise ValueError(
            f"{name} must be an array of booleans, integers, floats or strings. Got dtype {array.dtype} instead; "
            "store strings of dtype object as a list."
        )
    return array if array.flags.f_contiguous else np.asarray(array, order="C")


def payload(array: Array) -> memoryview:
    """Return the bytes of a contiguous array without copying them."""
    items = array if array.flags.c_contiguous else array.T
    return items.reshape(-1).view(np.uint8).data


def _is_shape(shape: list[object], dtype: str) -> bool:
    """Tell whether this is a valid shape of a NumPy array."""
    sizes = [size for size in shape if isinstance(size, int) and not isinstance(size, bool) and size >= 0]
    if len(sizes) < len(shape) or len(sizes) > _MOST_AXES:
        return False
    return math.prod(max(size, 1) for size in sizes) * np.dtype(dtype).itemsize <= LARGEST_ARRAY


def _require_sound_items(array: Array, name: str) -> None:
    """Raise `ModelRefused` for booleans other than 0 and 1 (NumPy indexes with them unchecked) and invalid strings."""
    items = array.reshape(-1, order="A")
    if array.dtype.kind == "b":
        require(items.view(np.uint8).max(initial=0) <= 1, f"Booleans of {name} must be 0 or 1")
    if array.dtype.kind == "U":
        code_points = items.view(f"{array.dtype.str[0]}u4")
        require(code_points.max(initial=0) <= _LAST_CODE_POINT, f"Strings of {name} must be Unicode")
