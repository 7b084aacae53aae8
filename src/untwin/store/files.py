"""The files of a model directory: whose they are, and how one is written for good.

manifest.json     the model; whatever it does not list is no part of it
<sha256>.npy      an array
*.new             one of these on its way to the disk
lock              somebody is writing (see `lock`)
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from untwin._errors import UntwinError

MANIFEST = "manifest.json"
LOCK = "lock"
_NEW = ".new"
_OURS = re.compile(r"manifest\.json(\.new)?|[0-9a-f]{64}\.npy(\.new)?|lock")


def is_packable(name: str) -> bool:
    """Tell whether a file of this name is a part of a model, and not on its way to become one."""
    return _OURS.fullmatch(name) is not None and name != LOCK and not name.endswith(_NEW)


def refuse_strangers(folder: Path, error: type[UntwinError], hint: str) -> None:
    """Raise `error` if `folder` holds anything that `save` does not write: another name, a link, a folder, a pipe."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not (_OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)):
                reason = f"{folder}: holds {entry.name}, which is no part of a model."
                raise error(reason, code="model-foreign", hint=hint)


def write_new(path: Path, pieces: Iterable[bytes | memoryview]) -> Path:
    """Write a file beside `path` until the disk has it; return its name, to be renamed to `path`."""
    new = path.with_name(path.name + _NEW)
    new.unlink(missing_ok=True)  # a leftover: never write into a file that exists
    with new.open("xb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())
    return new


def names(folder: Path) -> set[str]:
    """Return the names in a folder of those files that saves make."""
    with os.scandir(folder) as entries:
        return {entry.name for entry in entries if _OURS.fullmatch(entry.name)}


def remove_files(folder: Path, keep: Collection[str]) -> None:
    """Remove the files that saves wrote, except those to keep; files that cannot be removed do no harm."""
    for name in names(folder).difference(keep):
        with suppress(OSError):
            (folder / name).unlink()
