"""The first answer of a new process, loading, and sizes: saved models of texts and vectors, beside scikit-learn's own.

Each set has a line for each way to get one answer from a new process (least of several, wall clock and processor
seconds): `untwin predict` on a file with one row (texts only), `AnswerModel` and `UntwinClassifier` in Python, and a
pipeline of `TfidfVectorizer` and `LinearSVC` that joblib loads: from a friend only, for a pickle runs code. `load s` is
what loading takes in such a process, after its imports. Modules are compiled once, as those of installed packages are.

Sizes: the whole model with its texts, of which `learning MB` is what only learning on needs, and a folder that only
answers, with its accuracy on the test rows, at each precision.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bench._measure import parser, show
from bench._runs import TEXT_SETS, VECTOR_SETS, _split
from untwin import AnswerModel, UntwinClassifier
from untwin._plain import plain
from untwin.data.columns import ColumnRoles
from untwin.model.answering import PRECISIONS
from untwin.model.saving import describe

if TYPE_CHECKING:
    from collections.abc import Iterable

SETS = (*TEXT_SETS, *VECTOR_SETS)
ALLOWED = 1.0  # seconds of wall clock that `untwin predict` may take for one row
ANSWER = """
import json, sys, time
{imports}
begin = time.perf_counter()
model = {load}(sys.argv[1])
seconds = time.perf_counter() - begin
model.predict(json.load(sys.stdin))
print(seconds)
"""
WAYS = {
    "AnswerModel": ANSWER.format(imports="from untwin import AnswerModel", load="AnswerModel.load"),
    "UntwinClassifier": ANSWER.format(imports="from untwin import UntwinClassifier", load="UntwinClassifier.load"),
    "scikit-learn, joblib": ANSWER.format(imports="import joblib", load="joblib.load"),
}


def main() -> None:
    """Fit, save, ask in new processes, print."""
    options = parser(__doc__)
    options.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    options.add_argument("--repeats", type=int, default=5, help="best of so many processes")
    given = options.parse_args()
    rows: list[dict[str, Any]] = []
    for name in given.sets:
        with TemporaryDirectory() as folder:
            rows += figures(Path(folder), name, _split(given.data, name, 0, 1, quick=False), given.repeats)
    first = [row["first answer s"] for row in rows if row["what"] == "untwin predict"]
    show(rows, as_json=given.json, seconds_allowed=ALLOWED, kept=max(first, default=0.0) <= ALLOWED)


def figures(folder: Path, name: str, split: tuple[Any, ...], repeats: int) -> list[dict[str, Any]]:
    """Return the lines of one set."""
    X, y, asked, truth = split
    whole, rival, compiled = folder / "model", folder / "pipeline.joblib", folder / "compiled"
    model, svm = UntwinClassifier().fit(X, y), LinearSVC(random_state=0)
    model.save(whole, about={"roles": plain(asdict(ColumnRoles(text=("text",))))})  # as `untwin fit` notes it
    other = make_pipeline(TfidfVectorizer(sublinear_tf=True), svm) if isinstance(X, list) else svm
    joblib.dump(other.fit(X, y), rival)
    one = json.dumps(asked[:1] if isinstance(asked, list) else asked[:1].tolist())
    found = []
    if isinstance(asked, list):
        table = folder / "one.csv"
        pl.DataFrame({"text": asked[:1]}).write_csv(table)
        command = [sys.executable, "-m", "untwin", "predict", str(whole), str(table)]
        found.append({"set": name, "what": "untwin predict", **first_answer(command, "", compiled, repeats)})
    for what, code in WAYS.items():
        place = rival if "joblib" in what else whole
        took = first_answer([sys.executable, "-c", code, str(place)], one, compiled, repeats)
        found.append({"set": name, "what": what, **took})
    sizes = describe(whole)["bytes"]
    pipeline = {"MB": rival.stat().st_size / 1e6, "accuracy": float((np.asarray(other.predict(asked)) == truth).mean())}
    told = {"MB": megabytes(whole.iterdir()), "learning MB": sizes.get("learning", 0) / 1e6}
    found += [
        {"set": name, "what": "size of the pipeline", **pipeline},
        {"set": name, "what": "size of the model", **told, "accuracy": float((model.predict(asked) == truth).mean())},
    ]
    for precision in PRECISIONS:
        small = folder / precision
        model.export(small, precision=precision)
        right = float((AnswerModel.load(small).predict(asked) == truth).mean())
        size = megabytes(small.iterdir())
        found.append({"set": name, "what": f"size to answer only, {precision}", "MB": size, "accuracy": right})
    return found


def first_answer(command: list[str], given: str, compiled: Path, repeats: int) -> dict[str, float]:
    """Return the least seconds of new processes; one before them fills the folder of compiled modules."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    settings["PYTHONPYCACHEPREFIX"] = str(compiled)
    walls, processors, loads = [], [], []
    for _ in range(repeats + 1):
        before, begin = _used(), time.perf_counter()
        done = subprocess.run(command, input=given, text=True, check=True, capture_output=True, env=settings)
        walls.append(time.perf_counter() - begin)
        processors.append(_used() - before)
        loads.append(done.stdout)
    found = {"first answer s": min(walls[1:]), "processor s": min(processors[1:])}
    return found | ({"load s": min(map(float, loads[1:]))} if given else {})


def _used() -> float:
    """Return the processor seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def megabytes(files: Iterable[Path]) -> float:
    """Return the size of files."""
    return sum(path.stat().st_size for path in files) / 1e6


if __name__ == "__main__":
    main()
