"""Paper 2's multi-level classifiers: a root that names the group, and a classifier for each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from papers.hierarchies.collections import N_TERMS, flat_bayes
from untwin._values import positions
from untwin.classify.multilevel.classifier import MultiLevelClassifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from papers.hierarchies.collections import Collection

    Array = NDArray[Any]

EXPERTS: dict[str, Any] = {
    "naive Bayes": MultinomialNB(),
    "SVM": make_pipeline(TfidfTransformer(), LinearSVC(random_state=0)),
}


class Levels(NamedTuple):
    """Accuracies in a row, and of each class: flat, and given the right group by naive Bayes, by SVM and flat."""

    rows: list[dict[str, Any]]
    classes: list[dict[str, Any]]


def run_levels(collection: Collection, groups: Sequence[tuple[str, ...]], source: str) -> Levels:
    """Train root and experts for these groups, each group on its own best 3,000 terms, and judge on test documents."""
    flat = flat_bayes().fit(collection.X, collection.y)
    said = flat.predict(collection.X_test)
    rows, right = [], {"flat": said == collection.y_test}
    for kind, expert in EXPERTS.items():
        model = MultiLevelClassifier(
            groups=list(groups), root=flat_bayes(), expert=expert, select=N_TERMS, routing="hard", cv=None
        ).fit(collection.X, collection.y)
        found = model.report(collection.X_test, collection.y_test, flat=flat)
        rows.append(
            {
                "collection": collection.name,
                "groups from": source,
                "groups": len(groups),
                "level 2": kind,
                "flat": float(right["flat"].mean()),
                "root": found.root,
                "level 2, right group given": found.experts,
                "flat, right group given": found.flat,
                "end to end": found.end_to_end,
            }
        )
        right[kind] = told_the_group(model, collection) == collection.y_test
    return Levels(rows, _by_class(collection, groups, right))


def told_the_group(model: MultiLevelClassifier, collection: Collection) -> Array:
    """Return the classes that the experts name when the right group is given."""
    scores = model.trees_[0].descend(collection.X_test)
    group_of = model.trees_[0].groups
    true = positions(collection.y_test, model.classes_)
    inside = group_of == group_of[true][:, np.newaxis]
    return np.asarray(model.classes_[np.where(inside, scores, -np.inf).argmax(axis=1)])


def _by_class(
    collection: Collection, groups: Sequence[tuple[str, ...]], right: dict[str, Array]
) -> list[dict[str, Any]]:
    """Return per cent right of each class, group by group."""
    rows = []
    for number, group in enumerate(groups, start=1):
        for name in sorted(group):
            here = collection.y_test == name
            shares = {kind: 100 * float(hits[here].mean()) for kind, hits in right.items()} if here.any() else {}
            rows.append({"group": number, "class": name, **shares})
    return rows
