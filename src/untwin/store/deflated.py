"""Bytes that are stored compressed: texts, and terms, of which most begin like the one before.

deflated   the bytes as zlib compresses them
size       how many they are; no more is ever made of them, whatever the compressed bytes say
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from untwin.store.refusal import damage_error, require

if TYPE_CHECKING:
    from untwin._types import Array

LEVEL = 4  # of compression: more takes much longer and gains little


def deflate(content: bytes | memoryview) -> Array:
    """Return bytes, compressed.

    >>> inflate(deflate(b"tea, tea, tea, tea, tea, tea"), 28)
    b'tea, tea, tea, tea, tea, tea'
    """
    return np.frombuffer(zlib.compress(content, LEVEL), dtype=np.uint8)


def inflate(deflated: Array, size: object) -> bytes:
    """Return the bytes, of which there must be `size`; who calls it bounds the size."""
    fits = deflated.dtype == np.uint8 and deflated.ndim == 1 and type(size) is int and size >= 0
    if not fits or not isinstance(size, int):
        raise damage_error("Compressed bytes must have a size. Got something else instead.")
    inflater = zlib.decompressobj()
    try:
        found = inflater.decompress(deflated.tobytes(), size + 1)
    except zlib.error:
        raise damage_error("Compressed bytes must be whole. Got damaged ones instead.") from None
    require(len(found) == size and inflater.eof, "Compressed bytes must have the size that they say")
    return found
