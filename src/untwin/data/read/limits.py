"""How large the parts of a table may be; whatever is larger is refused with its place, in every format and command.

A limit lies far above real tables, and low enough that no file, however it is packed, can take all of the memory.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from untwin._errors import InputError
from untwin._wording import option

if TYPE_CHECKING:
    from collections.abc import Collection

LONGEST_RECORD = 1 << 24  # bytes of UTF-8; the longest novels have three million characters
LONGEST_NAME = 1000  # characters of the name of a column
MOST_COLUMNS = 10_000
MEMORY_SHARE = 8  # a table held in memory may take one part of so many: `check` takes four times as much, `fit` more
_CGROUP = Path("/sys/fs/cgroup/memory.max")


def refuse_long_record(place: str, hint: str) -> None:
    """Raise the error for a record that is longer than any document."""
    message = f"{place}: the record is longer than {LONGEST_RECORD:,} bytes, the most that a record may have."
    raise InputError(message, code="long-record", hint=f"Shorten the record, or split it into several. {hint}".strip())


def require_columns_within_limits(names: Collection[str], place: str, *, known: int = 0) -> None:
    """Refuse too many columns, those `known` before included, and names so long that they must be cells."""
    count = len(names) + known
    if count > MOST_COLUMNS:
        message = f"{place}: {count:,} columns, and a table may have {MOST_COLUMNS:,} at most."
        raise InputError(message, code="many-columns", hint="Leave out the columns that are not needed.")
    longest = max(names, key=len, default="")
    if len(longest) > LONGEST_NAME:
        message = f"{place}: the name of a column has {len(longest):,} characters ({longest[:40]!r}...)."
        hint = f"Give a header row with names of at most {LONGEST_NAME:,} characters."
        raise InputError(message, code="long-name", hint=hint)


def most_in_memory() -> int:
    """Return how many bytes of cells a table may have that is held in memory."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        allowed = int(_CGROUP.read_text())
    except (OSError, ValueError):  # no such limit, or "max"
        allowed = installed
    return min(installed, allowed) // MEMORY_SHARE


def require_fits(size: int, name: str) -> None:
    """Refuse to hold more cells in memory than the machine can work with."""
    most = most_in_memory()
    if size > most:
        message = f"{name}: read whole, the table takes more than {most / 1e9:.1f} GB, an eighth of the memory."
        fewer = f"Use the first N rows with {option('limit', meta='N')}, or a machine with more memory"
        hint = f"{fewer}; `untwin predict` reads any length."
        raise InputError(message, code="too-large", hint=hint)
