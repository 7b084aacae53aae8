"""Digests: which source and which data a result belongs to."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from untwin._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).parent
SOURCES = (".py", ".jinja")
SHARED = ("datasets.py", "experiment.py", "folds.py", "tables.py", "timing.py")  # what all experiments are made of


def source_digest() -> str:
    """Return the digest of all source files of this folder, whatever their line ends."""
    return _of_sources(path for path in HERE.rglob("*") if path.suffix in SOURCES)


def paper_digest(paper: str) -> str:
    """Return the digest of the source files that the figures of a paper come from."""
    return _of_sources([*(HERE / name for name in SHARED), *(HERE / paper).glob("*.py")])


def _of_sources(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        text = path.read_text(encoding="utf-8")  # text: line ends are the same everywhere
        digest.update(f"{path.relative_to(HERE).as_posix()}\n{len(text)}\n{text}".encode())
    return digest.hexdigest()[:16]


def data_digest(data: Path, names: Iterable[str]) -> str:
    """Return the digest of files of a folder of data sets."""
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        digest.update(f"{name} {_of_file(data / name)}\n".encode())
    return digest.hexdigest()[:16]


@cache
def _of_file(path: Path) -> str:
    if not path.is_file():
        raise InputError(
            f"{path} is not there.",
            code="missing-data",
            hint="Give --data the folder that holds text/, tabular/ and embeddings/.",
        )
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
