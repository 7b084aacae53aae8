"""Damage, kill, starve and forge model directories: `make faults`. A line for each part; exit 1 if one of them fails.

damaged    copies of a small model, each harmed in another way (accidents, and forgeries with right digests): every one
           is refused with exit code 3 or answers as before to the last bit; none crashes, takes 2 s or 200 MB
refused    some of the harmed ones, through the installed command: exit code 3
killed     `untwin fit` and `untwin add` killed at a random moment (kill -9): the folder holds the old or the new model,
           whole, and after the next save nothing else
moments    fit, add, report and predict killed before steps that reach the disk, 60 in all: model, report and answers
           are the old or the new ones, whole, and the same command then comes through (see `kills`)
starved    the disk is full at each step of a save: an error that says so, and the old model answers
forged     models of every kind forged with thought, 3,000 in all (see `forgeries`): refused, or they answer, explain,
           report and learn; no fault, and no load takes 2 s or 200 MB over the size of the model
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from untwin.model import UntwinClassifier
from untwin.model.saving import describe
from untwin.store import ModelRefused

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "store")]  # tests are no package
damage, forge, forged, kills, steps = map(import_module, ("damage", "forge", "forged", "kills", "steps"))

COMMAND = Path(sys.executable).parent / "untwin"
SECONDS, MEBIBYTES = 2.0, 200.0
WORDS = {"ape": "tree banana fur", "bee": "honey wing hive", "cat": "fur paw milk", "猫": "paw milk 魚"}
PROBES = ["a banana in the tree", "milk for the paw", "honey", "nothing known"]


def main() -> None:
    """Run all parts."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--damaged", type=int, default=500, help="how many models are damaged")
    options.add_argument("--forged", type=int, default=3000, help="how many models are forged")
    options.add_argument("--first", type=int, default=0, help="seed of the first of them")
    options.add_argument("--only", help="one of the parts")
    options.add_argument("--killed", type=int, default=30, help="how many processes are killed")
    options.add_argument("--moments", type=int, default=60, help="at how many steps processes are killed")
    asked = options.parse_args()
    with TemporaryDirectory() as name:
        work = Path(name)
        write_rows(work / "old.csv", seed=0)
        write_rows(work / "new.csv", seed=1)
        fit(work / "old.csv", work / "old")
        parts = {
            "damaged": lambda: damaged(work, range(asked.first, asked.first + asked.damaged)),
            "refused": lambda: refused(work, 8),
            "killed": lambda: killed(work, asked.killed),
            "moments": lambda: moments(work, asked.moments),
            "starved": lambda: starved(work),
            "forged": lambda: forge_all(work / "forged", range(asked.first, asked.first + asked.forged)),
        }
        wanted = parts if asked.only is None else [asked.only]
        failed = [told for name in wanted for told in report(name, *parts[name]())]
    sys.exit(1 if failed else 0)


def report(name: str, outcomes: Counter, failures: list[str]) -> list[str]:
    told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
    lines = [f"{name}: {told}; {len(failures)} failures", *(f"  {failure}" for failure in failures)]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
    return failures


def write_rows(path: Path, *, seed: int, n: int = 80) -> None:
    """Write texts of four classes, two of them twins."""
    rng = np.random.default_rng(seed)
    names = list(WORDS)
    rows = [
        (names[row % 4], " ".join(rng.choice([*WORDS[names[row % 4]].split(), "the", "a", "of"], 6)))
        for row in range(n)
    ]
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for label, text in rows))


def fit(data: Path, model: Path) -> None:
    command = [COMMAND, "fit", data, "-o", model, "--preset", "fast", "--text", "text", "--label", "label"]
    subprocess.run(command, check=True, capture_output=True)


# ---------------------------------------------------------------------- damaged


def damaged(work: Path, seeds: range) -> tuple[Counter, list[str]]:
    """Harm copies; each is loaded in a process of its own."""
    before = ask(work / "old", work / "before.json")  # in a child: this process must not have started threads
    outcomes, failures = Counter(), []
    for seed in seeds:
        copy = shutil.copytree(work / "old", work / "copy")
        found = in_child(
            lambda folder=copy: answers(folder),
            work / "after.json",
            first=lambda folder=copy, seed=seed: harm(folder, np.random.default_rng(seed)),
        )
        outcome = judged(found, before)
        outcomes[outcome] += 1
        if outcome not in ("refused", "the same"):
            failures.append(f"seed {seed}, {found.get('how')}: {outcome}")
        remove(copy)
    return outcomes, failures


def harm(folder: Path, generator: np.random.Generator) -> str:
    if generator.random() < 0.5:
        return forge.forge(folder, generator) if generator.random() < 0.95 else forge.forge_facts(folder, generator)
    ways = [way for way in damage.WAYS if way is not damage.forged_shape]  # no part of a model is a matrix
    way = ways[generator.integers(len(ways))]
    return f"{way.__name__}: {way(folder, generator)}"


def judged(found: dict, before: dict) -> str:
    if "said" not in found:
        return f"crashed: {str(found)[-300:]}"
    if found["seconds"] > SECONDS or found["mebibytes"] > MEBIBYTES:
        return f"too costly: {found['seconds']:.1f} s, {found['mebibytes']:.0f} MiB"
    if found["said"] == "refused":
        return "refused"
    return "the same" if found["said"] == before["said"] else "different"


def ask(folder: Path, out: Path) -> dict:
    return in_child(lambda: answers(folder), out)


def answers(folder: Path) -> object:
    """Return what the model says of some texts, in every bit, or that it is refused."""
    try:
        model = UntwinClassifier.load(folder)
    except ModelRefused as error:
        return "refused" if error.exit_code == 3 else f"exit code {error.exit_code}"
    reasons = [str(reason) for reason in model.explain(PROBES)]
    groups = [part.tolist() for part in model.predict_group(PROBES)]
    return [model.predict_proba(PROBES).tobytes().hex(), groups, reasons]


