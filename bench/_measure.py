"""What benchmarks share: the command line, best-of-several times, peak memory in a process of its own, the output."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from papers.timing import best_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["arguments", "best_seconds", "parser", "peak_memory", "peak_of", "show"]


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the options that all benchmarks have."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    options.add_argument("--json", action="store_true", help="print one object that holds all figures")
    return options


def arguments(description: str | None, *, repeats: int = 3) -> argparse.Namespace:
    """Parse the command line of a benchmark that times."""
    options = parser(description)
    options.add_argument("--repeats", type=int, default=repeats, help="best of so many runs")
    return options.parse_args()


def peak_memory(work: Callable[..., object], *args: object) -> float:
    """Return by how many MiB `work(*args)` raised the peak of a fresh process that had loaded its modules."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(peak_of, (work, args))


def peak_of(work: Callable[..., object], args: tuple[object, ...]) -> float:
    """Return by how many MiB `work(*args)` raises the peak of this process."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _mebibytes("VmRSS")
    work(*args)
    return _mebibytes("VmHWM") - before


def _mebibytes(entry: str) -> float:
    """Read an entry of this process's status (`ru_maxrss` would inherit the peak of the parent)."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(entry)).split()[1]) / 1024


class Stopwatch:
    """Seconds by stage: the time before a report of progress belongs to the stage that it reports."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take a report."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def show(rows: list[dict[str, Any]], *, as_json: bool, **facts: Any) -> None:
    """Print rows of figures as tables (a new one where the columns change), or everything as one JSON object."""
    if as_json:
        print(json.dumps({**facts, "rows": rows}, indent=2))
        return
    for name, fact in facts.items():
        print(f"{name}: {fact}")
    for header, table in groupby(rows, key=tuple):
        cells = [[_shown(value) for value in row.values()] for row in table]
        widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
        print()
        for line in (header, *cells):
            print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
