"""What the fast preset costs beside one fit of words and a linear SVM: processor seconds, with folds and without."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from bench._peers import made
from bench._runs import TEXT_SETS
from bench._sets import documents, parts
from untwin.model.selection import select

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

FEW_ROWS = 12_000  # up to which the shortest of three times is taken
BASELINE, FAST = "LinearSVC", "untwin, fast"


def run_fast(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return one line a set: seconds of both, all in this process, and how many times as long the preset takes."""
    fit(FAST, ["a b", "c d"] * 10, np.array(["x", "y"] * 10))  # compiled loops are loaded before
    return [compare(options, name) for name in options.sets if name in TEXT_SETS]


def compare(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """Return the line of a set; on small sets rivals take turns, three times."""
    table = documents(options.data, name)
    train, _ = next(parts(table, 1))
    texts, y = table["text"].to_list(), table["label"].to_numpy().astype(str)[train]
    X = [texts[row] for row in train]
    works: dict[str, Callable[[], float]] = {
        "LinearSVC s": lambda: fit(BASELINE, X, y),
        "without folds s": lambda: fit_without_folds(X, y),
        "fast s": lambda: fit(FAST, X, y),
    }
    turns = [{what: work() for what, work in works.items()} for _ in range(3 if len(X) <= FEW_ROWS else 1)]
    seconds = {what: min(turn[what] for turn in turns) for what in works}
    base = seconds["LinearSVC s"]
    times = {"times without folds": seconds["without folds s"] / base, "times": seconds["fast s"] / base}
    return {"set": name, **seconds, **times}


def fit(peer: str, X: Sequence[str], y: Array) -> float:
    """Return the processor seconds of one fit."""
    model, start = made(peer, 0, vectors=False), time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def fit_without_folds(X: Sequence[str], y: Array) -> float:
    """Return those of the preset where nothing can be held out: it then trains its SVM and does nothing else."""
    with patch.object(select, "can_hold_out", return_value=False):
        return fit(FAST, X, y)
