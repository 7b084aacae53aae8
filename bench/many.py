"""Many classes: untwin against label trees and one-vs-rest, in accuracy, time, memory, size and growth.

Parts (`--only`): rivals (the web directory, 562 classes, and CLINC150), sets (against one-vs-rest on four others),
growth (50 to 5,000 classes), paper (paper 2's graph).
Every rival has the same tf-idf matrix; it is trained and asked once, in a process of its own. No setting of untwin was
chosen on the test rows: they were chosen on a split of the training rows of the web directory.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from papers.datasets import read_texts
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from bench._measure import Stopwatch, parser, peak_of, show
from bench._rivals import CORES, DAGSVM, HiClass, Omikuji, model_bytes
from bench._sets import made_up_texts
from untwin._progress import listening
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.linear import LinearSVM
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.structure.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]

LARGEST_LINEAR_SVC = 600  # classes; beyond, it would take most of the benchmark's time
GROWTH_ROWS = 20_000
SETS = {"arxiv": 3, "dbpedia219_5k": 5, "clinc150": 1, "20newsgroups": 1}  # splits; published ones where there are
BONSAI = {"cluster_balanced": False, "cluster_k": 100}

RIVALS: dict[str, Callable[[Split], Any]] = {
    "LinearSVM": lambda _: LinearSVM(n_jobs=CORES),
    "groups": lambda _: MultiLevelClassifier(cv=None, n_jobs=CORES),
    "groups, one tree": lambda _: MultiLevelClassifier(hierarchy="centroids", cv=None, n_jobs=CORES),
    "confusion graph": lambda _: ConfusionGraphClassifier(n_jobs=CORES),
    "omikuji, Parabel": lambda _: Omikuji(),
    "omikuji, Bonsai": lambda _: Omikuji(**BONSAI),
    "omikuji, Bonsai, all weights": lambda _: Omikuji(**BONSAI, linear_weight_threshold=0.0, linear_eps=0.01),
    "HiClass, our tree": lambda split: HiClass(word_tree(split)),
    "LinearSVC": lambda _: LinearSVC(random_state=0),
}
GROWING = ["LinearSVM", "groups", "groups, one tree", "omikuji, Parabel", "LinearSVC"]


@dataclass(frozen=True)
class Split:
    """Training and test rows, as tf-idf, and their labels."""

    train: Any
    test: Any
    y_train: Array
    y_test: Array

    @classmethod
    def of_texts(cls, texts: pl.Series, labels: pl.Series, train: Array, test: Array) -> Split:
        """Weight the words by what the training rows say."""
        words = TfidfVectorizer()
        matrices = words.fit_transform(texts[train]), words.transform(texts[test])
        return cls(*matrices, labels[train].to_numpy(), labels[test].to_numpy())


def directory(folder: Path) -> Split:
    """Return the web directory, four fifths against one, stratified."""
    rows = read_texts(folder, "webdirectory")
    parts = train_test_split(np.arange(len(rows)), test_size=0.2, stratify=rows["label"], random_state=0)
    return Split.of_texts(rows["text"], rows["label"], *parts)


def named_set(name: str, number: int, folder: Path) -> Split:
    """Return the published split, or a random one whose training part has every class."""
    rows = read_texts(folder, name).filter(pl.col("label") != "oos")
    test = (rows["split"] == "test").to_numpy()
    if not test.any():
        test = np.random.default_rng(number).random(len(rows)) < 0.2
        test &= rows.with_row_index("row").select(pl.col("row") != pl.col("row").min().over("label"))["row"].to_numpy()
    return Split.of_texts(rows["text"], rows["label"], np.flatnonzero(~test), np.flatnonzero(test))


def largest_classes(n_classes: int, folder: Path) -> Split:
    """Return as many documents of the largest classes of the web directory, so that only their number grows."""
    rows = read_texts(folder, "webdirectory")
    sizes = rows["label"].value_counts().sort("count", "label", descending=True)
    drawn = rows.filter(pl.col("label").is_in(sizes["label"][:n_classes].implode())).sample(GROWTH_ROWS, seed=0)
    return Split.of_texts(drawn["text"], drawn["label"], np.arange(GROWTH_ROWS), np.arange(100))


def made_up_classes(n_classes: int, _: Path) -> Split:
    """Return as many documents of classes that are made up."""
    texts, labels = made_up_texts(GROWTH_ROWS, n_classes)
    return Split.of_texts(pl.Series(texts), pl.Series(labels), np.arange(GROWTH_ROWS), np.arange(100))


def word_tree(split: Split) -> Hierarchy:
    """Return the tree of the centroids of the training rows."""
    base = CentroidClassifier().fit(split.train, split.y_train)
    return Hierarchy.from_centroids(base.centroids_, base.classes_)


def apart(work: Callable[..., Any], *args: object) -> Any:
    """Run in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, args)


def judged(rival: str, make: Callable[[], Split]) -> dict[str, Any]:
    """Train and ask one rival: its figures, and `right`, which test rows it got right."""
    split = make()
    model = RIVALS[rival](split)
    figures: dict[str, Any] = {"rival": rival}
    LinearSVM().fit(split.train[:100], np.arange(100) % 3)  # numba reads what it has compiled

    def work() -> None:
        start, cpu, watch = time.perf_counter(), time.process_time(), Stopwatch()
        with listening(watch):
            model.fit(split.train, split.y_train)
        figures["train s"] = getattr(model, "seconds", time.perf_counter() - start)
        figures["train cpu s"] = getattr(model, "cpu_seconds", time.process_time() - cpu)
        figures["stages"] = watch.seconds

    figures["peak MiB"] = peak_of(work, ())
    start = time.perf_counter()
    right = model.predict(split.test) == split.y_test
    figures["us a prediction"] = (time.perf_counter() - start) / len(right) * 1e6
    return {**figures, "accuracy": float(right.mean()), "model MB": model_bytes(model) / 1e6, "right": right}


