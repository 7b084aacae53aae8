"""Forge models and ask them: 3,000 by `make faults`, a few in the ordinary tests."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parent)]  # tests are no package
forgeries, zoo = import_module("forgeries"), import_module("zoo")

SECONDS, MEBIBYTES = 2.0, 200.0  # the limits of a load; the second beyond the size of the model
PATIENCE = 30.0  # seconds until a process that says nothing is given up


class Asker:
    """A process that asks models; a new one takes its place when it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._warm = set[str]()

    def ask(self, folder: Path, rows: str, *, report: bool) -> dict[str, Any]:
        """Ask about a model whose rows are those of the zoo; its like beside it first, which imports and compiles."""
        if rows not in self._warm:
            self._say(folder.parent / rows, rows, report=False)
            self._warm.add(rows)
        return self._say(folder, rows, report=report)

    def _say(self, folder: Path, rows: str, *, report: bool) -> dict[str, Any]:
        if self._process is None:
            command, once = [sys.executable, str(Path(__file__).parent / "asked.py")], {"POLARS_MAX_THREADS": "1"}
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self._process = subprocess.Popen(command, text=True, env={**os.environ, **once}, **pipes)
        process = self._process
        process.stdin.write(json.dumps({"folder": str(folder), "rows": rows, "report": report}) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        line = process.stdout.readline() if ready else ""
        if line:
            return dict(json.loads(line))
        self.close()
        return {"said": f"broken: {'a fault' if ready else 'no end'}, signal {-process.returncode}", "seconds": 0.0}

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self._warm = set()


def make_models(work: Path, names: list[str] | None = None) -> list[str]:
    """Fit and save models of the zoo; return their names."""
    names = list(zoo.MODELS) if names is None else names
    for name in names:
        if not (work / name).exists():
            full = name.startswith("stack")  # with the weights of all members, else with those that answer
            zoo.MODELS[name]()[0].save(work / name, precision="full" if full else None)
    return names


def forge_and_ask(
    work: Path, names: list[str], seeds: range, *, report_every: int = 1
) -> tuple[Counter[str], list[str]]:
    """Forge models in turn; return how many were refused and answered, and what was broken."""
    outcomes, failures, asker = Counter[str](), list[str](), Asker()
    try:
        for seed in seeds:
            name = names[seed % len(names)]
            copy = shutil.copytree(work / name, work / "forged")
            how = forgeries.forge(copy, np.random.default_rng(seed))
            size = sum(path.stat().st_size for path in copy.iterdir()) / (1 << 20)
            found = asker.ask(copy, name, report=seed // len(names) % report_every == 0)
            outcome = judged(found, size)
            outcomes[outcome.partition(":")[0]] += 1
            if outcome not in ("refused", "answered"):
                failures.append(f"seed {seed}, {name}, {how}: {outcome}")
            shutil.rmtree(copy)
    finally:
        asker.close()
    return outcomes, failures


def judged(found: dict[str, Any], size: float) -> str:
    """Return what came of a forgery."""
    if found["seconds"] > SECONDS or found.get("mebibytes", 0.0) > MEBIBYTES + size:
        return f"too costly: {found['seconds']:.1f} s, {found['mebibytes']:.0f} MiB, {found['said']}"
    return str(found["said"])
