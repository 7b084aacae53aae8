"""Choose C, the regularisation of the linear SVM, on the rows of one fold.

For texts C matters little: from 0.3 to 3 the accuracy of our sets differs by chance, and at most by half a point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin._compat import rows_of
from untwin.model.selection.candidates import linear_svm
from untwin.model.selection.sampling import stratified_sample

if TYPE_CHECKING:
    from untwin.crossfit.together import PreparedFold
    from untwin.model.selection.candidates import DataProfile

STRENGTHS = (1.0, 0.3, 3.0)  # for rows of length one
STRENGTHS_OF_COLUMNS = (1.0, 0.1)  # for columns on their own scales
MANY_ROWS = 30_000  # whose errors need not all be learnt
ENOUGH_ROWS = 10_000  # to choose C: the best C depends on the number of rows, so a small sample is not enough
ENOUGH_ASKED = 5_000  # held-out rows


def usual_strength(n_rows: int) -> float:
    """Return the C that mostly suits so many rows of texts, where nothing is tried."""
    return 1.0 if n_rows < MANY_ROWS else 0.2


def choose_strength(fold: PreparedFold, now: DataProfile) -> float:
    """Return the C at which the linear SVM answers most held-out rows of a fold right; ties go to C = 1."""
    kept = stratified_sample(fold.codes, ENOUGH_ROWS, now.seed)
    train, codes = rows_of(fold.train, kept), fold.codes[kept]
    some = stratified_sample(fold.truth, ENOUGH_ASKED, now.seed)
    asked, truth = rows_of(fold.asked, some), fold.truth[some]
    if len(np.unique(codes)) < 2:
        return STRENGTHS[0]

    def accuracy(C: float) -> float:
        model = linear_svm(now, C)
        model.n_jobs = now.n_threads
        return float((model.fit(train, codes).predict(asked) == truth).mean())

    return max(STRENGTHS if now.sparse or now.unit_rows else STRENGTHS_OF_COLUMNS, key=accuracy)
