"""Trees of classes from words, from confusion, from both."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from untwin.classify.multilevel.trees import SOURCES, class_trees, word_distances
from untwin.structure.hierarchy import Hierarchy
from untwin.tables import Confusion

CLASSES = np.array(["ant", "bee", "cat", "dog", "elk"])


def unit_rows(seed=0):
    rows = np.random.default_rng(seed).random((5, 8))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def assert_same_tree(a, b):
    assert np.array_equal(a.merges, b.merges)
    np.testing.assert_allclose(a.heights, b.heights, rtol=1e-12)


def test_word_distances_are_one_minus_cosine():
    rows = unit_rows()
    distances = word_distances(rows)
    np.testing.assert_allclose(distances, 1 - rows @ rows.T, atol=1e-12)
    assert not np.diagonal(distances).any()
    np.testing.assert_allclose(word_distances(csr_array(rows)), distances, atol=1e-12)


def test_each_source_grows_its_tree():
    rows = unit_rows()
    confusion = Confusion(np.random.default_rng(1).integers(1, 9, (5, 5)), CLASSES[::-1])
    words, confused, both = class_trees(SOURCES, rows, confusion, CLASSES)
    assert_same_tree(words, Hierarchy.from_centroids(rows, CLASSES))
    assert confused == Hierarchy.from_confusion(confusion)
    by_name = confusion.reordered(CLASSES).distances("l1")
    W = word_distances(rows)
    assert_same_tree(both, Hierarchy.from_distances(W / W.mean() + by_name / by_name.mean(), CLASSES))


def test_without_confusion_words_are_left():
    rows = unit_rows()
    given = Hierarchy.from_distances(1 - np.eye(5), CLASSES)
    trees = class_trees([given, "confusion", "both"], rows, None, CLASSES)
    assert_same_tree(trees[0], Hierarchy.from_centroids(rows, CLASSES))
    assert trees[1:] == [given]
    assert class_trees([given], rows, None, CLASSES) == [given]
