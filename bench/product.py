"""The whole product: `UntwinClassifier` in its three presets beside what scikit-learn's users would build.

Parts (`--only`): presets (every set; accuracy, macro-F1, calibration error, seconds), vectors (MiniLM), reject (error
and share of the answers called sure), speed (from the file to the fitted model, confusion out of fold included).
The rivals have tf-idf of words and pairs of words, and LinearSVC its C by cross-validation; untwin chooses both by
itself. On sets with more than 300 classes, where one LinearSVC takes minutes, it has C = 1 and words alone; on vectors
C = 1. Logistic regression, slower still, has C = 10, which suits tf-idf.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bench._measure import parser, show
from bench._sets import documents, paired_interval, parts, vectors
from untwin import UntwinClassifier
from untwin.data.load import load
from untwin.model.calibration import Judged, calibration_error
from untwin.model.contest import binomial_interval

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

SETS = {  # splits
    "banking77": 1,
    "clinc150": 1,
    "reuters21578": 1,
    "reviews_ordinal": 5,
    "20newsgroups": 1,
    "dbpedia219_5k": 3,
    "arxiv": 1,
    "webdirectory": 1,
}
VECTOR_SETS = ("banking77", "clinc150")
PENALTIES = {"C": [0.1, 1.0, 10.0]}
MANY_CLASSES = 300
PRESETS = ("fast", "balanced", "best")
BASELINE = "LinearSVC"
TARGETS = (0.02, 0.05)
CORES = 2


def tuned(model: LinearSVC, n_classes: int, *, texts: bool) -> Any:
    """Return the SVM with C by five folds, or as it is where that takes too long."""
    return model if n_classes > MANY_CLASSES or not texts else GridSearchCV(model, PENALTIES, n_jobs=CORES)


def words(n_classes: int) -> TfidfVectorizer:
    """Return the rivals' encoding of texts."""
    pairs = {} if n_classes > MANY_CLASSES else {"ngram_range": (1, 2), "min_df": 2}
    return TfidfVectorizer(sublinear_tf=True, **pairs)


def rivals(n_classes: int, *, texts: bool) -> dict[str, Any]:
    """Return untrained models by name, the baseline first."""
    front = (words(n_classes),) if texts else ()
    logistic = LogisticRegression(C=10.0 if texts else 1.0, max_iter=300, tol=1e-3)
    models = {
        BASELINE: make_pipeline(*front, tuned(LinearSVC(random_state=0), n_classes, texts=texts)),
        "logistic regression": make_pipeline(*front, logistic),
    }
    if texts:
        models["ComplementNB"] = make_pipeline(*front, ComplementNB())
    return models | {f"untwin, {name}": UntwinClassifier(preset=name, n_jobs=CORES) for name in PRESETS}


def asked(model: Any, X: Any, y: Array, X_test: Any, y_test: Array) -> dict[str, Any]:
    """Train and ask a model; return its answers' worth."""
    start = time.perf_counter()
    model.fit(X, y)
    fitted = time.perf_counter()
    predicted = model.predict(X_test)
    done = time.perf_counter()
    right = predicted == y_test
    found = {"accuracy": right.mean(), "macro F1": f1_score(y_test, predicted, average="macro", zero_division=0)}
    found["calibration error"] = np.nan
    if hasattr(model, "predict_proba"):
        found["calibration error"] = calibration_error(model.predict_proba(X_test).max(axis=1), right)
    return {**found, "fit s": fitted - start, "predict s": done - fitted, "right": right}


