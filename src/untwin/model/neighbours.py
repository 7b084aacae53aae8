"""Training rows whose out-of-fold answers are similar to an answer: candidates for the neighbours that explain it.

Glossary
--------
coordinates  n x C    square roots of calibrated class probabilities, the largest few of each row: the product of two
                      rows is the overlap of two distributions
postings              for each class the rows that have a coordinate there, and these coordinates in steps of 1/255

Coordinates of training rows come from their out-of-fold probabilities, those of new rows from the ensemble. Training
rows that were never held out have the ensemble's own probabilities. So a row learnt later needs no extra model: its
coordinates are the answer that it got before it was learnt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from untwin._types import Array, Floats32, Indices

    AnyFloats = NDArray[np.floating[Any]]  # of either precision

KEPT = 10  # classes of a row that have coordinates; the others have almost no probability
STEPS = 255
LEAST = 0.1  # coordinates that are looked up: the others are probabilities below 0.01


class AnswerIndex(NamedTuple):
    """Postings of all rows, class by class: five bytes for each coordinate."""

    starts: Array
    rows: Array
    steps: Array
    n_rows: int

    @classmethod
    def of(cls, blocks: Iterable[AnyFloats]) -> AnswerIndex:
        """Return the postings of rows with these log-probabilities, block by block."""
        rows = csc_array(vstack([coordinates(log_p) for log_p in blocks]))
        kept = np.flatnonzero(rows.data >= LEAST)
        steps = np.rint(rows.data[kept] * STEPS).astype(np.uint8)
        ends = np.searchsorted(kept, rows.indptr)
        return cls(ends, rows.indices[kept].astype(np.int32), steps, rows.shape[0])

    def overlaps(self, log_p: AnyFloats) -> Floats32:
        """Return how similar the answer with these log-probabilities (one row) is to that of each row, at most 1."""
        placed = coordinates(log_p[np.newaxis])
        found = np.zeros(self.n_rows, dtype=np.float32)
        for axis, share in zip(placed.indices.tolist(), placed.data.tolist(), strict=True):
            if axis + 1 < len(self.starts) and share >= LEAST:
                here = slice(self.starts[axis], self.starts[axis + 1])
                found[self.rows[here]] += self.steps[here] * np.float32(share / STEPS)
        return found


def most_similar(overlaps: Floats32, k: int) -> Indices:
    """Return the `k` rows with the largest overlaps, in no order; of equal ones any.

    >>> sorted(most_similar(np.array([0.2, 0.9, 0.4], dtype=np.float32), 2).tolist())
    [1, 2]
    """
    if k >= len(overlaps):
        return np.arange(len(overlaps))
    return np.asarray(np.argpartition(-overlaps, k)[:k])


def coordinates(log_p: AnyFloats) -> csr_array:
    """Return the coordinates of rows, one column a class.

    >>> coordinates(np.log(np.array([[0.64, 0.36]]))).toarray().round(1).tolist()
    [[0.8, 0.6]]
    """
    n, kept = log_p.shape[0], min(KEPT, log_p.shape[1])
    best = np.argpartition(-log_p, kept - 1, axis=1)[:, :kept]
    values = np.exp(np.take_along_axis(log_p, best, axis=1).astype(np.float64) / 2)
    rows = csr_array((values.ravel(), best.ravel(), np.arange(0, n * kept + 1, kept)), shape=log_p.shape)
    rows.sort_indices()
    return rows
