"""The finding `label-error` against cleanlab, on training rows of which one in twenty was given a wrong label.

Both get the same out-of-fold probabilities of a linear SVM; untwin has its out-of-fold neighbours too, so it is shown
with and without them. "any class": the wrong label is drawn from all others; "near class": from the five classes with
the most similar mean rows, where a wrong label looks like an ordinary confusion. cleanlab lives in an environment of
its own: --cleanlab names its Python. The method was designed on seed 0; figures are means over other seeds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from papers.datasets import read_texts
from scipy.special import softmax
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from bench._measure import parser, show
from untwin.calibrate.temperature import fit_temperature
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.class_sums import ClassSums
from untwin.crossfit import out_of_fold
from untwin.model.findings.evidence import Evidence
from untwin.model.findings.label_errors import label_trust, suspected_rows
from untwin.model.out_of_fold import OutOfFoldAnswers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

SETS = ("banking77", "clinc150")
SHARE = 0.05
NEAR = 5
NEIGHBOURS = 20


def training_rows(data: Path, name: str) -> tuple[Any, Array]:
    """Return tf-idf rows and the number of their class; CLINC150's "out of scope" is no class and left out."""
    rows = read_texts(data, name).filter(pl.col("split") == "train", pl.col("label") != "oos")
    X = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)).fit_transform(rows["text"].to_list())
    return X, np.unique(rows["label"].to_numpy().astype(str), return_inverse=True)[1]


def planted(X: Any, y: Array, *, near: bool, seed: int) -> tuple[Array, Array]:
    """Return labels of which a share is wrong, and which are."""
    rng = np.random.default_rng(seed)
    n_classes = int(y.max()) + 1
    profiles = normalize(ClassSums.of_rows(X, y).sums)
    alike = (profiles @ profiles.T).toarray()
    np.fill_diagonal(alike, -1)
    others = np.argsort(-alike, axis=1, kind="stable")[:, : NEAR if near else n_classes - 1]
    wrong = np.zeros(len(y), dtype=bool)
    wrong[rng.choice(len(y), int(SHARE * len(y)), replace=False)] = True
    drawn = others[y, rng.integers(0, others.shape[1], len(y))]
    return np.where(wrong, drawn, y), wrong


def collect_evidence(X: Any, y: Array) -> Evidence:
    """Judge every row by what has not seen it."""
    said = out_of_fold(LinearSVC(), X, y)
    scores = np.asarray(said.scores)
    P = softmax(scores / fit_temperature(scores, y), axis=1)
    near = np.empty((len(y), NEIGHBOURS), dtype=np.intp)
    for fold in np.unique(said.folds):
        held_out, rest = np.flatnonzero(said.folds == fold), np.flatnonzero(said.folds != fold)
        near[held_out] = rest[KNNClassifier().fit(X[rest], y[rest]).kneighbors(X[held_out], NEIGHBOURS)[1]]
    classes, true = np.unique(y, return_inverse=True)
    predicted = np.searchsorted(classes, said.predictions.data)
    answers = OutOfFoldAnswers.of(classes, np.arange(len(y)), true, predicted, log_p=np.log(P), folds=said.folds)
    return Evidence(answers=answers, X=X, neighbours=near)


def cleanlab(python: Path, labels: Array, P: Array) -> dict[str, Any]:
    """Return what cleanlab says."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.npz"
        np.savez(path, labels=labels, P=P)
        worker = Path(__file__).with_name("_cleanlab.py")
        done = subprocess.run([python, worker, path], capture_output=True, check=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def verdict(wrong: Array, named: Any) -> dict[str, Any]:
    """Return how many rows were named, and how rightly."""
    hits = int(wrong[named].sum())
    precision, recall = hits / max(len(named), 1), hits / int(wrong.sum())
    return {"named": len(named), "precision": precision, "recall": recall, "F1": 2 * hits / (len(named) + wrong.sum())}


def measured(job: dict[str, Any], evidence: Evidence, wrong: Array, python: Path | None) -> list[dict[str, Any]]:
    """Return the figures of one set: what is named, and the average precision of the whole ranking."""
    rows = []
    for who, known in {"untwin": evidence, "untwin, no neighbours": replace(evidence, neighbours=None)}.items():
        ranked = float(average_precision_score(wrong, -label_trust(known)))
        rows.append(job | {"who": who} | verdict(wrong, suspected_rows(known)) | {"average precision": ranked})
    if python is None:
        return [*rows, job | {"who": "cleanlab: not given"}]
    peer = cleanlab(python, evidence.answers.y, evidence.probabilities)
    rows += [job | {"who": f"cleanlab {how}"} | verdict(wrong, named) for how, named in peer["named"].items()]
    for how, quality in peer["quality"].items():
        ranked = float(average_precision_score(wrong, -np.asarray(quality)))
        rows.append(job | {"who": f"cleanlab {how}", "average precision": ranked})
    return rows


def means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean over seeds of each figure, empty where there is none."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    grouped = table.group_by("set", "wrong label", "who", maintain_order=True).mean()
    return [{name: "" if value is None else value for name, value in row.items()} for row in grouped.to_dicts()]


def main() -> None:
    """Plant, judge, compare."""
    options = parser(__doc__)
    options.add_argument("--cleanlab", type=Path, help="the Python of an environment that has cleanlab")
    options.add_argument("--seeds", type=int, nargs="+", default=(2, 3), help="what to plant the errors with")
    options.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    given = options.parse_args()
    rows = []
    for name in given.sets:
        X, y = training_rows(given.data, name)
        for near, seed in product((False, True), given.seeds):
            print(name, "near" if near else "any", seed, file=sys.stderr)
            labels, wrong = planted(X, y, near=near, seed=seed)
            job = {"set": name, "wrong label": "near class" if near else "any class"}
            rows += measured(job, collect_evidence(X, labels), wrong, given.cleanlab)
    show(means(rows), as_json=given.json, cores=os.cpu_count(), share=SHARE, neighbours=NEIGHBOURS, seeds=given.seeds)


if __name__ == "__main__":
    main()
