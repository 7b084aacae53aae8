"""Calibration on held-out rows for a classifier that keeps sums instead of rows.

A sample of the rows is kept. Fold by fold they are taken out of the sums (which is exact), scored by what is left, and
the temperature is fitted to these scores: no row is scored by a model that has seen it. Which rows are kept depends on
how many came before, not on how they were cut into parts, so learning in parts gives what learning at once gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from untwin._values import positions
from untwin.calibrate.temperature import fit_temperature
from untwin.represent.incremental import widen_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Array, Floats
    from untwin.classify.latent.class_space import ClassSpace
    from untwin.classify.latent.class_sums import ClassSums

KEPT = 2_000
N_FOLDS = 5


class KeptRows(NamedTuple):
    """A random sample of rows, in random order: those with the smallest keys among all `n_seen`."""

    X: csr_array
    y: Array
    keys: Floats
    n_seen: int

    @classmethod
    def of_rows(cls, X: Any, y: Array, n_before: int = 0) -> KeptRows:
        """Return a sample of rows that follow `n_before` earlier ones."""
        generator = np.random.Generator(np.random.PCG64(0).advance(n_before))  # a key takes one step
        keys = generator.random(len(y))
        first = np.argsort(keys)[:KEPT]
        return cls(csr_array(X[first]), y[first], keys[first], n_before + len(y))

    def with_rows(self, X: Any, y: Array) -> KeptRows:
        """Return the sample of these and more rows, which may be wider, never narrower."""
        more = KeptRows.of_rows(X, y, self.n_seen)
        keys = np.concatenate([self.keys, more.keys])
        first = np.argsort(keys)[:KEPT]
        rows = csr_array(vstack([widen_matrix(self.X, more.X.shape[1]), more.X], format="csr"))
        return KeptRows(rows[first], np.concatenate([self.y, more.y])[first], keys[first], more.n_seen)


def fit_held_out_temperature(space_of: Callable[[ClassSums], ClassSpace], sums: ClassSums, kept: KeptRows) -> float:
    """Return the temperature that makes the true classes of the kept rows most likely while they are held out.

    Rows whose class would have no rows left are skipped.
    """
    codes = positions(kept.y, sums.classes)
    fold = np.arange(len(codes)) % N_FOLDS
    scores, truth = [], []
    for number in range(min(N_FOLDS, len(codes))):
        out = fold == number
        rest = sums.without(kept.X[out], kept.y[out])
        learnt = rest.sizes > 0
        asked = np.flatnonzero(out & learnt[codes])
        if asked.size == 0:
            continue
        found = space_of(rest).scores(kept.X[asked])
        scores.append(np.where(learnt, found, -np.inf))
        truth.append(codes[asked])
    if not scores:
        return 1.0
    return fit_temperature(np.concatenate(scores), np.concatenate(truth), cautious=True)