def run_rivals(folder: Path) -> list[dict[str, Any]]:
    """Return one row for each set and rival."""
    sets = {"web directory": partial(directory, folder), "clinc150": partial(named_set, "clinc150", 0, folder)}
    rows = []
    for name, make in sets.items():
        found = [apart(judged, rival, make) for rival in RIVALS]
        for row in found:
            del row["right"], row["stages"]
            rows.append({"set": name, **row, "times as fast": found[-1]["train cpu s"] / row["train cpu s"]})
    return rows


def run_sets(folder: Path) -> list[dict[str, Any]]:
    """Return groups against one-vs-rest on the other sets: paired intervals over all test rows."""
    rows = []
    for name, n_splits in SETS.items():
        ours, theirs = (
            [apart(judged, rival, partial(named_set, name, number, folder)) for number in range(n_splits)]
            for rival in ("groups", "LinearSVM")
        )
        gain = np.concatenate([a["right"] * 1.0 - b["right"] for a, b in zip(ours, theirs, strict=True)])
        half = 1.96 * gain.std() / np.sqrt(len(gain))
        sums = [
            {key: sum(run[key] for run in runs) for key in ("train cpu s", "us a prediction")}
            for runs in (ours, theirs)
        ]
        rows.append(
            {
                "set": name,
                "splits": n_splits,
                "groups": float(np.mean([run["accuracy"] for run in ours])),
                "LinearSVM": float(np.mean([run["accuracy"] for run in theirs])),
                "gain low": float(gain.mean() - half),
                "gain high": float(gain.mean() + half),
                "times as fast, training": sums[1]["train cpu s"] / sums[0]["train cpu s"],
                "times as fast, prediction": sums[1]["us a prediction"] / sums[0]["us a prediction"],
            }
        )
    return rows


def exponent(seconds: dict[int, float], last: int) -> float:
    """Return the slope of log seconds over log classes, up to so many classes."""
    counts = [n for n in seconds if n <= last]
    return float(np.polyfit(np.log(counts), np.log([seconds[n] for n in counts]), 1)[0])


def run_growth(folder: Path) -> list[dict[str, Any]]:
    """Return processor seconds of training by number of classes, the exponent of their growth, and groups by stage."""
    counts: dict[int, Callable[[int, Path], Split]] = dict.fromkeys((50, 100, 200, 400, 562), largest_classes)
    counts |= dict.fromkeys((2000, 5000), made_up_classes)
    rows, stages = [], []
    for rival in GROWING:
        seconds = {}
        for n_classes, make in counts.items():
            if rival != "LinearSVC" or n_classes <= LARGEST_LINEAR_SVC:
                found = apart(judged, rival, partial(make, n_classes, folder))
                seconds[n_classes] = found["train cpu s"]
                if rival == "groups":
                    stages.append({"stages of groups at": n_classes, **found["stages"]})
        exponents = {f"exponent to {last}": exponent(seconds, last) for last in (562, 5000) if last in seconds}
        rows.append({"rival": rival, **{str(n): seconds.get(n, "") for n in counts}, **exponents})
    return rows + stages


def run_paper(folder: Path) -> list[dict[str, Any]]:
    """Return paper 2's three classifiers on 20 Newsgroups beside the published figures, and DAGSVM."""
    split = named_set("20newsgroups", 0, folder)
    graph = ConfusionGraphClassifier(base=MultinomialNB(), threshold=0.03, candidates=None, blend=False, n_jobs=CORES)
    rivals: dict[str, tuple[Any, float | str, float | str]] = {  # accuracy and minutes as printed
        "naive Bayes": (MultinomialNB(), 79.50, 1.5),
        "confusion graph": (graph, 83.33, 50.0),
        "one-vs-rest": (LinearSVM(), 84.05, 115.0),
        "DAGSVM": (DAGSVM(), "", ""),
    }
    rows: list[dict[str, Any]] = []
    for name, (model, published, minutes) in rivals.items():
        start = time.perf_counter()
        model.fit(split.train, split.y_train)
        trained = time.perf_counter()
        accuracy = float((model.predict(split.test) == split.y_test).mean())
        seconds = {"train s": trained - start, "predict s": time.perf_counter() - trained, "published min": minutes}
        rows.append({"classifier": name, "accuracy": 100 * accuracy, "published": published, **seconds})
    for row in rows:
        row["times naive Bayes"] = row["train s"] / rows[0]["train s"]
        row["published times"] = row["published min"] / 1.5 if row["published min"] else ""
    return rows


PARTS = {"rivals": run_rivals, "sets": run_sets, "growth": run_growth, "paper": run_paper}


def main() -> None:
    """Run the parts asked for."""
    options = parser(__doc__)
    options.add_argument("--only", choices=PARTS, help="run one part")
    given = options.parse_args()
    parts = [given.only] if given.only else list(PARTS)
    rows = [row for part in parts for row in PARTS[part](given.data)]
    show(rows, as_json=given.json, cores=os.cpu_count(), load=os.getloadavg()[0])


if __name__ == "__main__":
    main()
