"""Polars after a fork: a forked process lacks the threads that Polars had started, and would wait for them for ever.

Nothing can be done about it from here but to say so at once. Before Polars has worked there is nothing to lose: a
process that has only loaded a model of texts may fork (to load one of a table, Polars works).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from untwin._errors import UntwinError

_TASKS = Path("/proc/self/task")  # of Linux; elsewhere what went through `require_polars` is known only
_POOL = re.compile(r"polars-\d")
_known = {"used": False, "at fork": False, "lost": False}


class ForkedError(UntwinError, RuntimeError):
    """A process that was forked too late asks for what it lacks."""


def require_polars() -> None:
    """Refuse to wait for threads of Polars that a forked process lacks; call it before Polars works."""
    if _known["lost"]:
        raise ForkedError(
            "Texts and tables are read by threads of Polars, which this process lacks: it was forked after they began.",
            code="forked",
            hint="Start processes by multiprocessing.get_context('spawn') or 'forkserver', or fork before any text or "
            "table is read; a model of texts that is loaded and has not answered yet may be forked.",
        )
    _known["used"] = True


def _threads_run() -> bool:
    """Tell whether Polars has started its threads, also for somebody else's work."""
    for task in _TASKS.glob("*/comm"):
        try:
            if _POOL.match(task.read_text(encoding="utf-8", errors="replace")):
                return True
        except OSError:  # it has just ended
            continue
    return _known["used"]


def _before() -> None:
    _known["at fork"] = _threads_run()


def _in_child() -> None:
    _known["lost"] = _known["lost"] or _known["at fork"]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)
