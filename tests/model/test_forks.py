"""A forked process answers or says why it cannot; it never hangs. Each case runs in a process of its own."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys

import numpy as np
import pytest

from untwin.model import UntwinClassifier

PATIENCE = 60  # seconds after which a forked process is said to hang

CASE = """
import multiprocessing, sys
import numpy as np
import polars as pl
from untwin._forks import ForkedError
from untwin.model import UntwinClassifier

kind, folder = sys.argv[1:]
rng = np.random.default_rng(0)
texts = [" ".join(rng.choice(["red", "blue", "car", "bus", "tram", "train"], 6)) for _ in range(60)]
rows = {"texts": texts, "frame": {"note": texts}, "matrix": rng.normal(size=(60, 4))}[kind]
fork = multiprocessing.get_context("fork")


def answer(results):
    try:
        found = [len(model.predict(rows)), len(model.explain(rows)), model.add(rows, ["b", "a"] * 30).n_rows]
        results.put(str(found))
    except ForkedError as error:
        results.put(str(error))


def forked():
    results = fork.SimpleQueue()
    child = fork.Process(target=answer, args=[results], daemon=True)
    child.start()
    child.join(PATIENCE)
    print("hangs" if child.is_alive() else results.get())


model = UntwinClassifier.load(folder)
forked()
model.predict(rows)
forked()
""".replace("PATIENCE", str(PATIENCE))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.parametrize("kind", ["texts", "frame", "matrix"])
def test_a_forked_process_answers_or_says_why_not(kind, tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["red", "blue", "car", "bus", "tram", "train"], 6)) for _ in range(60)]
    rows = {"texts": texts, "frame": {"note": texts}, "matrix": rng.normal(size=(60, 4))}[kind]
    UntwinClassifier(preset="fast").fit(rows, ["a", "b"] * 30).save(tmp_path / "model")
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", CASE, kind, str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3 * PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    loaded, answered = done.stdout.splitlines()
    assert loaded == "[60, 60, 60]"  # web servers load, then fork
    assert answered == "[60, 60, 60]" if kind == "matrix" else "forkserver" in answered
