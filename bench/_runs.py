"""One rival on one split of one set, in a process of its own; what it did is kept, so that a run can be taken up.

Figures are kept as JSON under `--out`, one file a run, and shared by all benchmarks that compare classifiers. Time is
processor time of one core's work: it does not depend on what else the machine does.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm
from sklearn.metrics import f1_score

from bench._measure import parser, peak_of
from bench._peers import made
from bench._rivals import model_bytes
from bench._sets import documents, parts, vectors
from untwin import UntwinClassifier
from untwin.calibrate.reliability import calibration_error

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Run = dict[str, Any]

TEXT_SETS = (
    "banking77",
    "clinc150",
    "reuters21578",
    "reviews_ordinal",
    "20newsgroups",
    "dbpedia219_5k",
    "arxiv",
    "webdirectory",
)
VECTORS = ".minilm"
VECTOR_SETS = tuple(f"{name}{VECTORS}" for name in ("banking77", "clinc150"))
LARGE = ("dbpedia219_5k", "arxiv", "webdirectory")  # one split is enough, and all there is time for
QUICK_ROWS = 1_500
LIMIT = 900  # processor seconds
FEW = 300  # rows that compiled loops are loaded with


def run_options(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with what all comparisons take."""
    options = parser(doc)
    options.add_argument("--out", type=Path, default=Path("build/peers"), help="where results are kept")
    options.add_argument("--seeds", type=int, default=3, help="splits of a set that has none (large sets: one)")
    options.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS} rows at most")
    options.add_argument("--limit", type=int, default=LIMIT, help="processor seconds for one rival on one split")
    options.add_argument("--kept", action="store_true", help="run nothing, show what is kept")
    return options


def on_all_splits(name: str, peer: str, options: argparse.Namespace) -> list[Run]:
    """Return what a rival did on each split of a set."""
    table = documents(options.data, name.removesuffix(VECTORS))
    return [_kept(name, peer, number, options) for number in range(len(list(parts(table, _seeds(name, options)))))]


def hits(run: Run) -> NDArray[np.float64]:
    """Return which test rows a rival got right."""
    return np.array([digit == "1" for digit in run["right"]], dtype=np.float64)


def _seeds(name: str, options: argparse.Namespace) -> int:
    return 1 if name in LARGE else int(options.seeds)


def _kept(name: str, peer: str, number: int, options: argparse.Namespace) -> Run:
    """Return what a rival did on a split, from an earlier run or from a process of its own."""
    slug = f"{name}-{number}-{peer}{'-quick' if options.quick else ''}".replace(" ", "_").replace(",", "")
    path = options.out / f"{slug}.json"
    if options.kept and not path.is_file():
        return {"failed": "not run"}
    if not path.is_file():
        print(f"{name} {number} {peer}", file=sys.stderr, flush=True)
        options.out.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_apart(name, peer, number, options)))
    run: Run = json.loads(path.read_text())
    return run


def _apart(name: str, peer: str, number: int, options: argparse.Namespace) -> Run:
    command = [sys.executable, "-W", "ignore", "-m", "bench._runs", "--data", str(options.data)]
    command += ["--seeds", str(options.seeds), "--limit", str(options.limit), "--one", name, peer, str(number)]
    done = subprocess.run(command + ["--quick"] * options.quick, capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"failed": f"> {options.limit} s"}
    if done.returncode:
        return {"failed": "failed", "said": done.stderr.strip().splitlines()[-1:]}
    run: Run = {**json.loads(done.stdout.splitlines()[-1]), "load": os.getloadavg()[0]}
    return run


def _judged(name: str, peer: str, number: int, options: argparse.Namespace) -> Run:
    """Train and ask one rival here; who takes too long is killed."""
    resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit))
    X, y, X_test, y_test = _split(options.data, name, number, _seeds(name, options), quick=options.quick)
    dense = name.endswith(VECTORS)
    model = made(peer, number, vectors=dense)
    if isinstance(model, UntwinClassifier):  # compiled loops are loaded before, as are the others' packages
        some = max(1, len(y) // FEW)
        UntwinClassifier(n_jobs=1).fit(X[::some], y[::some]).predict(X[:1])
    figures: Run = {}

    def work() -> None:
        start = time.process_time()
        model.fit(X, y)
        figures["fit s"] = time.process_time() - start

    figures["peak MiB"] = peak_of(work, ())
    start = time.process_time()
    said = model.predict(X_test)
    figures["predict s"] = time.process_time() - start
    right = said == y_test
    figures["macro-F1"] = float(f1_score(y_test, said, average="macro", zero_division=0))
    if hasattr(model, "predict_proba"):
        figures["calibration error"] = calibration_error(model.predict_proba(X_test).max(axis=1), right)
    figures["model MB"] = model_bytes(model) / 1e6
    if "accuracy" in getattr(model, "scores_", {}):  # what it said before it saw a test row, less what came
        figures["told - test"] = model.scores_["accuracy"] - float(right.mean())
        told = (model.scores_["accuracy_high"] - model.scores_["accuracy_low"]) / 2
        figures["told - test, half"] = float(np.hypot(told, norm.ppf(0.975) * right.std() / np.sqrt(len(right))))
    return {"accuracy": float(right.mean()), **figures, "right": "".join(map(str, right.astype(int).tolist()))}


def _split(folder: Path, name: str, number: int, seeds: int, *, quick: bool) -> tuple[Any, Array, Any, Array]:
    """Return training rows, labels, test rows, labels."""
    plain = name.removesuffix(VECTORS)
    rows = documents(folder, plain)
    X = vectors(folder, plain, rows) if name.endswith(VECTORS) else np.array(rows["text"].to_list(), dtype=object)
    y = rows["label"].to_numpy().astype(str)
    train, test = list(parts(rows, seeds))[number]
    if quick:
        rng = np.random.default_rng(0)
        train, test = (np.sort(rng.permutation(part)[:QUICK_ROWS]) for part in (train, test))
    known = np.isin(y[test], np.unique(y[train]))
    sides = [part if name.endswith(VECTORS) else part.tolist() for part in (X[train], X[test[known]])]
    return sides[0], y[train], sides[1], y[test[known]]


def main() -> None:
    """Print what one rival does, as JSON."""
    options = run_options(__doc__)
    options.add_argument("--one", nargs=3, required=True, metavar=("SET", "PEER", "SPLIT"))
    given = options.parse_args()
    name, peer, number = given.one
    print(json.dumps(_judged(name, peer, int(number), given)))


if __name__ == "__main__":
    main()
