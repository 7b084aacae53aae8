"""The whole product: `UntwinClassifier` in its three presets beside what scikit-learn's users would build.

Parts (`--only`): presets (every set; accuracy, macro-F1, calibration error, processor seconds), vectors (MiniLM),
told (accuracy told from folds less that on test rows), fast (processor seconds of the fast preset beside one fit of
words and a linear SVM), reject (error and share of the answers called sure), speed (from the file to the fitted model,
confusion out of fold included), cores (wall clock on one core and on two), sizes (five documents to half a million, two
classes to two thousand). The first three share what they ran with `bench.peers` (`--out`). By default the baseline has
tf-idf of words and pairs of words and C by cross-validation; untwin chooses both by itself. On vectors it has C = 1.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bench._fast import run_fast
from bench._measure import show
from bench._peers import PEERS
from bench._runs import TEXT_SETS, VECTOR_SETS, VECTORS, hits, on_all_splits, run_options
from bench._sets import SHUFFLED, documents, paired_interval, parts
from bench._sizes import run_sizes
from untwin import UntwinClassifier
from untwin.calibrate.threshold import surest_threshold
from untwin.data.load import load
from untwin.model.selection.comparison import binomial_interval

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

ONE_SPLIT = ("20newsgroups", "banking77", "clinc150", "reuters21578")
LARGEST = ("20newsgroups", "arxiv", "webdirectory")
MODELS = ("untwin, fast", "untwin, balanced", "untwin, best", "logistic regression", "complement naive Bayes")
BASELINE = "LinearSVC, tuned"
BASELINE_ON_VECTORS = "LinearSVC"
MEASURES = ("accuracy", "macro-F1", "calibration error", "told - test", "fit s", "predict s")
TARGETS = (0.02, 0.05)
CORES = 2


def compared(name: str, baseline: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return one line a model: means over splits, and the paired gain over the baseline."""
    known = {peer for peer, kind in PEERS.items() if kind.vectors or not name.endswith(VECTORS)}
    base, rows = on_all_splits(name, baseline, options), []
    for model in (baseline, *(model for model in options.models if model in known)):
        found = on_all_splits(name, model, options)
        if any("failed" in run for run in (*found, *base)):
            continue
        gains = [hits(run) - hits(other) for run, other in zip(found, base, strict=True)]
        means = {key: float(np.mean([run.get(key, np.nan) for run in found])) for key in MEASURES}
        gain = 100 * float(np.mean([gain.mean() for gain in gains]))
        rows.append({"set": name, "model": model, **means, "gain": gain, **paired_interval(gains)})
    return rows


def run_presets(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return every model on every text set."""
    rows = [
        row for name in options.sets if not name.endswith(VECTORS) for row in compared(name, options.baseline, options)
    ]
    return rows + mean_gains(rows)


def mean_gains(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each model's gain over the baseline, as a mean over the sets."""
    models = dict.fromkeys(row["model"] for row in rows)
    found = {model: [row for row in rows if row["model"] == model] for model in models}
    return [
        {
            "model": model,
            "sets": len(lines),
            "mean gain": float(np.mean([line["gain"] for line in lines])),
            "below by interval": sum(line["high"] < 0 for line in lines),
        }
        for model, lines in found.items()
    ]


def run_vectors(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the same on sentence vectors."""
    return [row for name in options.sets if name in VECTOR_SETS for row in compared(name, BASELINE_ON_VECTORS, options)]


def run_told(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the accuracy told from folds less that on test rows, with its interval; 20 Newsgroups also shuffled.

    Its test posts are later than its training posts, which folds of training posts cannot show.
    """
    rows = []
    for name, model in product([*options.sets, f"20newsgroups{SHUFFLED}"], options.models):
        if name.endswith(VECTORS) or "untwin" not in model:
            continue
        found = on_all_splits(name, model, options)
        if any("told - test" not in run for run in found):
            continue
        gap, half = (float(np.mean([run[key] for run in found])) for key in ("told - test", "told - test, half"))
        verdict = "yes" if gap > half else "no"
        rows.append(
            {"set": name, "model": model, "told - test": gap, "low": gap - half, "high": gap + half, "above": verdict}
        )
    return rows


def run_reject(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the error among the answers called sure, and their share, beside the same by the SVM's margins."""
    rows = []
    for name in [name for name in options.sets if name in ONE_SPLIT]:
        table = documents(options.data, name)
        texts, y = table["text"].to_list(), table["label"].to_numpy()
        train, test = next(parts(table))
        X, X_test = [texts[row] for row in train], [texts[row] for row in test]
        ours = UntwinClassifier(n_jobs=CORES).fit(X, y[train])
        right = ours.predict(X_test) == y[test]
        margins, held_out, svm_right = by_margins(X, y[train], X_test, y[test])
        for target in TARGETS:
            accepted = ~ours.unsure(X_test, target_error=target)
            rows.append({"set": name, "by": "untwin", "target": target, **accepted_error(accepted, right, target)})
            theirs = margins >= surest_threshold(*held_out, target)
            rows.append(
                {"set": name, "by": "SVM margins", "target": target, **accepted_error(theirs, svm_right, target)}
            )
    return rows


def by_margins(X: list[str], y: Array, X_test: list[str], y_test: Array) -> tuple[Array, tuple[Array, Array], Array]:
    """Return a linear SVM's test margins, its out-of-fold margins and which were right, and which test rows are."""
    svm = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2), LinearSVC(random_state=0))
    held = cross_val_predict(svm, X, y, method="decision_function", n_jobs=CORES)
    svm.fit(X, y)
    scores, names = svm.decision_function(X_test), svm.classes_
    held_out = margin(held), names[held.argmax(axis=1)] == y
    return margin(scores), held_out, names[scores.argmax(axis=1)] == y_test


def margin(scores: Array) -> Array:
    """Return by how much the best class leads."""
    best = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0])


