"""Trees of classes: built from the words of the classes, from the confusion of a base classifier, or from both.

Glossary
--------
centroids  C x m    unit rows: the directions of the classes
words      C x C    1 - cosine of two classes' centroids
confused   C x C    L1 distance of two classes' rows of the confusion
both       C x C    the sum of words and confused, each divided by its mean

Centroids say which classes use the same words, a confusion says which ones are mistaken for each other. Trees of either
kind, and of both, make different mistakes: the mean of their scores is better than the best of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin import _progress
from untwin._compat import as_dense
from untwin.structure.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Floats
    from untwin.tables import Confusion

SOURCES = ("centroids", "confusion", "both")


def class_trees(
    sources: Sequence[str | Hierarchy], centroids: Any, confusion: Confusion | None, classes: Array
) -> list[Hierarchy]:
    """Return a tree for each source: itself if it is one, else grown from `centroids`, `confusion` or both.

    Without a confusion all that need one are grown from the centroids, once.

    >>> from untwin.tables import Confusion
    >>> confusion = Confusion([[5, 0, 5], [0, 9, 1], [4, 0, 6]], ["ape", "bee", "cat"])
    >>> trees = class_trees(SOURCES, np.eye(3), confusion, confusion.classes)
    >>> [tree.cut(2) for tree in trees[1:]]
    [[('bee',), ('cat', 'ape')], [('bee',), ('cat', 'ape')]]
    """
    unknown = [source for source in sources if not isinstance(source, Hierarchy) and source not in SOURCES]
    if unknown:
        raise ValueError(f"hierarchy must be of {', '.join(SOURCES)} or Hierarchy objects. Got {unknown[0]!r} instead.")
    kinds = sources if confusion is not None else _without_confusion(sources)
    words = word_distances(centroids)
    trees = []
    for source in kinds:
        if isinstance(source, Hierarchy):
            trees.append(source)
        elif source == "centroids" or confusion is None:
            trees.append(Hierarchy.from_distances(words, classes))
        elif source == "confusion":
            trees.append(Hierarchy.from_confusion(confusion))
        else:
            confused = confusion.reordered(classes).distances("l1")
            trees.append(Hierarchy.from_distances(words / words.mean() + confused / confused.mean(), classes))
        _progress.report("trees", len(trees), len(kinds))
    return trees


def word_distances(centroids: Any) -> Floats:
    """Return 1 - cosine of unit rows, exactly zero on the diagonal."""
    cosines = centroids @ centroids.T
    distances: Floats = np.maximum(1.0 - as_dense(cosines), 0.0).astype(np.float64)
    np.fill_diagonal(distances, 0.0)
    return distances


def _without_confusion(sources: Sequence[str | Hierarchy]) -> list[str | Hierarchy]:
    given: list[str | Hierarchy] = [source for source in sources if isinstance(source, Hierarchy)]
    return given if len(given) == len(sources) else ["centroids", *given]
