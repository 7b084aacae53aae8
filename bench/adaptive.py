"""Neighbours against the linear SVM: the space that untwin chooses, what each part adds, what it costs.

One configuration serves all sets: tf-idf of words and pairs of words, a linear SVM whose C is chosen out of fold, and
`AdaptiveSprinkling` around kNN with that SVM's scores. Everything is chosen on training rows; test rows are asked once.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from papers.weights import run_weights, weight_sets
from scipy.sparse import csr_array, issparse
from scipy.stats import norm
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bench._measure import parser, show
from bench._sets import documents, paired_interval, parts, vectors
from untwin import AdaptiveSprinkling, KNNClassifier, ScoreSpace, SprinkledLSI, SprinklingPlan, TextCounts
from untwin.classify.adaptive.spaces import join_spaces
from untwin.crossfit import out_of_fold_confusion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]

TEXT_SETS = ("20newsgroups", "reuters21578", "banking77", "clinc150", "reviews_ordinal")
VECTOR_SETS = ("banking77", "clinc150")
PENALTIES = (0.1, 1.0, 10.0)
NEIGHBOURS = 20


class Split(NamedTuple):
    """Training and test rows of a set."""

    X: Any
    y: Array
    X_test: Any
    y_test: Array


# ------------------------------------------------------------------ data


def text_splits(folder: Path, name: str) -> Iterator[Split]:
    """Yield tf-idf rows; words and weights come from the training rows."""
    table = documents(folder, name)
    labels = table["label"].to_numpy()
    for train, test in parts(table):
        counts = TextCounts(ngram_range=(1, 2), min_df=2)
        weights = make_pipeline(counts, TfidfTransformer(sublinear_tf=True))
        X = csr_array(weights.fit_transform(table["text"][train]))
        yield Split(X, labels[train], csr_array(weights.transform(table["text"][test])), labels[test])


def vector_splits(folder: Path, name: str) -> Iterator[Split]:
    """Yield sentence vectors."""
    table = documents(folder, name)
    rows = vectors(folder, name, table)
    labels = table["label"].to_numpy()
    for train, test in parts(table):
        yield Split(rows[train], labels[train], rows[test], labels[test])


# ------------------------------------------------------------------ contenders


def chosen_svm(split: Split) -> LinearSVC:
    """Return the linear SVM with the C that does best out of fold."""
    rivals = [LinearSVC(C=penalty, dual=True, tol=1e-2, random_state=0) for penalty in PENALTIES]  # rows of length one
    return max(rivals, key=lambda svm: out_of_fold_confusion(svm, split.X, split.y, n_jobs=2).accuracy)


def untwin(svm: LinearSVC) -> AdaptiveSprinkling:
    """Return the neighbour space that untwin would choose."""
    return AdaptiveSprinkling(
        KNNClassifier(n_neighbors="cv"),
        scores=ScoreSpace(svm, n_jobs=2),
        trial=KNNClassifier(n_neighbors=NEIGHBOURS),
    )


def parts_of_the_method(split: Split, svm: LinearSVC) -> dict[str, tuple[Any, Any]]:
    """Return training and test rows in each part of the method by itself, with the same settings for all sets."""
    size, plan = int(np.clip(2 * len(np.unique(split.y)), 100, 300)), SprinklingPlan.uniform(s=0.3)
    spaces = {
        "LSI": SprinkledLSI(n_components=size, random_state=0),
        "sprinkled": SprinkledLSI(n_components=size, plan=plan, training="reconstructed", random_state=0),
        "whitened": SprinkledLSI(n_components=size, whiten=True, random_state=0),
        "sprinkled, whitened": SprinkledLSI(n_components=size, plan=plan, whiten=True, random_state=0),
        "scores": ScoreSpace(svm, n_jobs=2),
    }
    rows = {
        name: (space.fit_transform(split.X, split.y), space.transform(split.X_test)) for name, space in spaces.items()
    }
    both = tuple(map(join_spaces, rows["sprinkled, whitened"], rows["scores"]))
    return {"raw": (split.X, split.X_test), **rows, "scores + sprinkled": both}


# ------------------------------------------------------------------ figures


def asked(model: Any, split: Split) -> dict[str, Any]:
    """Fit and ask a model; return which test rows are right, and the times."""
    start = time.perf_counter()
    model.fit(split.X, split.y)
    fitted = time.perf_counter()
    right = model.predict(split.X_test) == split.y_test
    seconds = time.perf_counter() - fitted
    return {"right": right, "fit s": fitted - start, "query us": 1e6 * seconds / len(right)}


def bytes_of(rows: Any) -> int:
    """Return the memory that rows take."""
    return rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes if issparse(rows) else rows.nbytes


def against_the_svm(splits: list[Split]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return accuracies and costs of untwin, raw kNN and the SVM, and what was chosen in the first split."""
    found: dict[str, list[dict[str, Any]]] = {"svm": [], "raw knn": [], "untwin": []}
    told = ""
    for split in splits:
        svm = chosen_svm(split)
        neighbours = untwin(svm)
        found["svm"].append({**asked(clone(svm), split), "bytes": svm_bytes(split)})
        found["raw knn"].append({**asked(KNNClassifier(n_neighbors="cv"), split), "bytes": bytes_of(split.X)})
        found["untwin"].append(asked(neighbours, split))
        found["untwin"][-1]["bytes"] = bytes_of(neighbours.estimator_._among.rows)
        told = (
            told or f"C = {svm.C:g}; {neighbours.choices_.describe()}; {neighbours.estimator_.n_neighbors_} neighbours"
        )
    n_rows = splits[0].X.shape[0]
    rows = [
        {
            "method": name,
            "accuracy": float(np.mean([run["right"].mean() for run in runs])),
            "fit s": float(np.mean([run["fit s"] for run in runs])),
            "query us": float(np.mean([run["query us"] for run in runs])),
            "bytes a document": runs[0]["bytes"] / n_rows,
        }
        for name, runs in found.items()
    ]
    gains = [run["right"].astype(float) - svm["right"] for run, svm in zip(found["untwin"], found["svm"], strict=True)]
    return {
        "gain": 100 * float(np.mean([gain.mean() for gain in gains])),
        **paired_interval(gains),
        "chosen": told,
    }, rows


