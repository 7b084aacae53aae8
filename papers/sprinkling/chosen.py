"""Paper 1's future work: dimension and strength chosen by cross-validation on the training half, then judged once.

For each of five folds the plan comes from the confusions of the other folds and the space from their rows; what does
best over all folds is fitted to the whole training half and asked about the test half.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings

import numpy as np
import polars as pl
from joblib import Parallel, delayed
from scipy.stats import ttest_1samp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from papers.sprinkling.spaces import CONTENDERS, Half, accuracies, halves
from untwin._progress import report
from untwin.crossfit import out_of_fold
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from papers.datasets import LabelledTexts
    from papers.sprinkling.spaces import Contender
    from untwin.crossfit import OutOfFold
    from untwin.tables.confusion import Confusion

    Setting = tuple[float, int]  # strength, k


class Grid(NamedTuple):
    """What is tried."""

    dimensions: Sequence[int]
    strengths: Sequence[float]


SPACES = ("lsi", "uniform", "adaptive")
CHOOSING = CONTENDERS[:3]  # Crammer and Singer's SVM would take longer than all others together


def run_chosen(sets: Sequence[LabelledTexts], grid: Grid, *, n_halves: int, n_jobs: int = 2) -> pl.DataFrame:
    """Return one row for each half, classifier and space: what was chosen and its accuracy on the test half."""
    work = [
        delayed(_judged)({"set": texts.name, "half": number}, half, contender, grid)
        for texts in sets
        for number, half in enumerate(halves(texts, n_halves))
        for contender in CHOOSING
    ]
    rows: list[dict[str, Any]] = []
    for done, found in enumerate(Parallel(n_jobs=n_jobs, return_as="generator")(work), start=1):
        rows += found
        report("halves", done, len(work))
    return pl.DataFrame(rows)


def _judged(place: dict[str, Any], half: Half, contender: Contender, grid: Grid) -> list[dict[str, Any]]:
    place = {**place, "classifier": contender.name}
    with threadpool_limits(1), catch_warnings(category=ConvergenceWarning, action="ignore"):  # as in `spaces`
        raw = out_of_fold(contender.estimator, half.X, half.y, with_scores=False)
        accuracy = clone(contender.estimator).fit(half.X, half.y).score(half.X_test, half.y_test)
        rows = [{**place, "space": "raw", "strength": 0.0, "k": 0, "accuracy": float(accuracy)}]
        for space in SPACES:
            strength, k = best_setting(space, contender, half, raw, grid)
            ((_, accuracy),) = accuracies(contender, half, plan_of(space, raw.confusion, strength), [k])
            rows.append({**place, "space": space, "strength": strength, "k": k, "accuracy": float(accuracy)})
    return rows


def best_setting(space: str, contender: Contender, half: Half, raw: OutOfFold, grid: Grid) -> Setting:
    """Return the strength and the dimension that do best on the folds of the training half."""
    hits: dict[Setting, float] = defaultdict(float)
    for fold, part in enumerate(inner_parts(half, raw)):
        for strength in grid.strengths if space != "lsi" else (0.0,):
            plan = plan_of(space, raw.without(fold), strength)
            for k, accuracy in accuracies(contender, part, plan, grid.dimensions):
                hits[strength, k] += accuracy * len(part.y_test)
    return max(hits, key=hits.__getitem__)


def inner_parts(half: Half, raw: OutOfFold) -> Iterator[Half]:
    """Yield the folds of a training half as halves of their own; nothing of the test half is in them."""
    for fold in range(len(raw.fold_confusions)):
        train, test = np.flatnonzero(raw.folds != fold), np.flatnonzero(raw.folds == fold)
        yield Half(half.X[train], half.y[train], half.X[test], half.y[test])


def plan_of(space: str, confusion: Confusion, strength: float) -> SprinklingPlan | None:
    """Return the plan of a space at a strength (columns a class on average)."""
    if space == "lsi":
        return None
    classes = confusion.classes
    shape = SprinklingPlan.uniform(classes) if space == "uniform" else SprinklingPlan.adaptive(confusion, 1)
    return shape.scaled(strength * len(classes))


def gains(results: pl.DataFrame, classifier: str, space: str, rival: tuple[str, str]) -> list[dict[str, Any]]:
    """Return for each set by how much `space` beats a rival (classifier, space): mean over halves, 95 % paired t."""
    ours = results.filter(classifier=classifier, space=space)
    theirs = results.filter(classifier=rival[0], space=rival[1]).select("set", "half", rival="accuracy")
    rows = []
    for (name,), part in ours.join(theirs, on=["set", "half"]).group_by("set", maintain_order=True):
        difference = (part["accuracy"] - part["rival"]).to_numpy()
        spread = len(difference) > 1 and np.ptp(difference) > 0
        low, high = (
            ttest_1samp(difference, 0).confidence_interval(0.95) if spread else (difference.mean(), difference.mean())
        )
        rows.append(
            {
                "set": name,
                "classifier": classifier,
                "space": space,
                "against": ", ".join(rival),
                "accuracy": float(part["accuracy"].mean()),  # type: ignore[arg-type]
                "rival": float(part["rival"].mean()),  # type: ignore[arg-type]
                "gain": float(difference.mean()),
                "low": float(low),
                "high": float(high),
            }
        )
    return rows
