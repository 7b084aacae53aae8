"""Paper 2's trees: the confusion of flat naive Bayes, its tree, the merge distances, and the number of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.naive_bayes import MultinomialNB

from papers.hierarchies.collections import flat_bayes
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.multilevel.trees import class_trees
from untwin.crossfit import out_of_fold_confusion
from untwin.represent.weights import SupervisedWeights
from untwin.structure.hierarchy import Hierarchy

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from papers.hierarchies.collections import Collection
    from untwin.tables.confusion import Confusion


class Grown(NamedTuple):
    """A collection's flat classifier on the test documents, and the tree of its confusion out of fold."""

    collection: Collection
    accuracy: float
    tree: Hierarchy

    @property
    def confusion(self) -> Confusion:
        """What the tree was grown from."""
        confusion = self.tree.confusion
        if confusion is None:
            raise ValueError("tree must come from a confusion. Got one without instead.")
        return confusion


def grown(collection: Collection) -> Grown:
    """Grow the tree on training documents only; the paper took the confusion of its test documents."""
    flat = flat_bayes()
    confusion = out_of_fold_confusion(flat, collection.X, collection.y, n_jobs=2)
    accuracy = flat.fit(collection.X, collection.y).score(collection.X_test, collection.y_test)
    return Grown(collection, float(accuracy), Hierarchy.from_confusion(confusion))


def described(found: Grown, *, n_bootstrap: int) -> dict[str, Any]:
    """Return what there is to say about a tree in one row."""
    collection = found.collection
    groups = found.tree.group_range(n_bootstrap=n_bootstrap)
    return {
        "collection": collection.name,
        "classes": len(found.tree.classes),
        "training documents": collection.X.shape[0],
        "test documents": collection.X_test.shape[0],
        "flat accuracy": found.accuracy,
        "groups": groups.n_groups,
        "resampled, low": groups.low,
        "resampled, high": groups.high,
    }


def of_words(X: csr_array, y: NDArray[Any], confusion: Confusion) -> dict[str, Hierarchy]:
    """Return trees of the same classes from their words alone, and from words and confusion together."""
    weighted = SupervisedWeights(scheme="tfidf").fit_transform(X, y)
    base = CentroidClassifier().fit(weighted, y)
    words, both = class_trees(["centroids", "both"], base.centroids_, confusion, base.classes_)
    return {"words": words, "both": both}


def agreements(name: str, X: csr_array, y: NDArray[Any], parents: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare trees of confusion (two classifiers) and of words with a known tree."""
    flat = out_of_fold_confusion(flat_bayes(), X, y, n_jobs=2)
    every_term = out_of_fold_confusion(MultinomialNB(), X, y, n_jobs=2)
    trees = {
        "confusion, naive Bayes of 3,000 terms": Hierarchy.from_confusion(flat),
        "confusion, naive Bayes of all terms": Hierarchy.from_confusion(every_term),
        **of_words(X, y, every_term),
    }
    rows = []
    for kind, tree in trees.items():
        found = tree.agreement(parents)
        rows.append({"collection": name, "classes": len(np.unique(y)), "tree of": kind, **found._asdict()})
    return rows
