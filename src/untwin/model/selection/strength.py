"""Choose C, the regularisation of the linear SVM, on held-out rows."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from untwin.crossfit.outoffold import out_of_fold_confusion
from untwin.model.selection.sampling import stratified_sample, trial_sample, two_folds
from untwin.model.selection.specs import baseline

if TYPE_CHECKING:
    from untwin._types import Indices
    from untwin.model.features.view import View
    from untwin.model.selection.specs import DataProfile

ENOUGH_ROWS = 20_000  # to choose C: the best C depends on the number of rows, so a small sample is not enough


def choose_strength(
    now: DataProfile, view: View, codes: Indices, parts: Indices | None, n_jobs: int | None
) -> DataProfile:
    """Return the data profile with the C at which the linear SVM is best on two folds.

    With the fast preset, or if no row can be held out, the profile is returned unchanged.
    """
    if now.preset == "fast" or parts is None:
        return now
    seed = now.random_state
    rows = trial_sample(codes, now.n_classes, seed) if now.much_work else stratified_sample(codes, ENOUGH_ROWS, seed)
    here, folds = view.take(rows), two_folds(codes, parts, rows)
    if folds is None:
        return now

    @cache
    def accuracy(C: float) -> float:
        model: Any = here.model(baseline(replace(now, C=C)))
        return out_of_fold_confusion(model, here.rows, codes[rows], cv=folds, n_jobs=n_jobs).accuracy

    further = 10.0 if accuracy(3.0) > accuracy(1.0) else 0.3
    return replace(now, C=max((1.0, 3.0, further), key=accuracy))
