"""`Texts`: many strings as one block of UTF-8, read one at a time.

Glossary
--------
utf8      b       all texts, one after the other, as bytes
offsets   n + 1   where each text begins; the last one is b, so text i is utf8[offsets[i]:offsets[i + 1]]
"""

from __future__ import annotations

import codecs
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Self, overload

import numpy as np

from untwin.store.refusal import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from untwin._types import Array, Integers

_BLOCK = 1 << 20  # bytes that are decoded at once to see whether they are UTF-8
_KIND_BITS, _CONTINUES = 0xC0, 0x80  # a byte 10xxxxxx goes on with a character


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Texts(Sequence[str]):
    """A read-only sequence of strings that decodes a text when it is asked for it.

    Examples
    --------
    >>> texts = Texts.of(["ape", "", "Bär"])
    >>> texts
    Texts(3 texts, 7 bytes)
    >>> texts[2], list(texts)
    ('Bär', ['ape', '', 'Bär'])
    """

    utf8: NDArray[np.uint8]
    offsets: Integers

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self:
        """Return `texts` as one block."""
        try:
            encoded = [text.encode() for text in texts]
        except UnicodeEncodeError as error:
            reason = f"Texts must be Unicode without lone surrogates. Got {error.object[:40]!r} instead."
            raise ValueError(reason) from None
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[operator.index(index)]
        return self.utf8[self.offsets[place] : self.offsets[place + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        block = self.utf8.data
        return (str(block[begin:end], "utf-8") for begin, end in pairwise(self.offsets.tolist()))

    def __repr__(self) -> str:
        return f"Texts({len(self)} texts, {len(self.utf8)} bytes)"


def check_texts(utf8: Array, offsets: Array, name: str) -> Texts:
    """Return the texts in these arrays; raise `ModelRefused` unless every one of them can be decoded."""
    one_axis = utf8.ndim == offsets.ndim == 1
    require(
        one_axis and utf8.dtype == np.uint8 and offsets.dtype == np.int64, f"{name} must be bytes and int64 offsets"
    )
    rising = len(offsets) > 0 and offsets[0] == 0 and bool((offsets[:-1] <= offsets[1:]).all())
    require(rising and offsets[-1] == len(utf8), f"Offsets of {name} must rise from 0 to the number of bytes")
    require(_is_utf8(utf8), f"{name} must be UTF-8")
    begins = offsets[:-1][offsets[:-1] < len(utf8)]
    require(bool((utf8[begins] & _KIND_BITS != _CONTINUES).all()), f"Texts of {name} must begin with a character")
    return Texts(utf8, offsets)


def _is_utf8(block: NDArray[np.uint8]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for begin in range(0, len(block), _BLOCK):
            decoder.decode(block[begin : begin + _BLOCK].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
