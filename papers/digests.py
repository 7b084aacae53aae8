"""Digests: which source and which data a result belongs to."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from untwin._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).parent
SHARED = ("datasets.py", "experiment.py", "folds.py", "tables.py", "timing.py")  # what all experiments are made of


def source_digest() -> str:
    """Return the digest of all source files that figures come from; how pages are written is not among them."""
    folders = (path for path in HERE.iterdir() if path.is_dir() and path.name != "pages")
    return _of_sources([*(HERE / name for name in SHARED), *(path for one in folders for path in one.glob("*.py"))])


def paper_digest(paper: str) -> str:
    """Return the digest of the source files that the figures of a paper come from."""
    return _of_sources([*(HERE / name for name in SHARED), *(HERE / paper).glob("*.py")])


def _of_sources(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        text = _code(path.read_text(encoding="utf-8"))
        digest.update(f"{path.relative_to(HERE).as_posix()}\n{len(text)}\n{text}".encode())
    return digest.hexdigest()[:16]


def _code(source: str) -> str:
    """Return what a source file does: without comments, docstrings, imports and the names of modules in them."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_silent(part)] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_silent(part: ast.AST) -> bool:
    return isinstance(part, ast.Import | ast.ImportFrom) or (
        isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
    )


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
