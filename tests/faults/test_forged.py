"""A few of the forgeries of `make faults`: every kind of model, forged with thought, in a process of its own."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

KINDS = ["stack of texts", "stack of frame", "graph", "verify", "latent", "packed neighbours", "columns", "matrix"]


@pytest.fixture(scope="module")
def forged():
    sys.path[:0] = [str(Path(__file__).parent)]
    try:
        yield import_module("forged")
    finally:
        sys.path.remove(str(Path(__file__).parent))


@pytest.fixture(scope="module")
def work(forged, tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged")
    forged.make_models(folder, KINDS)
    return folder


@pytest.mark.filterwarnings("ignore")
def test_a_forgery_is_refused_or_answers(forged, work):
    outcomes, failures = forged.forge_and_ask(work, KINDS, range(150), report_every=10)
    assert failures == []
    assert outcomes["refused"] >= 75
