"""What a command prints: data on stdout, talk on stderr, and nothing from the data that could drive a terminal."""

from __future__ import annotations

import json
import shlex
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from untwin._plain import plain
from untwin._progress import listening
from untwin._wording import cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Failure:
    """How a command failed."""

    exit_code: int
    code: str
    message: str
    hint: str


def printable(text: object) -> str:
    r"""Return text on one line with every control, invisible or direction-changing character as its escape.

    >>> printable("\x1b[31mred\x1b[0m\n")
    '\\x1b[31mred\\x1b[0m\\n'
    """
    shown = str(text)
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)


def say(text: str) -> None:
    """Print a line of talk."""
    print(printable(text), file=sys.stderr, flush=True)  # noqa: T201


def put(line: str = "") -> None:
    """Print a line of data."""
    print(printable(line))  # noqa: T201


def put_bytes(content: bytes) -> None:
    """Print lines of data as they are; on a terminal, with what could drive it as escapes."""
    if sys.stdout.isatty():
        lines = ("\t".join(map(printable, line.split("\t"))) for line in content.decode().split("\n"))
        print(*lines, sep="\n", end="")  # noqa: T201
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def name_next(*commands: Sequence[str]) -> None:
    """Say which commands to go on with, each given as its words; names are quoted as a shell needs it."""
    for number, words in enumerate(commands):
        say(f"{'next:' if number == 0 else '     '} untwin {shlex.join(words)}")


def bar(share: float, width: int = 24) -> str:
    """Return a share as a bar, in what the terminal can show.

    >>> len(bar(0.5, 10)), bar(0.0, 10)
    (5, '')
    """
    block = "\u2588" if (sys.stdout.encoding or "").lower().startswith("utf") else "#"
    return block * round(min(max(share, 0.0), 1.0) * width)


def shorten(text: str, width: int = 60) -> str:
    r"""Return a text on one line, cut where it is longer than `width`.

    >>> shorten("my card\n has not arrived", 12)
    'my card h...'
    """
    return cut(" ".join(text.split()), width)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect what the libraries warn of; each warning is said once, when the block ends."""
    with warnings.catch_warnings(record=True) as caught:
        found: list[str] = []
        yield found
    found += dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught)
    for line in found:
        say(f"warning: {line}")


def say_notes(notes: Sequence[Mapping[str, Any]]) -> None:
    """Warn of what was left out while reading (`Table.notes`, as records)."""
    for note in notes:
        say(f"warning: {note['text']}")


def put_json(record: dict[str, Any], *, ok: bool = True) -> None:
    """Print one JSON object; ASCII only, so that it is safe on any terminal and in any encoding."""
    content = {"schema_version": SCHEMA_VERSION, "ok": ok, **plain(record)}
    print(json.dumps(content, indent=2, allow_nan=False))  # noqa: T201


def show_failure(failure: Failure, *, as_json: bool) -> int:
    """Print why a command failed and return its exit code."""
    if as_json:
        error = {"code": failure.code, "message": failure.message, "hint": failure.hint}
        put_json({"error": error}, ok=False)
    else:
        say(f"untwin: {failure.message}")
        if failure.hint:
            say(f"        {failure.hint}")
    return failure.exit_code


def put_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table: drawn on a terminal, aligned plain text elsewhere."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _draw(header, cells)
        return
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    for row in (header, *cells):
        put("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def put_facts(facts: Mapping[str, object]) -> None:
    """Print names and values, one line each."""
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        put(f"  {name:<{width}}  {', '.join(map(str, value)) if isinstance(value, list) else value}")


def _draw(header: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, pad_edge=False)
    for name in header:
        table.add_column(name, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))  # Text: markup in the data means nothing
    Console(emoji=False, markup=False, highlight=False).print(table)


@contextmanager
def progress() -> Iterator[None]:
    """Show what the work inside reports: bars on a terminal, one line a stage elsewhere."""
    with _bars() if sys.stderr.isatty() else _lines():
        yield


@contextmanager
def _lines() -> Iterator[None]:
    seen: set[str] = set()

    def show(stage: str, done: int, total: int) -> None:
        if stage not in seen:
            seen.add(stage)
            say(f"untwin: {stage}")

    with listening(show):
        yield


@contextmanager
def _bars() -> Iterator[None]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskID,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(printable(stage), total=total)
            bars.update(tasks[stage], completed=done, total=total)

        with listening(show):
            yield
