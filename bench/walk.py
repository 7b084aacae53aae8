"""The way of the data through the rooms: what `fit`, `add`, `report` and `predict` pass, counted with a profiler.

Functions and modules are those of the package that a command calls; a change of room is counted where, in the order of
first calls, a function belongs to another room (folder of `untwin`) than the one before it. Private modules such as
`_values` are no rooms. `--list` shows the walk itself. The table is made up, so `--data` is not needed.
"""

from __future__ import annotations

import argparse
import inspect
import os
import random
import sys
import tempfile
import threading
from contextlib import redirect_stderr, redirect_stdout
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import untwin
from bench._measure import show
from untwin.cli.run import run

if TYPE_CHECKING:
    from types import FrameType

ROOT = Path(untwin.__file__).parent
WORDS = {
    "billing": "invoice charge payment refund bill price fee",
    "delivery": "parcel courier late delivery address arrived tracking",
    "password": "login password reset account locked code access",
    "printer": "printer paper jam toner page print cable",
}


class Step(NamedTuple):
    """A function of the package, when it is called for the first time."""

    module: str
    function: str

    @property
    def room(self) -> str:
        """The folder of the package that it stands in, or its module."""
        return self.module.split("/")[0].removesuffix(".py")


def table(path: Path, n_rows: int, seed: int) -> Path:
    """Write a made-up table of tickets."""
    rng = random.Random(seed)  # noqa: S311
    lines = ["text,label"]
    for _ in range(n_rows):
        label = rng.choice(list(WORDS))
        words = [*rng.choices(WORDS[label].split(), k=2), *rng.choices(" ".join(WORDS.values()).split(), k=4)]
        lines.append(f"{' '.join(words)},{label}")
    path.write_text("\n".join(lines) + "\n")
    return path


def walked(arguments: list[str]) -> list[Step]:
    """Return the functions that a command calls, in the order of first calls."""
    seen: dict[Step, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        inside = event == "call" and code.co_filename.startswith(str(ROOT))
        if inside and code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<"):
            seen.setdefault(Step(Path(code.co_filename).relative_to(ROOT).as_posix(), code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with Path(os.devnull).open("w") as off, redirect_stdout(off), redirect_stderr(off):
            code = run(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if code:
        raise SystemExit(f"untwin {arguments[0]} ended with {code}.")
    return list(seen)


def counted(name: str, steps: list[Step]) -> dict[str, Any]:
    """Return what a walk passes."""
    rooms = [step.room for step in steps if not step.room.startswith("_")]
    return {
        "command": name,
        "functions": len(steps),
        "modules": len({step.module for step in steps}),
        "changes of room": sum(before != after for before, after in pairwise(rooms)),
    }


def walks() -> dict[str, list[Step]]:
    """Return the walk of each command, on a table and a model in a folder of their own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        tickets, more = table(folder / "tickets.csv", 160, 1), table(folder / "more.csv", 40, 2)
        model, answers = str(folder / "model"), str(folder / "answers.csv")
        commands = (
            ["fit", str(tickets), "-o", model],
            ["add", model, str(more)],
            ["report", model],
            ["predict", model, str(more), "-o", answers],
        )
        return {arguments[0]: walked(arguments) for arguments in commands}


def main() -> None:
    """Walk and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", help="not needed; taken so that `make bench` can call all benchmarks alike")
    options.add_argument("--json", action="store_true", help="print one object that holds all figures")
    options.add_argument("--list", action="store_true", help="show the functions of each room in order")
    given = options.parse_args()
    found = walks()
    if given.list:
        for name, steps in found.items():
            print(f"== {name}")
            for room, part in groupby(steps, key=lambda step: step.room):
                print(f"{room}: {', '.join(f'{Path(step.module).stem}.{step.function}' for step in part)}")
    show([counted(name, steps) for name, steps in found.items()], as_json=given.json)


if __name__ == "__main__":
    main()
