"""Paper 1's other future work: background knowledge of which terms belong together.

Few documents have labels; others of the same training half, without their labels, lie below them as background. The
test half judges. Words and terms are selected on the labelled documents only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from papers.sprinkling.chosen import plan_of
from papers.sprinkling.spaces import CONTENDERS
from untwin._progress import report
from untwin.crossfit import out_of_fold_confusion
from untwin.data.counts import TextCounts
from untwin.represent.sprinkle import SprinkledLSI

if TYPE_CHECKING:
    from collections.abc import Sequence

    from papers.datasets import LabelledTexts

STRENGTH = 4.0
MIN_DF = 3


def run_background(
    texts: LabelledTexts, *, n_halves: int, labelled: Sequence[int] = (10, 25, 50), n_jobs: int = 2
) -> list[dict[str, Any]]:
    """Return the mean accuracy of cosine neighbours with so many labelled documents a class, in four spaces."""
    counter = TextCounts(binary=True, stop_words="english", stemmer="english", min_df=MIN_DF, dtype=np.float64)
    X, y = counter.fit_transform(texts.texts), texts.labels.to_numpy()
    splits = list(StratifiedShuffleSplit(n_halves, test_size=0.5, random_state=0).split(y, y))
    work = [delayed(_accuracies)(X, y, *split, number) for number in labelled for split in splits]
    found = []
    for done, row in enumerate(Parallel(n_jobs=n_jobs, return_as="generator")(work), start=1):
        found.append(row)
        report("halves", done, len(work))
    rows = []
    for position, number in enumerate(labelled):
        part = found[position * n_halves : (position + 1) * n_halves]
        means = {name: float(np.mean([row[name] for row in part])) for name in part[0]}
        rows.append({"set": texts.name, "labelled a class": number, **means})
    return rows


def _accuracies(X: Any, y: Any, train: Any, test: Any, number: int) -> dict[str, float]:
    """Return the accuracy in each space on one half."""
    nearest = CONTENDERS[0].estimator
    by_class = [train[y[train] == cls][:number] for cls in np.unique(y)]
    few = np.sort(np.concatenate(by_class))
    others = X[np.setdiff1d(train, few)]
    with threadpool_limits(1):
        known = out_of_fold_confusion(nearest, X[few], y[few])
        k = 4 * known.n_classes
        found = {"raw terms": float(clone(nearest).fit(X[few], y[few]).score(X[test], y[test]))}
        for name, kind, background in (
            ("LSI", "lsi", None),
            ("LSI, background", "lsi", others),
            ("sprinkled", "adaptive", None),
            ("sprinkled, background", "adaptive", others),
        ):
            plan = plan_of(kind, known, STRENGTH)
            space = SprinkledLSI(
                n_components=k, plan=plan, training="reconstructed", background=background, random_state=0
            )
            Z = space.fit_transform(X[few], y[few])
            found[name] = float(clone(nearest).fit(Z, y[few]).score(space.transform(X[test]), y[test]))
    return found
