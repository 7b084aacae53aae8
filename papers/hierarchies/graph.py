"""Paper 2's graph: naive Bayes first, and SVMs only between classes that it confuses.

All classifiers see the 3,000 terms that say most about the classes of the training documents: naive Bayes their counts,
SVMs tf-idf. Seconds are those of training on two cores while other work ran; only their ratios are of interest.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from papers.hierarchies.collections import N_TERMS, gain
from untwin._progress import report
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from papers.hierarchies.collections import Collection

APPROACHES = ("verify", "max-wins", "one-vs-rest")


def best_terms(collection: Collection, k: int = N_TERMS) -> Collection:
    """Keep the terms that say most about the classes of the training documents."""
    kept = np.sort(np.argsort(-gain(collection.X, collection.y), kind="stable")[:k])
    return collection._replace(X=collection.X[:, kept], X_test=collection.X_test[:, kept])


def run_graph(
    collection: Collection, thresholds: Sequence[float], approaches: Sequence[str] = APPROACHES
) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
    """Return a row for each classifier, and per cent right of each class."""
    chosen = best_terms(collection)
    svm = make_pipeline(TfidfTransformer(), LinearSVC(random_state=0))
    models: dict[tuple[str, float | None], Any] = {("naive Bayes", None): MultinomialNB(), ("SVM", None): svm}
    for approach in approaches:
        for threshold in thresholds:
            models[f"graph, {approach}", threshold] = ConfusionGraphClassifier(
                base=MultinomialNB(),
                expert=svm,
                threshold=threshold,
                approach=approach,
                candidates=None,
                blend=False,
                n_jobs=2,
            )
    rows: list[dict[str, Any]] = []
    classes: dict[str, dict[str, float]] = {}
    for done, ((name, at), model) in enumerate(models.items(), start=1):
        row, confusion = _judged(model, chosen)
        rows.append({"collection": collection.name, "classifier": name, "t": at, **row})
        recall = dict(zip(confusion.classes.tolist(), (100 * confusion.recall).tolist(), strict=True))
        classes[name if at is None else f"{name}, t = {at:g}"] = recall
        report("classifiers", done, len(models))
    fastest = rows[0]["seconds"]
    return [{**row, "times naive Bayes": row["seconds"] / fastest} for row in rows], classes


def _judged(model: Any, collection: Collection) -> tuple[dict[str, Any], Confusion]:
    start = time.perf_counter()
    model.fit(collection.X, collection.y)
    seconds = time.perf_counter() - start
    confusion = Confusion.from_predictions(collection.y_test, model.predict(collection.X_test))
    graph = getattr(model, "graph_", None)
    base = (
        None if graph is None else Confusion.from_predictions(collection.y_test, model.base_.predict(collection.X_test))
    )
    return {
        "accuracy": confusion.accuracy,
        "bound": None if graph is None or base is None else graph.upper_bound(base),
        "edges": None if graph is None else graph.incidence.nnz,
        "experts": getattr(model, "n_experts_", None),
        "seconds": seconds,
    }, confusion