def in_child(work, out: Path, first=lambda: None) -> dict:
    """Do some work in a child; return what it said, its seconds of all cores and by how much it raised the peak.

    What is to be done `first` is not measured.
    """
    out.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        warnings.simplefilter("ignore")  # strange numbers overflow
        try:
            how = first()
            Path("/proc/self/clear_refs").write_text("5")  # forget the parent's peak
            before, start = mebibytes("VmRSS"), time.process_time()
            said = work()
            cost = {"seconds": time.process_time() - start, "mebibytes": mebibytes("VmHWM") - before}
            out.write_text(json.dumps({"said": said, "how": how, **cost}))
        except BaseException:
            out.write_text(json.dumps({"error": traceback.format_exc()[-800:]}))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return json.loads(out.read_text()) if out.exists() else {"signal": os.WTERMSIG(status)}


def mebibytes(entry: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(entry)).split()[1]) / 1024


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder.parent / f"{folder.name}-target").unlink(missing_ok=True)


def forge_all(work: Path, seeds: range) -> tuple[Counter, list[str]]:
    """Forge models of every kind in turn."""
    work.mkdir()
    return forged.forge_and_ask(work, forged.make_models(work), seeds)


def refused(work: Path, number: int) -> tuple[Counter, list[str]]:
    """Ask the installed command about harmed models."""
    outcomes, failures = Counter(), []
    for seed in range(number):
        copy = shutil.copytree(work / "old", work / "copy")
        how = in_child(
            lambda folder=copy, seed=seed: forge.forge(folder, np.random.default_rng(seed)), work / "how.json"
        )
        command = [COMMAND, "predict", copy, work / "new.csv", "--text", "text"]
        done = subprocess.run(command, capture_output=True, check=False)
        outcomes[f"exit {done.returncode}"] += 1
        if done.returncode not in (0, 3):
            failures.append(f"{how}: exit {done.returncode}: {done.stderr.decode()[-300:]}")
        remove(copy)
    return outcomes, failures


# ---------------------------------------------------------------------- killed


def killed(work: Path, number: int) -> tuple[Counter, list[str]]:
    """Kill commands while they work; look at what they leave."""
    shutil.copytree(work / "old", work / "model")
    commands = [
        [
            COMMAND,
            "fit",
            work / "new.csv",
            "-o",
            work / "model",
            "--preset",
            "fast",
            "--text",
            "text",
            "--label",
            "label",
        ],
        [COMMAND, "add", work / "model", work / "new.csv", "--again"],
    ]
    outcomes, failures = Counter(), []
    lasting = [duration(command) for command in commands]
    rng = np.random.default_rng(0)
    for seed in range(number):
        command, seconds = commands[seed % 2], lasting[seed % 2]
        before = describe(work / "model")["sha256"]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.5, 1.05) * seconds)  # most of the first half is imports
        child.kill()
        child.wait()
        found = ask(work / "model", work / "after.json")
        outcome = "refused" if found.get("said") in (None, "refused") else kept_or_replaced(work / "model", before)
        outcomes[f"{command[1]} {outcome}"] += 1
        if outcome == "refused":
            failures.append(f"{seed}, {command[1]}: {found}")
    fit(work / "old.csv", work / "model")
    left = sorted(path.name for path in (work / "model").iterdir())
    listed = json.loads((work / "model" / "manifest.json").read_text())["files"]
    if left != sorted(["manifest.json", *(f"{digest}.npy" for digest in listed)]):
        failures.append(f"left over: {left}")
    return outcomes, failures


def moments(work: Path, number: int) -> tuple[Counter, list[str]]:
    """Kill commands at some of their steps; those that take few leave more for the others."""
    base, outcomes, failures = kills.prepare(work / "base", write_rows), Counter(), []
    for left, name in zip(range(len(kills.COMMANDS), 0, -1), reversed(kills.COMMANDS), strict=True):
        found, faults = kills.kill(base, name, (number - outcomes.total()) // left)
        outcomes += found
        failures += faults
    return outcomes, failures


def duration(command: list) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def kept_or_replaced(folder: Path, before: str) -> str:
    return "kept the old model" if describe(folder)["sha256"] == before else "had the new model"


# ---------------------------------------------------------------------- starved


def starved(work: Path) -> tuple[Counter, list[str]]:
    """Save another model while the disk is full at one step after the other."""
    fit(work / "new.csv", work / "other")
    before, outcomes, failures = describe(work / "old")["sha256"], Counter(), []
    outcome = ""
    for step in count():
        folder = shutil.copytree(work / "old", work / "full")
        found = in_child(lambda folder=folder, step=step: full_at(step, work / "other", folder), work / "full.json")
        outcome = str(found.get("said", "crashed"))
        outcomes[outcome] += 1
        if outcome == "crashed" or (outcome == "kept the old model") != (describe(folder)["sha256"] == before):
            failures.append(f"step {step}: {found}")
        remove(folder)
        if outcome in ("crashed", "saved: no step is left"):
            break
    return outcomes, failures


def full_at(step: int, source: Path, folder: Path) -> str:
    """Save the model of `source` into `folder`, with no space left at a step."""
    fired = []

    def full(name: str, target: object) -> None:
        fired.append(name)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    model, before = UntwinClassifier.load(source), describe(folder)["sha256"]
    try:
        with steps.interrupted(step, full):
            model.save(folder)
    except OSError as error:
        said = error.errno == errno.ENOSPC and error.filename
        return kept_or_replaced(folder, before) if said else f"another error: {error!r}"
    return "saved all the same" if fired else "saved: no step is left"


if __name__ == "__main__":
    main()
