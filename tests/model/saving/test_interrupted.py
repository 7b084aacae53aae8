"""Killed or out of space while it saves, a model directory holds one whole model (a sample of `make faults`)."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from untwin.model import UntwinClassifier
from untwin.model.saving import describe

STEPS = Path(__file__).parents[2] / "store" / "steps.py"
SAVE_AGAIN_AND_AGAIN = """
import sys
from untwin.model import UntwinClassifier
models = [UntwinClassifier.load(folder) for folder in sys.argv[2:]]
print("ready", flush=True)
while True:
    for model in models:
        model.save(sys.argv[1], overwrite=True)
"""


@pytest.fixture(scope="module")
def steps():
    spec = spec_from_file_location("steps", STEPS)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def two(tmp_path, small_model, rows_of_kind):
    """Two saved models, one of which has learnt on."""
    small_model.save(tmp_path / "old")
    other = UntwinClassifier.load(tmp_path / "old")
    other.add(rows_of_kind("texts", 5), ["ape", "dog", "Bär", "猫", "ape"])
    other.save(tmp_path / "new")
    return tmp_path / "old", tmp_path / "new"


def listed(folder):
    files = json.loads((folder / "manifest.json").read_text())["files"]
    return {"manifest.json", *(f"{digest}.npy" for digest in files)}


def test_killed_while_saving_the_old_model_or_the_new_one_loads(tmp_path, two):
    folder = shutil.copytree(two[0], tmp_path / "model")
    digests = {describe(each)["sha256"] for each in two}
    for delay in (0.0, 0.03, 0.1):
        command = [sys.executable, "-c", SAVE_AGAIN_AND_AGAIN, folder, *two]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout.readline() == b"ready\n"
            time.sleep(delay)
            child.kill()
        assert UntwinClassifier.load(folder).sha256_ in digests
    UntwinClassifier.load(two[0]).save(folder)
    assert {path.name for path in folder.iterdir()} == listed(folder)


def test_without_space_the_error_says_so_and_the_old_model_stays(tmp_path, two, steps):
    def full(name, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    model, before = UntwinClassifier.load(two[1]), describe(two[0])["sha256"]
    for step in (0, 3, 7, 11, 16):
        folder = shutil.copytree(two[0], tmp_path / f"full{step}")
        with steps.interrupted(step, full), pytest.raises(OSError, match="No space left on device") as caught:
            model.save(folder)
        assert caught.value.filename
        assert UntwinClassifier.load(folder).sha256_ == before
        assert {path.name for path in folder.iterdir()} - listed(folder) <= {"lock"}
