"""Run experiments, keep what each one found as soon as it is done, and take up where the last run ended."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from papers.digests import data_digest, paper_digest
from untwin import __version__
from untwin._files import write_whole
from untwin._plain import plain
from untwin._progress import report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from papers.experiment import Experiment

    Record = dict[str, Any]


def run(experiments: Sequence[Experiment], data: Path, out: Path, *, quick: bool) -> list[Record]:
    """Return one record an experiment: from `out`, if the same source found it there in the same data, or run now.

    A quick run takes what a full one has found.
    """
    folder = out / "experiments"
    folder.mkdir(parents=True, exist_ok=True)
    kept = [_kept(experiment, data, folder, quick=quick) for experiment in experiments]  # missing data is found at once
    records = []
    for number, (experiment, record) in enumerate(zip(experiments, kept, strict=True)):
        report(f"{experiment.paper}: {experiment.title}", number, len(experiments))
        records.append(record or _run_now(experiment, data, folder, quick=quick))
    report("experiments", len(experiments), len(experiments))
    return records


def key_of(experiment: Experiment, data: Path, *, quick: bool) -> str:
    """Return the digest of everything that decides what an experiment finds."""
    parts = (
        experiment.name,
        paper_digest(experiment.paper),
        data_digest(data, experiment.reads),
        str(quick),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _kept(experiment: Experiment, data: Path, folder: Path, *, quick: bool) -> Record | None:
    for as_quick in (False, True) if quick else (False,):
        path = _path(experiment, folder, quick=as_quick)
        key = key_of(experiment, data, quick=as_quick)
        try:
            record: Record = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):  # not there, or cut off when the last run was
            continue
        if record.get("key") == key:
            return record
    return None


def _path(experiment: Experiment, folder: Path, *, quick: bool) -> Path:
    return folder / f"{experiment.paper}-{experiment.name}{'-quick' if quick else ''}.json"


def _run_now(experiment: Experiment, data: Path, folder: Path, *, quick: bool) -> Record:
    key, start = key_of(experiment, data, quick=quick), time.perf_counter()  # before: the source may change meanwhile
    outcome = experiment.run(data, quick)
    record = {
        "paper": experiment.paper,
        "name": experiment.name,
        "title": experiment.title,
        "about": experiment.about,
        "key": key,
        "quick": quick,
        "seconds": time.perf_counter() - start,
        "load": os.getloadavg()[0],
        "version": __version__,
        **asdict(outcome),
    }
    kept: Record = plain(record, _rounded)
    content = json.dumps(kept, indent=1, allow_nan=False) + "\n"
    write_whole(_path(experiment, folder, quick=quick), content.encode())
    return kept


def _rounded(value: float) -> float:
    """Return six significant digits, which are enough."""
    return float(f"{value:.6g}")
