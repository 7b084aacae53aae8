"""Write a file so that its name always stands for something whole: what was there before, or all that is new.

The content goes into a temporary file beside the target, under a name that no other process uses. When the disk has all
of it, the temporary file takes the name of the target. It is locked while it is written: one that nobody has locked was
left by a process that was killed, and the next writer to the same target removes it.

A link, a folder, a pipe or a device is never a target, and what is written never goes through a link.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from untwin._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

_MARK_WITHIN = 1 << 14  # bytes from the beginning of a file
_SPECIAL = {stat.S_ISLNK: "a link", stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}


def write_whole(path: str | PathLike[str], content: bytes) -> None:
    r"""Make `path` a file with this content; if that fails, whatever was there stays as it was.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(f"{folder}/page.html", b"<p>\n")
    ...     os.listdir(folder)
    ['page.html']
    """
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file to write into, which becomes `path` when the block ends; if the block fails, it leaves no trace."""
    target = Path(path)
    old = require_replaceable(target)
    _remove_leftovers(target)
    while True:
        new = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.new")
        try:
            with new.open("xb") as file:
                if not _try_lock(file, new):
                    continue
                if old is not None:
                    os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode) & 0o777)
                yield file
                file.flush()
                os.fsync(file.fileno())
                new.replace(target)
                flush(target.parent)
        except BaseException as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            if isinstance(error, OSError) and error.filename in (None, str(new)):
                error.filename = str(target)
            raise
        return


def require_replaceable(path: Path) -> os.stat_result | None:
    """Return what the system says about the file `path`, None if it is free; raise if it must not be written to."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        if path.parent.is_dir():
            return None
        message = f"{path.parent}: there is no such folder."
        raise InputError(message, code="not-found", hint="Make it first, or choose another place with -o.") from None
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in _SPECIAL.items() if is_kind(found.st_mode)), "a device")
        hint = "Name a file. What is to go into a pipe or a device is written to standard output: redirect that."
        raise InputError(f"{path}: is {kind}, and only a file is written to.", code="not-a-file", hint=hint)
    if not found.st_mode & 0o222:
        hint = "Allow writing (chmod u+w), or choose another place with -o."
        raise InputError(f"{path}: is there and may not be written to.", code="read-only", hint=hint)
    return found


def require_ours(path: Path, mark: bytes, *, force: bool) -> None:
    """Raise unless `path` is free, empty, or begins with something that holds `mark`, by which we know our files."""
    if require_replaceable(path) is None or force:
        return
    with path.open("rb") as file:
        start = file.read(_MARK_WITHIN)
    if start and mark not in start:
        hint = "Move it away, choose another place with -o, or have it replaced with --force."
        raise InputError(f"{path}: is there already and was not made by untwin.", code="foreign-file", hint=hint)


def flush(path: Path) -> None:
    """Wait until the disk has a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _prefix(target: Path) -> str:
    """Return how temporary files for a target begin; its own name, which may be long, is in it as a digest."""
    return f".untwin-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


def _try_lock(file: BinaryIO, path: Path) -> bool:
    """Lock a new file until it is closed; say no if somebody has taken it for a leftover before that."""
    with suppress(OSError):  # a file system without locks: nothing is taken for a leftover there either
        fcntl.flock(file, fcntl.LOCK_EX)
    return path.exists()


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files for this target whose writers have been killed."""
    for path in target.parent.glob(f"{_prefix(target)}*.new"):
        with suppress(OSError):  # locked: somebody is writing it
            _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    finally:
        os.close(descriptor)
