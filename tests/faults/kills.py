"""Kill commands at the moments that matter and look at all that they write: model, report and answers.

After each kill the model loads and is the old or the new one; the page and the answers are the old or the new ones, to
the last byte; the same command then comes through, learns nothing twice, and nothing else is left behind.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from untwin.model import UntwinClassifier

FIT = ["--preset", "fast", "--text", "text", "--label", "label"]
COMMANDS = {
    "fit": ["fit", "new.csv", "-o", "model", *FIT],
    "add": ["add", "model", "new.csv"],
    "report": ["report", "model"],
    "predict": ["predict", "model", "new.csv", "-o", "answers.csv"],
    "parquet": ["predict", "model", "new.csv", "-o", "answers.parquet"],
}
WRITTEN = ("model.html", "answers.csv", "answers.parquet")
OLD, NEW = 80, 40  # rows


def prepare(folder: Path, write_rows) -> Path:
    """Make a folder with two tables, a model, its report, and older answers; return it."""
    folder.mkdir()
    write_rows(folder / "old.csv", seed=0, n=OLD)
    write_rows(folder / "new.csv", seed=1, n=NEW)
    done(folder, -1, ["fit", "old.csv", "-o", "model", *FIT])
    for name in ("answers.csv", "answers.parquet"):
        (folder / name).write_text("old answers")
    return folder


def done(folder: Path, step: int, arguments: list[str]) -> subprocess.CompletedProcess:
    """Run a command in a folder until a step; if it comes through, its steps are listed beside the folder."""
    command = [
        sys.executable,
        Path(__file__).with_name("killed.py"),
        str(step),
        folder.with_suffix(".steps"),
        *arguments,
    ]
    found = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if found.returncode not in (0, -9):
        raise RuntimeError(f"{arguments}: exit {found.returncode}: {found.stderr.decode()[-500:]}")
    return found


def kill(base: Path, name: str, number: int) -> tuple[Counter, list[str]]:
    """Kill a command at so many of its steps; return what was found, and what should not have been."""
    whole = shutil.copytree(base, base.with_name("whole"))
    done(whole, -1, COMMANDS[name])
    steps = json.loads(whole.with_suffix(".steps").read_text())
    outcomes, failures = Counter(), []
    for step in moments(steps, number):
        scene = shutil.copytree(base, base.with_name("scene"))
        if done(scene, step, COMMANDS[name]).returncode != -9:
            failures.append(f"{name}, step {step} {steps[step]}: not killed")
        found, faults = looked_at(scene, base, whole, name)
        outcomes[f"{name} {found}"] += 1
        failures += [f"{name}, step {step} {steps[step]}: {fault}" for fault in faults]
        shutil.rmtree(scene)
    shutil.rmtree(whole)
    return outcomes, failures


def moments(steps: list[tuple[str, str]], number: int) -> list[int]:
    """Return steps to kill at: mostly those of files that have a meaning of their own, some of arrays among them."""
    arrays = {step for step, (_, path) in enumerate(steps) if ".npy" in path}
    others = [step for step in range(len(steps)) if step not in arrays]
    few = min(number // 4, len(arrays))
    return sorted({*spread(sorted(arrays), few), *spread(others, number - few)})


def spread(steps: list[int], number: int) -> list[int]:
    chosen = np.unique(np.linspace(0, len(steps) - 1, number).round().astype(int)) if number and steps else []
    return [steps[place] for place in chosen]


def looked_at(scene: Path, base: Path, whole: Path, name: str) -> tuple[str, list[str]]:
    """Look at what a killed command has left, let it run again, and look once more."""
    faults = [f"{file} is neither" for file in WRITTEN if not old_or_new(file, scene, base, whole)]
    rows = len(UntwinClassifier.load(scene / "model").ids_)
    after = len(UntwinClassifier.load(whole / "model").ids_)
    if rows not in (OLD, after):
        faults.append(f"the model has {rows} rows")
    done(scene, -1, COMMANDS[name])
    if len(UntwinClassifier.load(scene / "model").ids_) != after:
        faults.append("another number of rows after it was repeated")
    faults += [f"{file} is not new" for file in WRITTEN if not same(file, scene, whole)]
    listed = json.loads((scene / "model" / "manifest.json").read_text())["files"]
    if {path.name for path in (scene / "model").iterdir()} != {"manifest.json", *(f"{key}.npy" for key in listed)}:
        faults.append("something is left in the model")
    if {path.name for path in scene.iterdir()} != {path.name for path in whole.iterdir()}:
        faults.append(f"left behind: {sorted(path.name for path in scene.iterdir())}")
    return ("had the old model" if rows == OLD else "had the new model"), faults


def old_or_new(file: str, scene: Path, base: Path, whole: Path) -> bool:
    return same(file, scene, base) or same(file, scene, whole)


def same(file: str, one: Path, other: Path) -> bool:
    """Compare two files; pages tell of seconds and memory, so that of them the shape must do."""
    a, b = ((folder / file).read_bytes() for folder in (one, other))
    if file != "model.html":
        return a == b
    return a.endswith(b"</html>\n") and abs(len(a) - len(b)) < 200