def accepted_error(accepted: Array, right: Array, target: float) -> dict[str, Any]:
    """Return the error of the accepted answers with its interval, and their share."""
    kept = right[accepted]
    high, low = (1 - share for share in binomial_interval(kept)) if len(kept) else (1.0, 0.0)
    error = float(1 - kept.mean()) if len(kept) else 0.0
    return {"error": error, "low": low, "high": high, "within": low <= target <= high, "accepted": accepted.mean()}


def run_speed(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return seconds from a CSV file to the fitted model and its confusion out of fold."""
    rows = []
    for name in [name for name in options.sets if name in ONE_SPLIT]:
        table = documents(options.data, name).filter(split="train").select("text", "label")
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "rows.csv"
            table.write_csv(path)
            seconds = best_of_three((untwin_fast, scikit_learn), path)
        rows.append({"set": name, **seconds, "ratio": seconds["scikit_learn"] / seconds["untwin_fast"]})
    return rows


def best_of_three(rivals: tuple[Callable[[Path], object], ...], path: Path) -> dict[str, float]:
    """Return the shortest of three times of each; they take turns, so that the machine's moods meet all of them."""
    times: dict[str, list[float]] = {}
    for work in rivals * 3:
        start = time.perf_counter()
        work(path)
        times.setdefault(work.__name__, []).append(time.perf_counter() - start)
    return {name: min(found) for name, found in times.items()}


def untwin_fast(path: Path) -> object:
    """Read the file and fit the fast preset."""
    table = load(path)
    model = UntwinClassifier(preset="fast", n_jobs=CORES)
    return model.fit(table.frame["text"].to_list(), table.frame["label"].to_numpy()).confusion_


def scikit_learn(path: Path) -> object:
    """Read the file and ask a pipeline of scikit-learn out of fold."""
    import polars as pl

    rows = pl.read_csv(path)
    pipeline = make_pipeline(TfidfVectorizer(), LinearSVC(random_state=0))
    return cross_val_predict(pipeline, rows["text"].to_list(), rows["label"].to_numpy(), n_jobs=CORES)


def run_cores(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return wall-clock seconds of a fit on one core and on two, on the largest sets."""
    rows = []
    for name in [name for name in options.sets if name in LARGEST]:
        seconds = {cores: on_cores(cores, options.data, name) for cores in (1, CORES)}
        labelled = {f"{cores} cores, s": value for cores, value in seconds.items()}
        rows.append({"set": name, **labelled, "times as fast": seconds[1] / seconds[CORES]})
    return rows


def on_cores(cores: int, folder: Path, name: str) -> float:
    """Return the seconds of a fit in a process that has so many cores; Polars, too, uses no others."""
    available = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(available)[:cores])
    try:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(seconds_of_fit, (folder, name, cores))
    finally:
        os.sched_setaffinity(0, available)


def seconds_of_fit(folder: Path, name: str, threads: int) -> float:
    """Return the wall-clock seconds of a fit on the training rows of a set; compiled loops are loaded before."""
    table = documents(folder, name)
    train, _ = next(parts(table, 1))
    texts, y = table["text"].to_list(), table["label"].to_numpy().astype(str)
    UntwinClassifier(n_jobs=threads).fit(["a b", "c d"] * 10, ["x", "y"] * 10)
    X = [texts[row] for row in train]
    start = time.perf_counter()
    UntwinClassifier(n_jobs=threads).fit(X, y[train])
    return time.perf_counter() - start


PARTS = {
    "presets": run_presets,
    "vectors": run_vectors,
    "told": run_told,
    "fast": run_fast,
    "reject": run_reject,
    "speed": run_speed,
    "cores": run_cores,
    "sizes": run_sizes,
}


def main() -> None:
    """Run the parts asked for."""
    options = run_options(__doc__)
    options.add_argument("--only", choices=PARTS, help="run one part")
    options.add_argument("--sets", nargs="*", default=[*TEXT_SETS, *VECTOR_SETS], help="also 20newsgroups.shuffled")
    options.add_argument("--baseline", choices=PEERS, default=BASELINE, help="what gains are counted from, on texts")
    options.add_argument("--models", nargs="*", default=list(MODELS), help="the baseline is always there")
    given = options.parse_args()
    rows = [row for part in ([given.only] if given.only else PARTS) for row in PARTS[part](given)]
    show(rows, as_json=given.json)


if __name__ == "__main__":
    main()