def svm_bytes(split: Split) -> int:
    """Return the memory of a one-vs-rest model: one number a class and term."""
    return 8 * len(np.unique(split.y)) * (split.X.shape[1] + 1)


def share_of_each_part(splits: list[Split]) -> dict[str, float]:
    """Return the accuracy of kNN in each part of the method."""
    found: dict[str, list[float]] = {}
    for split in splits:
        for name, (rows, sample_rows) in parts_of_the_method(split, chosen_svm(split)).items():
            model = KNNClassifier(n_neighbors=NEIGHBOURS).fit(rows, split.y)
            found.setdefault(name, []).append(float(model.score(sample_rows, split.y_test)))
    return {name: float(np.mean(accuracies)) for name, accuracies in found.items()}


def at_chance(split: Split) -> dict[str, Any]:
    """Return the accuracy of untwin and the SVM when the training labels are shuffled, beside that of a guess."""
    labels = np.random.default_rng(0).permutation(split.y)
    shuffled = Split(split.X, labels, split.X_test, split.y_test)
    classes, sizes = np.unique(labels, return_counts=True)
    guess = float((split.y_test == classes[sizes.argmax()]).mean())
    svm = LinearSVC(random_state=0)
    found = {
        name: asked(model, shuffled)["right"].mean() for name, model in {"svm": svm, "untwin": untwin(svm)}.items()
    }
    share = sizes / sizes.sum()
    expected = float(sum(share[i] * (split.y_test == name).mean() for i, name in enumerate(classes)))
    width = norm.ppf(0.975) * np.sqrt(expected * (1 - expected) / len(split.y_test))
    return {"drawn by share": expected, "+-": float(width), "largest class": guess, **found}


def main() -> None:
    """Run what is asked for."""
    options = parser(__doc__)
    options.add_argument("--only", choices=["svm", "parts", "weights", "leak"], help="one part of it")
    options.add_argument("--sets", nargs="*", default=[*TEXT_SETS, *(f"{name}.minilm" for name in VECTOR_SETS)])
    given = options.parse_args()
    rows: list[dict[str, Any]] = []
    for name in given.sets if given.only != "weights" else ():
        make = vector_splits if name.endswith(".minilm") else text_splits
        splits = list(make(given.data, name.removesuffix(".minilm")))
        if given.only in (None, "svm"):
            gain, costs = against_the_svm(splits)
            rows += [{"set": name, **row} for row in costs] + [{"set": name, **gain}]
        if given.only in (None, "parts"):
            rows.append({"set": name, **share_of_each_part(splits)})
        if given.only in (None, "leak"):
            rows.append({"set": name, "labels": "shuffled", **at_chance(splits[0])})
    if given.only in (None, "weights"):
        rows += run_weights(weight_sets(given.data)).to_dicts()
    show(rows, as_json=given.json)


if __name__ == "__main__":
    main()
