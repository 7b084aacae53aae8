"""Killed, out of space, or not alone: at every moment the folder holds one whole model."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from untwin._errors import UntwinError
from untwin._progress import listening
from untwin.store import directory, load, read_digest, save, sole_writer
from untwin.store.npy import ArrayFile


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_killed_at_any_step_the_old_model_or_the_new_one_loads(tmp_path):
    script = Path(__file__).with_name("steps.py")
    done = subprocess.run(
        [sys.executable, script, tmp_path],
        capture_output=True,
        timeout=120,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) > 15
    assert all(line["whole"] and line["clean"] for line in lines)
    which = [line["which"] for line in lines]
    assert which == sorted(which, reverse=True)  # old, ..., old, new, ..., new: there is one commit point
    assert {"old", "new"} == set(which)
    assert [line["killed"] for line in lines] == [True] * (len(lines) - 1) + [False]


def test_when_any_step_fails_for_lack_of_space_the_model_stays_whole(tmp_path, sample_parts, same, steps):
    def full(name, target):
        failed.append((name, str(target)))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    failed = []
    for step in count():
        folder = tmp_path / str(step)
        save(folder, {"x": np.arange(3)}, {})
        before = set(names(folder))
        with steps.interrupted(step, full), pytest.raises(OSError, match="No space left on device") as caught:
            save(folder, sample_parts(), {})
        assert caught.value.filename
        if "x" not in load(folder).parts:  # it failed after the commit, so the new model is there
            break
        assert set(names(folder)) - before <= {"lock"}
    assert step > 20
    assert same(sample_parts(), load(folder).parts)


def test_a_write_that_the_system_cuts_short_leaves_no_trace(tmp_path, sample_parts, same):
    folder = tmp_path / "model"
    save(folder, sample_parts(), {})
    before = names(folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            save(folder, {"small": np.arange(10), "large": np.arange(100_000)}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.filename == str(folder)
    assert names(folder) == before
    assert same(sample_parts(), load(folder).parts)


def test_leftovers_are_ignored_and_removed_by_the_next_save(tmp_path, sample_parts, same):
    folder = tmp_path / "model"
    save(folder, sample_parts(), {})
    before = names(folder)
    for name in ("manifest.json.new", "0" * 64 + ".npy", "1" * 64 + ".npy.new", "lock"):
        (folder / name).write_text("half a file")
    assert same(sample_parts(), load(folder).parts)
    save(folder, sample_parts(), {})
    assert names(folder) == before


def test_a_first_save_that_was_killed_can_be_repeated(tmp_path, sample_parts, same):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / ("0" * 64 + ".npy.new")).write_text("half a file")
    save(folder, sample_parts(), {})
    assert same(sample_parts(), load(folder).parts)


def test_a_second_writer_is_told_to_wait(tmp_path, sample_parts):
    folder = tmp_path / "model"
    save(folder, sample_parts(), {})
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        load(folder)  # readers need not wait
        with pytest.raises(UntwinError, match="another process is saving there") as caught:
            save(folder, {}, {})
    assert caught.value.code == "model-busy"
    save(folder, {}, {})
    assert names(folder) == ["manifest.json"]


def test_a_lock_that_its_owner_has_just_removed_is_none(tmp_path, monkeypatch):
    """The second writer opens the file, the first one removes it, the third makes another: only one may go on."""
    folder = tmp_path / "model"
    save(folder, {}, {})
    really = fcntl.flock

    def late(file, operation):
        (folder / "lock").unlink()
        (folder / "lock").touch()
        return really(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(UntwinError, match="another process is saving there"):
        save(folder, {"x": np.arange(3)}, {})
    assert load(folder).parts == {}


def test_a_model_that_is_replaced_while_it_is_read_is_read_again(tmp_path, sample_parts, same, monkeypatch):
    folder = tmp_path / "model"
    save(folder, sample_parts(1), {})
    really, calls = ArrayFile.read_file, count()

    def slow(self, place):
        if next(calls) == 2:
            save(folder, sample_parts(2), {})
        return really(self, place)

    monkeypatch.setattr(ArrayFile, "read_file", slow)
    assert same(sample_parts(2), load(folder).parts)


def test_readers_and_writers_at_once_see_whole_models_only(tmp_path, sample_parts, same):
    folder = tmp_path / "model"
    save(folder, sample_parts(0), {"seed": 0})

    def write(seed):
        saved = 0
        for _ in range(12):
            with suppress(UntwinError):  # busy: the other one is writing
                save(folder, sample_parts(seed), {"seed": seed})
                saved += 1
        return saved

    def read(_):
        stored = [load(folder) for _ in range(20)]
        return all(same(sample_parts(each.facts["seed"]), each.parts) for each in stored)

    with ThreadPoolExecutor(4) as pool:
        writers, readers = pool.map(write, [1, 2]), pool.map(read, [0, 1])
        assert sum(writers) >= 2
        assert all(readers)
    assert len(names(folder)) == 10


def test_whoever_may_wait_waits_and_says_so(tmp_path):
    folder, said = tmp_path / "model", []
    save(folder, {}, {})
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)

    def waited(stage, done, total):
        said.append(stage)
        lock.close()

    with listening(waited), sole_writer(folder, wait=60):
        save(folder, {"x": np.arange(3)}, {})  # a save inside needs no lock of its own
    assert said == [f"waiting: another process is writing to {folder}"] * len(said)
    assert said
    assert list(load(folder).parts) == ["x"]
    assert len(names(folder)) == 2


def test_two_threads_exclude_each_other(tmp_path):
    folder = tmp_path / "model"
    save(folder, {}, {})
    with ThreadPoolExecutor(1) as pool:
        with sole_writer(folder):
            refused = pool.submit(save, folder, {}, {}).exception()
        assert "another process is saving there" in str(refused)
        assert pool.submit(save, folder, {}, {}).result() == load(folder).sha256


def test_a_model_that_another_has_changed_is_not_replaced_by_who_knows_the_old_one(tmp_path):
    folder = tmp_path / "model"
    first = save(folder, {"x": np.arange(3)}, {})
    second = save(folder, {"x": np.arange(4)}, {}, replaces=first)
    before = names(folder)
    with pytest.raises(UntwinError, match="has changed since") as caught:
        save(folder, {"x": np.arange(5)}, {}, replaces=first)
    assert caught.value.code == "model-changed"
    assert names(folder) == before
    assert load(folder).sha256 == second == read_digest(folder)
    (folder / "manifest.json").unlink()
    save(folder, {"x": np.arange(5)}, {}, replaces=first)  # what has gone cannot be lost
    assert len(load(folder).parts["x"]) == 5


def test_a_change_by_somebody_who_knows_no_lock_is_seen_before_the_commit(tmp_path, monkeypatch):
    folder, other = tmp_path / "model", tmp_path / "other"
    first = save(folder, {"x": np.arange(3)}, {})
    save(other, {}, {})
    really = directory._open

    def meanwhile(place, content):
        (other / "manifest.json").replace(folder / "manifest.json")
        monkeypatch.setattr(directory, "_open", really)
        return really(place, content)

    monkeypatch.setattr(directory, "_open", meanwhile)
    with pytest.raises(UntwinError, match="has changed since"):
        save(folder, {"x": np.arange(4)}, {}, replaces=first)
    assert load(folder).parts == {}


def test_a_folder_that_was_made_for_a_save_that_failed_is_removed(tmp_path):
    with pytest.raises(ValueError, match="facts must consist of"):
        save(tmp_path / "a", {}, {"x": float("nan")})
    with pytest.raises(ValueError, match="x must be an array"):
        save(tmp_path / "b", {"x": np.array([None])}, {})
    assert names(tmp_path) == []


def test_interrupted_at_any_step_a_first_save_leaves_a_whole_model_or_nothing(tmp_path, sample_parts, same, steps):
    def interrupt(name, target):
        taken.append((name, str(target)))
        raise KeyboardInterrupt

    taken, found = [], []
    for step in count():
        folder = tmp_path / str(step)
        try:
            with steps.interrupted(step, interrupt):
                save(folder, sample_parts(), {})
        except KeyboardInterrupt:
            left = names(folder) if folder.exists() else []
        else:
            break
        found.append("manifest.json" in left)
        assert same(sample_parts(), load(folder).parts) if found[-1] else left in ([], ["lock"])
    assert step > 20
    assert found == sorted(found)
    assert found[-1]
