"""Seconds of work, where an experiment is about time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def best_seconds(
    rivals: dict[str, Callable[[], object]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Time each rival `repeats` times, in turns so that all meet the same weather; keep the best."""
    best = dict.fromkeys(rivals, float("inf"))
    for _ in range(repeats):
        for name, work in rivals.items():
            start = clock()
            work()
            best[name] = min(best[name], clock() - start)
    return best
