"""One careful writer: at every moment a name stands for the old file or for the new one, whole; nothing is followed."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import nullcontext
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path

import pytest

from untwin._errors import InputError
from untwin._files import replacing, require_ours, write_whole

WRITE_SLOWLY = """
import sys
from untwin._files import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half of it")
    file.flush()
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def steps():
    spec = spec_from_file_location("steps", Path(__file__).parent / "store" / "steps.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def slow_writer(path):
    command = [sys.executable, "-c", WRITE_SLOWLY, path]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    return process


def test_a_file_is_new_or_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "page.html"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(tmp_path) == ["page.html"]


def test_the_longest_name_and_a_name_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_whole("x" * 255, b"one")
    assert names(tmp_path) == ["x" * 255]


def test_the_mode_is_that_of_the_old_file_or_of_the_umask(tmp_path):
    write_whole(tmp_path / "new", b"")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~current_umask()
    (tmp_path / "new").chmod(0o640)
    write_whole(tmp_path / "new", b"again")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def current_umask():
    found = os.umask(0)
    os.umask(found)
    return found


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there(tmp_path, failure):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")

    def write():
        with replacing(path) as file:
            file.write(b"new")
            raise failure

    with pytest.raises(failure):
        write()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["page.html"]


def test_a_full_disk_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path, steps):
    def full(name, target):
        failed.append(name)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path, failed, found = tmp_path / "page.html", [], []
    for step in count():
        path.write_bytes(b"old")
        blamed = pytest.raises(OSError, match=re.escape(str(path))) if step in (0, 2, 3, 4) else nullcontext()
        with blamed, steps.interrupted(step, full):
            write_whole(path, b"new")
        assert names(tmp_path) == ["page.html"]
        if len(failed) == step:  # no step is left
            break
        found.append(path.read_bytes())
    assert failed == ["open", "flock", "fsync", "replace", "fsync"]
    assert found == [b"old", b"new", b"old", b"old", b"new"]  # it does without a lock where there is none


def test_killed_the_old_file_stays_and_the_next_writer_removes_what_is_left(tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(b"old")
    process = slow_writer(path)
    process.kill()
    process.communicate()
    assert path.read_bytes() == b"old"
    assert len(names(tmp_path)) == 2
    write_whole(tmp_path / "other.html", b"of another name")
    assert len(names(tmp_path)) == 3
    write_whole(path, b"new")
    assert names(tmp_path) == ["other.html", "page.html"]


def test_two_writers_at_once_both_write_whole_files(tmp_path):
    path = tmp_path / "page.html"
    first = slow_writer(path)
    write_whole(path, b"second")  # does not take the file of the first for a leftover
    assert path.read_bytes() == b"second"
    first.communicate()
    assert first.returncode == 0
    assert path.read_bytes() == b"half of it"
    assert names(tmp_path) == ["page.html"]


def test_many_writers_at_once(tmp_path):
    path = tmp_path / "page.html"

    def write(number):
        for _ in range(20):
            write_whole(path, bytes([number]) * 5000)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(path.read_bytes())) == 1
    assert path.stat().st_size == 5000
    assert names(tmp_path) == ["page.html"]


@pytest.mark.parametrize("kind", ["link", "broken link", "folder", "pipe", "socket", "device", "read-only"])
def test_what_is_no_file_is_refused_and_not_followed(tmp_path, kind):
    target, other = tmp_path / "page.html", tmp_path / "precious"
    if kind != "broken link":
        other.write_bytes(b"precious")
    with socket.socket(socket.AF_UNIX) as listener:
        match kind:
            case "link" | "broken link":
                target.symlink_to(other)
            case "folder":
                target.mkdir()
            case "pipe":
                os.mkfifo(target)
            case "socket":
                listener.bind(str(target))
            case "device":
                target = Path(os.devnull)
            case "read-only":
                target.write_bytes(b"precious")
                target.chmod(0o444)
        signal.alarm(20)
        with pytest.raises(InputError) as caught:
            write_whole(target, b"new")
        signal.alarm(0)
    assert caught.value.code == ("read-only" if kind == "read-only" else "not-a-file")
    assert str(target) in caught.value.message
    assert other.exists() == (kind != "broken link")
    assert not other.exists() or other.read_bytes() == b"precious"


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="there is no such folder"):
        write_whole(tmp_path / "no" / "page.html", b"")


@pytest.mark.parametrize(("content", "refused"), [(None, False), (b"", False), (b"our mark", False), (b"notes", True)])
def test_foreign_files_are_told_by_a_mark(tmp_path, content, refused):
    path = tmp_path / "page.html"
    if content is not None:
        path.write_bytes(content)
    require_ours(path, b"mark", force=True)
    if not refused:
        require_ours(path, b"mark", force=False)
        return
    with pytest.raises(InputError, match="was not made by untwin") as caught:
        require_ours(path, b"mark", force=False)
    assert caught.value.code == "foreign-file"
    assert "--force" in caught.value.hint
