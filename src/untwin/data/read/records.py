"""An independent check of the records of CSV text, by counting bytes.

Polars reads CSV fast but fills short rows and may split a line at a stray quote. This module finds the records of
plain RFC 4180 text with NumPy and returns None for any other text: Python's csv module decides then.

A byte is *outside* when the number of quotes before it is even. In plain text a quote opens a cell only at its start
and closes it only at its end (a doubled quote closes and opens again), so that separators and newlines outside are
exactly the ones that count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from untwin._types import Flags, Integers

_QUOTE, _LF, _CR = b'"\n\r'


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The complete records at the beginning of a plain CSV text.

    end      where the last of them ends, its line break included
    lines    line on which each of them starts, blank ones included
    n_lines  how many lines they take together
    blank    which of them are blank lines
    longest  bytes of the longest one
    """

    end: int
    lines: Integers
    n_lines: int
    blank: Flags
    longest: int


def find_records(data: bytes, separator: int, width: int, *, final: bool) -> Records | None:
    """Return the records of `data` if it is plain and every record has `width` cells.

    A record is complete if it ends with a line break; the last one of a `final` text needs none.
    """
    octets = np.frombuffer(data, dtype=np.uint8)
    quotes, newlines, returns, separators = (np.flatnonzero(octets == mark) for mark in (_QUOTE, _LF, _CR, separator))
    if final and len(quotes) % 2:
        return None
    if not (_plain_quotes(octets, quotes, separator) and _plain_returns(octets, _outside(returns, quotes))):
        return None
    ends, separators = _outside(newlines, quotes), _outside(separators, quotes)
    breaks = _line_breaks(octets, newlines, returns)
    lines = np.searchsorted(breaks, ends) + 1  # on which records end
    if final and len(octets) and octets[-1] != _LF:  # the last line lacks its line break
        ends, lines = np.append(ends, len(octets)), np.append(lines, len(breaks) + 1)
    if len(ends) == 0:
        return Records(0, lines, 0, np.zeros(0, dtype=np.bool_), 0)
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    blank = (lengths == 0) | ((lengths == 1) & (octets[starts] == _CR))
    cells = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    if (cells[~blank] != width).any():
        return None
    first_lines = np.concatenate([[1], lines[:-1] + 1])
    return Records(min(int(ends[-1]) + 1, len(data)), first_lines, int(lines[-1]), blank, int(lengths.max()))


def _outside(positions: Integers, quotes: Integers) -> Integers:
    if len(quotes) == 0:
        return positions
    even: Flags = np.searchsorted(quotes, positions) % 2 == 0
    return positions[even]


def _plain_quotes(octets: NDArray[np.uint8], quotes: Integers, separator: int) -> bool:
    """Whether cells open only at their start and close only at their end."""
    opening, closing = quotes[::2], quotes[1::2]
    before = octets[opening[opening > 0] - 1]
    after = octets[closing[closing < len(octets) - 1] + 1]
    return bool(np.isin(before, [separator, _LF, _QUOTE]).all() and np.isin(after, [separator, _LF, _CR, _QUOTE]).all())


def _line_breaks(octets: NDArray[np.uint8], newlines: Integers, returns: Integers) -> Integers:
    """Return where lines end: in a quoted cell a carriage return without a newline ends one too."""
    followed = octets[np.minimum(returns + 1, len(octets) - 1)] == _LF
    return newlines if followed.all() else np.union1d(newlines, returns[~followed])


def _plain_returns(octets: NDArray[np.uint8], returns: Integers) -> bool:
    """Whether every carriage return outside quotes belongs to a line end."""
    following = returns[returns < len(octets) - 1] + 1
    return len(following) == len(returns) and bool((octets[following] == _LF).all())
