"""From five documents to half a million, from two classes to two thousand: does the product work, how long, how big."""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from bench._measure import peak_of
from bench._rivals import CORES
from bench._sets import made_up_texts
from untwin import UntwinClassifier

if TYPE_CHECKING:
    import argparse

SIZES = ((5, 2), (20_000, 2_000), (500_000, 20))  # documents, classes
PRESETS = ("fast", "balanced")
WRONG = 0.05  # share of the labels that are drawn at random, for the findings to have something to do
ASKED = 1_000


def run_sizes(_: argparse.Namespace) -> list[dict[str, Any]]:
    """Return one line for each size and preset, each measured in a process of its own."""
    rows = []
    for n_rows, n_classes in SIZES:
        for preset in PRESETS:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                rows.append(pool.apply(at_size, (n_rows, n_classes, preset)))
    return rows


def at_size(n_rows: int, n_classes: int, preset: str) -> dict[str, Any]:
    """Train on made-up texts, look for findings, answer."""
    texts, truth = made_up_texts(n_rows, n_classes)
    rng = np.random.default_rng(1)
    y = np.where(rng.random(n_rows) < WRONG, rng.permutation(truth), truth)
    model = UntwinClassifier(preset=preset, n_jobs=CORES)
    seconds: dict[str, float] = {}

    def work() -> None:
        start, worked = time.perf_counter(), time.process_time()
        model.fit(texts, y)
        seconds["fit s"], seconds["fit cpu s"] = time.perf_counter() - start, time.process_time() - worked

    peak = peak_of(work, ())
    start = time.perf_counter()
    codes = sorted(finding.code for finding in model.findings_)
    seconds["findings s"] = time.perf_counter() - start
    asked = texts[:ASKED]
    start = time.perf_counter()
    model.predict(asked)
    seconds["ms a prediction"] = (time.perf_counter() - start) / len(asked) * 1e3
    size = {"documents": n_rows, "classes": n_classes, "preset": preset}
    chosen = next(candidate.name for candidate in model.candidates_ if candidate.chosen)
    return {**size, **seconds, "peak MiB": peak, "chosen": chosen, "found": ", ".join(codes)}
