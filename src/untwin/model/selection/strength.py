"""Choose C, the regularisation of the linear SVM, on the rows of one fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin._compat import rows_of
from untwin.classify.linear import LinearSVM
from untwin.model.selection.sampling import stratified_sample

if TYPE_CHECKING:
    from untwin.crossfit.together import PreparedFold

STRENGTHS = (1.0, 0.3, 3.0)
ENOUGH_ROWS = 20_000  # to choose C: the best C depends on the number of rows, so a small sample is not enough
PASSES = 4  # enough to see which C is better


def choose_strength(fold: PreparedFold, seed: int) -> float:
    """Return the C at which the linear SVM answers most held-out rows of a fold right; ties go to C = 1."""
    kept = stratified_sample(fold.codes, ENOUGH_ROWS, seed)
    train, codes = rows_of(fold.train, kept), fold.codes[kept]
    if len(np.unique(codes)) < 2:
        return STRENGTHS[0]

    def accuracy(C: float) -> float:
        model = LinearSVM(C=C, passes=PASSES, tol=1e-2, random_state=seed).fit(train, codes)
        return float((model.predict(fold.asked) == fold.truth).mean())

    return max(STRENGTHS, key=accuracy)
