"""Several commands at once on one model, in processes of their own: no lost update, no mixed answer."""

from __future__ import annotations

import csv
import fcntl
import shutil
import subprocess

import pytest
from tests.cli.conftest import records, write_csv
from tests.conftest import COMMAND

from untwin import UntwinClassifier


@pytest.fixture
def folder(fitted, tmp_path):
    return shutil.copytree(fitted.folder, tmp_path / "model")


def started(*arguments):
    return subprocess.Popen([COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answers(path):
    with path.open(newline="") as file:
        return [(row["untwin_label"], row["untwin_probability"]) for row in csv.DictReader(file)]


def test_two_that_add_and_one_that_asks(command, folder, tmp_path, new_rows):
    """Every answer is that of the model before, between or after: which comes first is not ours to say."""
    more = [
        write_csv(tmp_path / f"{seed}.csv", [{"text": row["text"], "label": row["label"]} for row in records(5, seed)])
        for seed in (21, 22)
    ]
    asked, whole = write_csv(tmp_path / "asked.csv", new_rows), []
    for number, order in enumerate(([], more[:1], more[1:], more, more[::-1])):
        copy = shutil.copytree(folder, tmp_path / f"copy{number}")
        for table in order:
            assert command("add", copy, table).code == 0
        assert command("predict", copy, asked, "-o", tmp_path / "o.csv").code == 0
        whole.append(answers(tmp_path / "o.csv"))
    adding = [started("add", folder, table) for table in more]
    seen = []
    while any(process.poll() is None for process in adding):
        asking = [started("predict", folder, asked, "-o", tmp_path / "out.csv") for _ in range(2)]  # to one file
        for process in asking:
            assert process.wait() == 0, process.stderr.read()
            process.communicate()
        seen.append(answers(tmp_path / "out.csv"))
    for process in adding:
        assert process.returncode == 0, process.communicate()
        process.communicate()
    assert all(found in whole for found in seen)
    assert len(UntwinClassifier.load(folder).ids_) == 138
    assert command("predict", folder, asked, "-o", tmp_path / "out.csv").code == 0
    assert answers(tmp_path / "out.csv") in whole[3:]
    assert not [path.name for path in (*tmp_path.iterdir(), *folder.iterdir()) if "new" in path.name]
    assert not (folder / "lock").exists()


def test_who_waits_says_so_and_goes_on(folder, tmp_path):
    table = write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = started("add", folder, table)
        for line in process.stderr:
            if b"waiting: another process is writing to" in line:
                break
        assert process.poll() is None
    assert process.wait() == 0
    process.communicate()
    assert len(UntwinClassifier.load(folder).ids_) == 129


def test_who_has_waited_long_enough_gives_up(command, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("untwin.cli.model_files.LONGEST_WAIT", 0.1)
    table = write_csv(tmp_path / "one.csv", [{"text": "printer jam", "label": "printer"}])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = command("add", folder, table)
        assert done.code == 2
        assert "another process is saving there" in done.err
        assert command("predict", folder, table).code == 0  # who only reads need not wait
