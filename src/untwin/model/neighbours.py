"""Neighbours that explain an answer: training rows whose out-of-fold answers are similar to it.

Glossary
--------
coordinates  n x C    square roots of calibrated class probabilities, the largest few of each row: the product of two
                      rows is the overlap of two distributions

Coordinates of training rows come from their out-of-fold probabilities, those of new rows from the ensemble. Training
rows that were never held out have the ensemble's own probabilities. So a row learnt later needs no extra model: its
coordinates are the answer that it got before it was learnt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from untwin._values import positions
from untwin.classify.knn.classifier import KNNClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from untwin._types import Array, Indices
    from untwin.classify.knn.explain import Explanation

    AnyFloats = NDArray[np.floating[Any]]  # of either precision

KEPT = 10  # classes of a row that have coordinates; the others have almost no probability
NEIGHBOURS = 10


@dataclass(slots=True, eq=False)
class NeighbourSpace:
    """A `KNNClassifier` over coordinates; `axes` names their classes."""

    knn: KNNClassifier
    axes: Array

    @classmethod
    def of_rows(cls, log_p: AnyFloats, classes: Array, y: Array) -> NeighbourSpace:
        """Return the space of training rows with labels `y` and these log-probabilities."""
        rows = coordinates(log_p, np.arange(len(classes)), len(classes))
        return cls(KNNClassifier(n_neighbors=NEIGHBOURS).fit(rows, y), classes.copy())

    def place(self, log_p: AnyFloats, classes: Array) -> csr_array:
        """Return the coordinates of rows with these log-probabilities."""
        return coordinates(log_p, positions(classes, self.axes), len(self.axes))

    def explain(
        self, log_p: AnyFloats, classes: Array, terms: tuple[Any, Any], names: Any, top: int
    ) -> list[Explanation]:
        """Return explanations of rows: their neighbours and the terms shared with them."""
        return self.knn.explain(self.place(log_p, classes), top=top, terms=terms, feature_names=names)

    def near(self, log_p: AnyFloats, classes: Array) -> Indices:
        """Return the numbers of the training rows nearest to rows with these log-probabilities."""
        return self.knn.kneighbors(self.place(log_p, classes))[1]


def coordinates(log_p: AnyFloats, axis_of: Indices, n_axes: int) -> csr_array:
    """Return the coordinates of rows; column c of `log_p` belongs to axis `axis_of[c]`.

    >>> coordinates(np.log(np.array([[0.64, 0.36]])), np.array([1, 0]), 3).toarray().round(1).tolist()
    [[0.6, 0.8, 0.0]]
    """
    n, kept = log_p.shape[0], min(KEPT, log_p.shape[1])
    best = np.argpartition(-log_p, kept - 1, axis=1)[:, :kept]
    values = np.exp(np.take_along_axis(log_p, best, axis=1).astype(np.float64) / 2)
    starts = np.arange(0, n * kept + 1, kept)
    rows = csr_array((values.ravel(), axis_of[best].ravel(), starts), shape=(n, n_axes))
    rows.sort_indices()
    return rows
