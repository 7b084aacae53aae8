"""Compiled loops work where nothing can be cached, and after a fork; weights are packed as they are."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array

from untwin import _compiled
from untwin.classify.linear import LinearSVM, kernels

LEARN = (
    "import numpy as np; from scipy.sparse import random_array; from untwin.classify.linear import LinearSVM, kernels; "
    "X = random_array((60, 90), density=0.05, format='csr', rng=0, dtype=np.float32); "
    "model = LinearSVM().fit(X, np.arange(60) % 3); print(model.weights_.sum(), kernels.sweep.stats.cache_path)"
)


def run(code, **environment):
    """Run Python code; return what it prints."""
    known = {name: value for name, value in os.environ.items() if name != "HOME"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**known, **environment}
    )
    return done.stdout.split()


def test_without_a_folder_for_the_cache_it_compiles_each_time(tmp_path):
    """No locator of numba finds a folder: the package cannot be written to, nor can any home."""
    nowhere = "import numba.core.caching as c; c.CacheImpl._locator_classes = []; "
    weights, *path = run(nowhere + LEARN, NUMBA_CACHE_DIR=str(tmp_path))
    assert path in ([], ["None"])
    assert weights == run(LEARN)[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    tmp_path.chmod(0o500)
    assert run(LEARN, NUMBA_CACHE_DIR=str(tmp_path))[0] == run(LEARN)[0]


def test_a_folder_that_cannot_exist():
    """As for users without a home: a file is where the folder should be."""
    assert run(LEARN, NUMBA_CACHE_DIR=str(Path(__file__) / "cache"))[0] == run(LEARN)[0]


def test_compiled_falls_back(monkeypatch):
    made = numba.njit

    def njit(*given, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return made(*given, **options)

    monkeypatch.setattr(_compiled.numba, "njit", njit)
    twice = _compiled.compiled(lambda number: 2 * number)
    assert twice(21) == 42


def _learn(X, y):
    return LinearSVM(n_jobs=2).fit(X, y).weights_


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_after_a_fork_training_works(made_up):
    X, y = made_up(600, 70)
    here = _learn(X, y)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply_async(_learn, (X, y)).get(timeout=60)
    np.testing.assert_array_equal(here, there)


def test_packed_weights_are_those_above_the_least_of_their_class():
    rng = np.random.default_rng(0)
    W, places = rng.normal(size=(40, 7)).astype(np.float32), rng.permutation(40).astype(np.int32)
    W[places[3]] = 0  # a term of no class
    least = rng.random(7).astype(np.float32)
    least[2] = 10  # a class of no term
    starts, classes, values = kernels.pack_weights(W, places, least)
    dense = np.where(np.abs(W[places]) > least, W[places], 0)
    np.testing.assert_array_equal(csr_array((values, classes, starts), shape=W.shape).toarray(), dense)
    assert len(values) == np.count_nonzero(dense)
    assert starts[3] == starts[4]