def compared(name: str, runs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return one line a model: means over splits, and the paired gain over the baseline."""
    rows = []
    for model, found in runs.items():
        gains = [run["right"] * 1.0 - base["right"] for run, base in zip(found, runs[BASELINE], strict=True)]
        means = {key: float(np.mean([run[key] for run in found])) for key in found[0] if key != "right"}
        gain = 100 * float(np.mean([gain.mean() for gain in gains]))
        rows.append({"set": name, "model": model, **means, "gain": gain, **paired_interval(gains)})
    return rows


def run_presets(folder: Path, names: list[str], chosen: list[str]) -> list[dict[str, Any]]:
    """Return every model on every text set."""
    rows = []
    for name in names:
        table = documents(folder, name)
        texts, labels = table["text"].to_list(), table["label"].to_numpy()
        runs: dict[str, list[dict[str, Any]]] = {}
        for train, test in parts(table, SETS[name]):
            sides = [texts[row] for row in train], labels[train], [texts[row] for row in test], labels[test]
            for title, model in rivals(table["label"].n_unique(), texts=True).items():
                if title == BASELINE or title in chosen:
                    runs.setdefault(title, []).append(asked(model, *sides))
        rows += compared(name, runs)
        show(compared(name, runs), as_json=False)
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


def run_vectors(folder: Path, names: list[str], chosen: list[str]) -> list[dict[str, Any]]:
    """Return the same on sentence vectors."""
    rows = []
    for name in [name for name in names if name in VECTOR_SETS]:
        table = documents(folder, name)
        X, labels = vectors(folder, name, table), table["label"].to_numpy()
        (train, test) = next(parts(table))
        sides = X[train], labels[train], X[test], labels[test]
        models = rivals(table["label"].n_unique(), texts=False)
        runs = {title: [asked(model, *sides)] for title, model in models.items() if title in (BASELINE, *chosen)}
        rows += compared(f"{name}, MiniLM", runs)
    return rows


def run_reject(folder: Path, names: list[str], chosen: list[str]) -> list[dict[str, Any]]:
    """Return the error among the answers called sure, and their share, beside the same by the SVM's margins."""
    rows = []
    for name in [name for name in names if SETS[name] == 1 and name != "webdirectory"]:
        table = documents(folder, name)
        texts, y = table["text"].to_list(), table["label"].to_numpy()
        train, test = next(parts(table))
        X, X_test = [texts[row] for row in train], [texts[row] for row in test]
        ours = UntwinClassifier(n_jobs=CORES).fit(X, y[train])
        right = ours.predict(X_test) == y[test]
        margins, sure_of, svm_right = by_margins(X, y[train], X_test, y[test])
        for target in TARGETS:
            accepted = ~ours.unsure(X_test, target_error=target)
            rows.append({"set": name, "by": "untwin", "target": target, **accepted_error(accepted, right, target)})
            theirs = margins >= sure_of.threshold(target)
            rows.append(
                {"set": name, "by": "SVM margins", "target": target, **accepted_error(theirs, svm_right, target)}
            )
    return rows


def by_margins(X: list[str], y: Array, X_test: list[str], y_test: Array) -> tuple[Array, Judged, Array]:
    """Return the test margins of a linear SVM, its margins out of fold with what was right, and what is on test."""
    svm = make_pipeline(words(0), LinearSVC(random_state=0))
    held = cross_val_predict(svm, X, y, method="decision_function", n_jobs=CORES)
    svm.fit(X, y)
    scores, names = svm.decision_function(X_test), svm.classes_
    judged = Judged.of_held_out(margin(held), names[held.argmax(axis=1)] == y)
    return margin(scores), judged, names[scores.argmax(axis=1)] == y_test


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


def run_speed(folder: Path, names: list[str], chosen: list[str]) -> list[dict[str, Any]]:
    """Return seconds from a CSV file to the fitted model and its confusion out of fold."""
    rows = []
    for name in [name for name in names if name in ("20newsgroups", "banking77", "clinc150", "reuters21578")]:
        table = documents(folder, name).filter(split="train").select("text", "label")
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


PARTS = {"presets": run_presets, "vectors": run_vectors, "reject": run_reject, "speed": run_speed}


def main() -> None:
    """Run the parts asked for."""
    options = parser(__doc__)
    options.add_argument("--only", choices=PARTS, help="run one part")
    options.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    options.add_argument(
        "--models", nargs="*", default=list(rivals(2, texts=True)), help="the baseline is always there"
    )
    given = options.parse_args()
    parts_asked = [given.only] if given.only else list(PARTS)
    rows = [row for part in parts_asked for row in PARTS[part](given.data, given.sets, given.models)]
    show(rows, as_json=given.json)


if __name__ == "__main__":
    main()
