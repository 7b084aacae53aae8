"""Classifiers made of many experts learn on: how many of them new classes touch, next to training all anew."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from papers.datasets import read_texts
from scipy.sparse import csr_array
from sklearn.base import clone

from untwin import ConfusionGraphClassifier, MultiLevelClassifier, SupervisedWeights, TextCounts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

N_BATCHES, N_NEW = 3, 5  # batches, each with all documents of so many new classes
MODELS = {
    "multi-level": MultiLevelClassifier(),
    "graph, one-vs-rest": ConfusionGraphClassifier(),
    "graph, pairs": ConfusionGraphClassifier(approach="max-wins"),
}


def run(data: Path) -> Iterator[dict[str, Any]]:
    """Yield what each model does with each batch of CLINC150."""
    texts = read_texts(data, "clinc150").filter(pl.col("label") != "oos")
    train, test = (texts.filter(pl.col("split") == split) for split in ("train", "test"))
    labels, truth = train["label"].to_numpy(), test["label"].to_numpy()
    names = np.random.default_rng(0).permutation(np.unique(labels))
    comes = dict(zip(names.tolist(), np.arange(len(names)) // N_NEW + 1, strict=True))
    batch, asked = (np.array([comes[name] for name in part.tolist()]) for part in (labels, truth))
    batch, asked = (np.where(part > N_BATCHES, 0, part) for part in (batch, asked))
    order = np.argsort(batch, kind="stable")
    counts = TextCounts(min_df=1)
    X, T = (csr_array(rows) for rows in (counts.fit_transform(train["text"]), counts.transform(test["text"])))
    weights = SupervisedWeights().fit(X[batch == 0])  # columns and weights stay: what is measured is the classifier
    X, T = csr_array(weights.transform(X))[order], csr_array(weights.transform(T))
    labels, batch = labels[order], batch[order]
    for name, model in MODELS.items():
        learning = clone(model).fit(X[batch == 0], labels[batch == 0])
        for number in range(1, N_BATCHES + 1):
            here, known, old = batch == number, batch <= number, asked <= number
            seconds, anew = _seconds(learning.partial_fit, X[here], labels[here]), clone(model)
            all_seconds = _seconds(anew.fit, X[known], labels[known])
            yield {
                "model": name,
                "batch": number,
                "new documents": int(here.sum()),
                "experts trained": learning.retrained_.trained,
                "of": learning.retrained_.of,
                "s": seconds,
                "anew s": all_seconds,
                "times cheaper": all_seconds / seconds,
                "accuracy": learning.score(T[old], truth[old]),
                "anew": anew.score(T[old], truth[old]),
                "of new classes": learning.score(T[asked == number], truth[asked == number]),
                "of them anew": anew.score(T[asked == number], truth[asked == number]),
            }


def _seconds(work: Any, *given: Any) -> float:
    start = time.perf_counter()
    work(*given)
    return time.perf_counter() - start
