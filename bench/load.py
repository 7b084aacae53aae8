"""From the first imports to the first answer: a saved model of 20 Newsgroups (preset fast), beside scikit-learn's own.

Each run is a fresh process that imports scikit-learn's base and Polars, which both sides need anyway, then imports what
is left, loads the model and answers one text; the seconds are those after the first imports. Modules are compiled
once, as those of an installed package are. Its rival is a pipeline of
`TfidfVectorizer` and `LinearSVC`, dumped by joblib: it can be loaded from a friend only, for a pickle runs code. What
`untwin` holds beyond it is told by part: explanations, learning on and the report need more than weights.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import joblib
import polars as pl
from papers.datasets import read_texts
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bench._measure import arguments, show
from untwin.model import UntwinClassifier
from untwin.model.saving import describe

if TYPE_CHECKING:
    from collections.abc import Iterable

ALLOWED = 0.3  # seconds beyond the first imports
TEXT = "The engine of my motorcycle makes a strange noise when I brake."

RUN = """
import json, sys, time
clock = [time.perf_counter()]
import sklearn.base, polars
clock.append(time.perf_counter())
{imports}
clock.append(time.perf_counter())
model = {load}(sys.argv[1])
clock.append(time.perf_counter())
model.predict([sys.argv[2]])
clock.append(time.perf_counter())
print(json.dumps([after - before for before, after in zip(clock, clock[1:])]))
"""
STAGES = ("first imports", "imports", "load", "answer")
UNTWIN = RUN.format(imports="from untwin.model import UntwinClassifier", load="UntwinClassifier.load")
RIVAL = RUN.format(
    imports="import joblib, sklearn.pipeline, sklearn.svm, sklearn.feature_extraction.text", load="joblib.load"
)


def main() -> None:
    """Fit and save both models, then load them in fresh processes."""
    options = arguments(__doc__, repeats=7)
    posts = read_texts(options.data, "20newsgroups").filter(pl.col("split") == "train")
    texts, labels = posts["text"].to_list(), posts["label"].to_numpy()
    with TemporaryDirectory() as folder:
        ours, rival = Path(folder, "model"), Path(folder, "pipeline.joblib")
        UntwinClassifier(preset="fast").fit(texts, labels).save(ours)
        joblib.dump(make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC()).fit(texts, labels), rival)
        compiled = Path(folder, "compiled")
        timed = {"untwin": (UNTWIN, ours, compiled), "joblib": (RIVAL, rival, compiled)}
        runs = {name: [_seconds(*each) for _ in range(options.repeats)] for name, each in timed.items()}
        sizes = {"untwin": _bytes(ours.iterdir()), "joblib": rival.stat().st_size}
        rows: list[dict[str, Any]] = [{"model": name, **_best(runs[name]), "bytes": sizes[name]} for name in runs]
        rows += [{"part": part, "size": size} for part, size in describe(ours)["bytes"].items()]
    beyond = rows[0]["beyond first imports"]
    show(rows, as_json=options.json, texts=len(texts), seconds_allowed=ALLOWED, kept=beyond <= ALLOWED)


def _seconds(code: str, path: Path, compiled: Path) -> list[float]:
    """Return what each stage of a fresh process took; the first one fills the folder of compiled modules."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    settings["PYTHONPYCACHEPREFIX"] = str(compiled)
    command = [sys.executable, "-c", code, str(path), TEXT]
    done = subprocess.run(command, check=True, capture_output=True, env=settings)
    seconds: list[float] = json.loads(done.stdout)
    return seconds


def _best(runs: list[list[float]]) -> dict[str, float]:
    """Return the stages of the fastest run; the first imports, which are the weather, do not decide."""
    best = min(runs, key=lambda seconds: sum(seconds[1:]))
    return {**dict(zip(STAGES, best, strict=True)), "beyond first imports": sum(best[1:])}


def _bytes(files: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in files)


if __name__ == "__main__":
    main()
