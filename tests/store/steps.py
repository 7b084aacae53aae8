"""Stop a save at any of its steps: every call that changes the disk, or waits for it, is one.

Opening a file to read it is none: it needs no space, and to die before it is to die after the step before.

As a script, `python steps.py FOLDER`: replace one model by another in a child process again and again, each time killed
one step later (kill -9), until a child comes through. One JSON line a step says which model then loads.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
import signal
import sys
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from unittest import mock

CALLS = [(os, "fsync"), (os, "replace"), (os, "unlink"), (os, "open"), (io, "open"), (fcntl, "flock")]


@contextmanager
def interrupted(step, interruption, each=lambda name, target: None):
    """Call `interruption(name, first argument)` before the step-th of calls that reach the disk; `each` before all."""
    numbers = count()

    def counted(name, call):
        def counting(*arguments, **options):
            if not (name == "open" and only_reads(*arguments, **options)):
                each(name, arguments[0])
                if next(numbers) == step:
                    interruption(name, arguments[0])
            return call(*arguments, **options)

        return counting

    patches = [mock.patch.object(module, name, counted(name, getattr(module, name))) for module, name in CALLS]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def only_reads(path, mode="r", *others, **options):
    """Say whether a call of `io.open` or of `os.open` changes nothing."""
    return not mode & os.O_CREAT if isinstance(mode, int) else mode in ("r", "rb")


def die(name, target):
    """Kill this process; in the middle of a write, if it was about to wait for the end of one."""
    if name == "fsync" and fcntl.fcntl(target, fcntl.F_GETFL) & os.O_WRONLY:
        os.ftruncate(target, os.fstat(target).st_size // 2)
    os.kill(os.getpid(), signal.SIGKILL)


def killed_at(step, folder, parts, save):
    """Save in a child process that dies at this step; return whether it did."""
    child = os.fork()
    if child == 0:
        with interrupted(step, die):
            save(folder, parts, {"which": "new"})
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main(work):
    from sample import same, sample_parts

    from untwin.store import load, save

    old, new = ({name: sample_parts(seed)[name] for name in ("classes", "flags", "documents")} for seed in (1, 2))
    save(work / "old", old, {"which": "old"})
    for step in count():
        folder = shutil.copytree(work / "old", work / "model")
        killed = killed_at(step, folder, new, save)
        stored = load(folder)
        which = stored.facts["which"]
        whole = same(stored.parts, {"old": old, "new": new}[which])
        save(folder, old, {"which": "old"})
        names = sorted(path.name for path in folder.iterdir())
        clean = names == sorted(path.name for path in (work / "old").iterdir()) and same(load(folder).parts, old)
        sys.stdout.write(json.dumps({"killed": killed, "which": which, "whole": whole, "clean": clean}) + "\n")
        shutil.rmtree(folder)
        if not killed:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
