"""Paper 1: whether adaptive sprinkling helps, whom, at which dimension, and against what.

Its numbers are lost, so what it asserts in words is tested. Every plan has the same trace (columns in all), since more
sprinkling is not better sprinkling; several traces are tried. Nothing sees a label of a test row: terms are selected,
confusions measured and plans made inside each training half.

half       a random half of the documents of each class for training, the other half for testing
k          dimensions of the space; one decomposition at the largest serves all
strength   columns a class receives on average: trace = strength x C
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings

import numpy as np
import polars as pl
from joblib import Parallel, delayed
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from untwin._progress import report
from untwin.classify.knn.classifier import KNNClassifier
from untwin.crossfit import out_of_fold_confusion
from untwin.data.counts import TextCounts
from untwin.represent.analysis import separation
from untwin.represent.sprinkle import SprinkledLSI
from untwin.structure.hierarchy import Hierarchy
from untwin.structure.plan import SprinklingPlan
from untwin.tables.contingency import Contingency

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from papers.datasets import LabelledTexts
    from untwin.represent.sprinkle import Training
    from untwin.tables.confusion import Confusion

DIMENSIONS = (5, 10, 20, 40, 60, 100, 150, 200)
STRENGTHS = (1.0, 4.0, 16.0)
TRADE_OFF = (0.0, 0.25, 1.0, 4.0, 16.0, 64.0)
N_TERMS = 1_000
N_HALVES = 10


class Contender(NamedTuple):
    """A classifier, and how its training rows enter the space: for neighbours as in the paper, else projected."""

    name: str
    estimator: Any
    training: Training


CONTENDERS = (
    Contender("knn cosine", KNNClassifier(metric="cosine", n_jobs=1), "reconstructed"),
    Contender("knn euclidean", KNNClassifier(metric="euclidean", n_jobs=1), "reconstructed"),
    Contender("svm", LinearSVC(random_state=0), "projected"),
    Contender("svm, Crammer and Singer", LinearSVC(multi_class="crammer_singer", random_state=0), "projected"),
)


class Outcome(NamedTuple):
    """The accuracy of one classifier in one space on one half; `k` and `strength` are 0 where they do not apply."""

    set: str
    half: int
    classifier: str
    space: str
    strength: float
    k: int
    accuracy: float


class Half(NamedTuple):
    """One training half and its test half, as binary terms selected on the training half."""

    X: csr_array
    y: NDArray[Any]
    X_test: csr_array
    y_test: NDArray[Any]


def run_sprinkling(
    sets: Sequence[LabelledTexts],
    *,
    n_halves: int = N_HALVES,
    dimensions: Sequence[int] = DIMENSIONS,
    strengths: Sequence[float] = STRENGTHS,
    n_jobs: int = 2,
) -> pl.DataFrame:
    """Run the experiment on all sets and return one row an `Outcome`."""
    work = [
        delayed(outcomes)(texts, number, half, dimensions, strengths)
        for texts in sets
        for number, half in enumerate(halves(texts, n_halves))
    ]
    rows: list[Outcome] = []
    for done, found in enumerate(Parallel(n_jobs=n_jobs, return_as="generator")(work), start=1):
        rows += found
        report("halves", done, len(work))
    return pl.DataFrame(rows, schema=list(Outcome._fields), orient="row")


def halves(texts: LabelledTexts, n_halves: int) -> Iterator[Half]:
    """Yield random halves, stratified; words are counted once, since counting sees no label."""
    counts = TextCounts(binary=True, stop_words="english", stemmer="english").fit_transform(texts.texts)
    labels = texts.labels.to_numpy()
    splitter = StratifiedShuffleSplit(n_halves, test_size=0.5, random_state=0)
    for train, test in splitter.split(labels, labels):
        gain = Contingency.from_counts(counts[train], labels[train]).information_gain()
        best = np.sort(np.argsort(-gain, kind="stable")[:N_TERMS])
        X, X_test = (counts[rows][:, best].astype(np.float64) for rows in (train, test))
        yield Half(X, labels[train], X_test, labels[test])


def outcomes(
    texts: LabelledTexts, number: int, half: Half, dimensions: Sequence[int], strengths: Sequence[float]
) -> list[Outcome]:
    """Return all accuracies of one half."""
    rows = []
    with threadpool_limits(1), catch_warnings(category=ConvergenceWarning, action="ignore"):
        # The halves themselves run side by side; an SVM that has not converged after 1,000 steps is judged as it is.
        for contender in CONTENDERS:
            raw = clone(contender.estimator).fit(half.X, half.y).score(half.X_test, half.y_test)
            rows.append(Outcome(texts.name, number, contender.name, "raw", 0.0, 0, raw))
            confusion = out_of_fold_confusion(contender.estimator, half.X, half.y)
            for strength, plan in plans(texts, confusion, strengths):
                space = "lsi" if plan is None else plan.kind.removeprefix("from_")
                for k, accuracy in accuracies(contender, half, plan, dimensions):
                    rows.append(Outcome(texts.name, number, contender.name, space, strength, k, accuracy))
    return rows


def plans(
    texts: LabelledTexts, confusion: Confusion, strengths: Iterable[float]
) -> Iterator[tuple[float, SprinklingPlan | None]]:
    """Yield the plans to compare, all with the same trace at each strength; None is plain LSI."""
    yield 0.0, None
    shapes = [
        SprinklingPlan.uniform(confusion.classes),
        SprinklingPlan.adaptive(confusion, 1),
        SprinklingPlan.contrast(confusion, 1),
    ]
    if texts.order:
        shapes.append(SprinklingPlan.ordinal(texts.order))
    else:
        shapes.append(SprinklingPlan.from_hierarchy(Hierarchy.from_confusion(confusion)))
    for strength in strengths:
        for plan in shapes:
            yield strength, plan.scaled(strength * len(confusion.classes))


def accuracies(
    contender: Contender, half: Half, plan: SprinklingPlan | None, dimensions: Sequence[int]
) -> Iterator[tuple[int, float]]:
    """Yield the accuracy at each dimension, from one decomposition."""
    template = SprinkledLSI(plan=plan, training=contender.training, random_state=0)
    for k, (space, Z) in zip(dimensions, template.nested(half.X, half.y, dimensions), strict=True):
        model = clone(contender.estimator).fit(Z, half.y)
        yield k, model.score(space.transform(half.X_test), half.y_test)


def trade_off(texts: LabelledTexts, strengths: Sequence[float] = TRADE_OFF) -> list[dict[str, Any]]:
    """Return paper 1's figure as numbers: classes separate as sprinkling grows, and the documents get lost.

    One training half, twice as many dimensions as classes, the adaptive plan of cosine neighbours.
    """
    half = next(halves(texts, 1))
    confusion = out_of_fold_confusion(CONTENDERS[0].estimator, half.X, half.y)
    rows, n_classes = [], confusion.n_classes
    for strength in strengths:
        plan = SprinklingPlan.adaptive(confusion, 1).scaled(strength * n_classes) if strength else None
        space = SprinkledLSI(n_components=2 * n_classes, plan=plan, training="reconstructed", random_state=0)
        Z = space.fit_transform(half.X, half.y)
        error = space.reconstruction_error(half.X, Z)
        rows.append({"set": texts.name, "strength": strength, "W/B": separation(Z, half.y), "mean square error": error})
    return rows


def compared(results: pl.DataFrame, space: str, rival: str) -> pl.DataFrame:
    """Return by how much `space` is better than `rival` (mean over halves, 95 % paired t interval).

    Both are taken at the same k; at the same strength where both have one, else the rival as it is.
    """
    keys = ["set", "half", "classifier", "k"] if rival != "raw" else ["set", "half", "classifier"]
    if rival not in ("raw", "lsi"):
        keys.append("strength")
    ours = results.filter(pl.col("space") == space)
    theirs = results.filter(pl.col("space") == rival).select(*keys, rival_accuracy="accuracy")
    paired = ours.join(theirs, on=keys, how="inner")
    difference = (pl.col("accuracy") - pl.col("rival_accuracy")).alias("gain")
    grouped = paired.with_columns(difference).group_by("set", "classifier", "strength", "k", maintain_order=True)
    summary = grouped.agg(
        pl.col("accuracy").mean(), pl.col("rival_accuracy").mean(), pl.col("gain").mean(),
        spread=pl.col("gain").std(), halves=pl.len(),
    )  # fmt: skip
    n_halves = max(int(summary["halves"].max()), 2)  # type: ignore[arg-type]
    width = float(student.ppf(0.975, n_halves - 1)) * pl.col("spread") / pl.col("halves").sqrt()
    return summary.with_columns(low=pl.col("gain") - width, high=pl.col("gain") + width).drop("spread")
