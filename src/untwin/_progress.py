"""Progress without printing: long work reports here, the command decides what to show.

The library is silent. Whoever wants to see progress installs a callback for a while:

>>> seen = []
>>> with listening(lambda stage, done, total: seen.append((stage, done, total))):
...     report("folds", 1, 5)
>>> seen
[('folds', 1, 5)]
>>> report("folds", 2, 5)  # nobody listens any more
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("untwin_progress", default=None)


@contextmanager
def listening(callback: Listener) -> Iterator[None]:
    """Send every report made inside the block to `callback(stage, done, total)`."""
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)


def report(stage: str, done: int, total: int) -> None:
    """Say that `done` of `total` units of `stage` are finished."""
    callback = _listener.get()
    if callback is not None:
        callback(stage, done, total)


def reporting(stage: str, work: Iterable[Item], total: int) -> Iterator[Item]:
    """Yield the results of work as they come, and report each of them."""
    for done, item in enumerate(work, start=1):
        report(stage, done, total)
        yield item


@contextmanager
def silence() -> Iterator[None]:
    """Drop reports made inside the block: whoever calls it reports the work as a whole."""
    with listening(lambda stage, done, total: None):
        yield
