"""A few of the kills of `make faults`, at moments that matter."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def kills():
    sys.path[:0] = [str(Path(__file__).parent)]
    try:
        yield import_module("kills")
    finally:
        sys.path.remove(str(Path(__file__).parent))


@pytest.fixture(scope="module")
def base(kills, tmp_path_factory):
    def write_rows(path, *, seed, n):
        words = {"ape": "tree banana fur", "bee": "honey wing hive", "cat": "fur paw milk"}
        names = list(words)
        lines = [
            f"{words[names[row % 3]]} {'xyz'[(row + seed) % 3]}{row % 7} {seed},{names[row % 3]}" for row in range(n)
        ]
        path.write_text("text,label\n" + "\n".join(lines) + "\n")

    return kills.prepare(tmp_path_factory.mktemp("kills") / "base", write_rows)


@pytest.mark.parametrize("name", ["fit", "add", "report", "predict", "parquet"])
def test_killed_at_moments_that_matter(kills, base, name):
    outcomes, failures = kills.kill(base, name, 3 if name in ("fit", "add") else 2)
    assert failures == []
    assert outcomes.total() >= 2
