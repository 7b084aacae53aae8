"""Local LSI, the rival that paper 1 names: one space a class; the class whose space holds most of a document wins.

V_c      m x k    the leading directions of the documents of class c
score             |V_c'x| / |x|: the cosine between a document and its projection on the space of the class
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.extmath import row_norms

from papers.folds import stratified_parts
from papers.sprinkling.spaces import Half, halves
from untwin.linalg.blocks import Blocks
from untwin.linalg.svd import truncated_svd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from papers.datasets import LabelledTexts

SIZES = (1, 2, 4, 8, 16)


def local_accuracy(texts: LabelledTexts, *, n_halves: int, sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Return the mean accuracy over test halves; the size is chosen by five folds of each training half."""
    found, chosen = [], []
    for half in halves(texts, n_halves):
        inner = [
            _hits(Half(half.X[train], half.y[train], half.X[test], half.y[test]), sizes)
            for train, test in stratified_parts(half.y, 5)
        ]
        best = int(np.argmax(np.sum(inner, axis=0)))
        chosen.append(sizes[best])
        found.append(_hits(half, sizes)[best] / len(half.y_test))
    return {"set": texts.name, "directions a class": float(np.mean(chosen)), "accuracy": float(np.mean(found))}


def _hits(half: Half, sizes: Sequence[int]) -> NDArray[np.float64]:
    """Return how many test documents each size gets right."""
    classes = np.unique(half.y)
    lengths = np.maximum(row_norms(half.X_test), np.finfo(float).tiny)
    scores = np.zeros((len(sizes), half.X_test.shape[0], len(classes)))
    for column, name in enumerate(classes):
        V = truncated_svd(Blocks(half.X[half.y == name]), max(sizes), random_state=0).V
        held = np.cumsum(np.square(half.X_test @ V), axis=1)
        for row, size in enumerate(sizes):
            scores[row, :, column] = np.sqrt(held[:, min(size, held.shape[1]) - 1]) / lengths
    right = classes[scores.argmax(axis=2)] == half.y_test
    return np.asarray(right.sum(axis=1), dtype=np.float64)
