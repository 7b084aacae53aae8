"""An independent check of the records of a CSV file, by counting bytes.

Polars reads CSV fast but fills short rows and may split a line at a stray quote. This module finds the records of
plain RFC 4180 text with NumPy, block by block, and returns None for any other text: Python's csv module decides then.

A byte is *outside* when the number of quotes before it is even. In plain text a quote opens a cell only at its start
and closes it only at its end (a doubled quote closes and opens again), so that separators and newlines outside are
exactly the ones that count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Positions = NDArray[np.int64]

_QUOTE, _LF, _CR = b'"\n\r'
BLOCK = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The records of a plain CSV text.

    header  slice of the bytes of the first record that is not blank
    lines   line on which each record after the header starts, blank ones included
    blank   which of them are blank lines
    """

    header: slice
    lines: Positions
    blank: NDArray[np.bool_]


def find_records(data: bytes, separator: int, *, block: int = BLOCK) -> Records | None:
    """Return the records of `data` if it is plain and every record has the header's number of cells."""
    scan = _Scan(np.frombuffer(data, dtype=np.uint8), separator)
    for start in range(0, len(data), block):
        if not scan.block(start, min(start + block, len(data))):
            return None
    if scan.quotes % 2:
        return None
    ends, lines, cells = scan.records()
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    blank = (lengths == 0) | ((lengths == 1) & (scan.octets[starts] == _CR))
    if blank.all() or np.ptp(cells[~blank]):
        return None
    first = int(np.argmin(blank))
    return Records(slice(int(starts[first]), int(ends[first])), lines[first + 1 :], blank[first + 1 :])


@dataclass(slots=True)
class _Scan:
    """Runs over the bytes once; of what it has passed it keeps counts, and three numbers for every record end."""

    octets: NDArray[np.uint8]
    separator: int
    quotes: int = 0
    breaks: int = 0
    separators: int = 0
    found: list[tuple[Positions, Positions, Positions]] = field(default_factory=list)

    def block(self, start: int, stop: int) -> bool:
        """Go on from `start` to `stop`; False if the text is not plain."""
        part = self.octets[start:stop]
        quotes, newlines, returns, separators = (
            np.flatnonzero(part == mark) + start for mark in (_QUOTE, _LF, _CR, self.separator)
        )
        if not (self._plain_quotes(quotes) and self._plain_returns(self._outside(returns, quotes))):
            return False
        ends, separators = self._outside(newlines, quotes), self._outside(separators, quotes)
        breaks = self._line_breaks(newlines, returns)
        lines = np.searchsorted(breaks, ends) + self.breaks + 1
        self.found.append((ends, lines, np.searchsorted(separators, ends) + self.separators))
        self.quotes += len(quotes)
        self.breaks += len(breaks)
        self.separators += len(separators)
        return True

    def records(self) -> tuple[Positions, Positions, Positions]:
        """Return of every record its end, the line it starts on, and its number of separators."""
        ends, lines, separators = (np.concatenate(parts) for parts in zip(*self.found, strict=True))
        if self.octets[-1] != _LF:  # the last line lacks its newline
            ends = np.append(ends, len(self.octets))
            lines = np.append(lines, self.breaks + 1)
            separators = np.append(separators, self.separators)
        return ends, np.concatenate([[1], lines[:-1] + 1]), np.diff(separators, prepend=0)

    def _outside(self, positions: Positions, quotes: Positions) -> Positions:
        if len(quotes) == 0:
            return positions[: 0 if self.quotes % 2 else None]
        even: NDArray[np.bool_] = (np.searchsorted(quotes, positions) + self.quotes) % 2 == 0
        return positions[even]

    def _plain_quotes(self, quotes: Positions) -> bool:
        """Whether cells open only at their start and close only at their end."""
        opening, closing = quotes[self.quotes % 2 :: 2], quotes[1 - self.quotes % 2 :: 2]
        before = self.octets[opening[opening > 0] - 1]
        after = self.octets[closing[closing < len(self.octets) - 1] + 1]
        return bool(
            np.isin(before, [self.separator, _LF, _QUOTE]).all()
            and np.isin(after, [self.separator, _LF, _CR, _QUOTE]).all()
        )

    def _line_breaks(self, newlines: Positions, returns: Positions) -> Positions:
        """Return where lines end: in a quoted cell a carriage return without a newline ends one too."""
        followed = self.octets[np.minimum(returns + 1, len(self.octets) - 1)] == _LF
        return newlines if followed.all() else np.union1d(newlines, returns[~followed])

    def _plain_returns(self, returns: Positions) -> bool:
        """Whether every carriage return outside quotes belongs to a line end."""
        following = returns[returns < len(self.octets) - 1] + 1
        return len(following) == len(returns) and bool((self.octets[following] == _LF).all())
