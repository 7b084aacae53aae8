"""One writer at a time: whoever changes a model directory holds its lock from reading the model to the last file.

The lock belongs to the operating system, so that of a killed process is no lock. Its file is there only while somebody
holds it. Readers need no lock: the manifest is replaced in one step.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from untwin._errors import InputError, UntwinError
from untwin._files import flush
from untwin._progress import report
from untwin.store.files import LOCK, refuse_strangers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LOOK_AGAIN = 0.05  # seconds


_this_thread = threading.local()  # its `folders` are locked: a save inside a longer change needs no lock of its own


@contextmanager
def sole_writer(folder: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the write lock of the model directory `folder` until the block ends; the folder is created if needed.

    If another process or thread is writing there, wait for it so many seconds, then raise. A folder that was made here
    and is still empty at the end is removed.
    """
    place, locked = folder.resolve(), vars(_this_thread).setdefault("folders", set())
    if place in locked:
        yield
        return
    if folder.is_file():
        hint = "Name a folder. If the file is a packed model, unzip it into one."
        raise InputError(f"{folder}: is a file, and models are saved as folders.", code="not-a-folder", hint=hint)
    with ExitStack() as stack:
        if not folder.is_dir():
            folder.mkdir()
            stack.callback(_remove_if_empty, folder)
            flush(folder.parent)
        refuse_strangers(folder, InputError, "Save into a new folder.")
        stack.enter_context(_hold_lock(folder, wait))
        locked.add(place)
        stack.callback(locked.discard, place)
        yield


@contextmanager
def _hold_lock(folder: Path, wait: float) -> Iterator[None]:
    path, deadline = folder / LOCK, time.monotonic() + wait
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            if _is_ours(descriptor, path):
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return
        finally:
            os.close(descriptor)
        if time.monotonic() >= deadline:
            hint = "Wait until it has ended, then save again."
            raise UntwinError(f"{folder}: another process is saving there.", code="model-busy", hint=hint)
        report(f"waiting: another process is writing to {folder}", 0, 1)
        time.sleep(_LOOK_AGAIN)


def _is_ours(descriptor: int, path: Path) -> bool:
    """Lock an open file and tell whether that worked: not if it is locked, or was removed by its owner since."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
