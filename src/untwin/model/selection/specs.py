"""The candidates: named, untrained classifiers, and which of them a preset tries on which data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline

from untwin.classify.adaptive.spaces import LARGEST, SMALLEST
from untwin.classify.adaptive.sprinkling import AdaptiveSprinkling
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.linear import LinearSVM, LogisticModel, NaiveBayes
from untwin.classify.linear.newton import nearly_dense
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.represent.scores import ScoreSpace
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from untwin._types import Indices
    from untwin.model.features.view import View

BASELINE, LOGISTIC = "linear SVM", "logistic regression"
FEW_CLASSES = 30  # up to here solving class by class is as fast as all classes at once
MANY_CLASSES = 50  # from here on groups of classes save time or errors
# Stored numbers x classes, for sparse rows (True) and others, beyond which an SVM trained class by class takes minutes.
# Dense rows are worth the wait: training all classes at once is less accurate on them.
MOST_WORK = {True: 200_000_000, False: 3_000_000_000}
MANY_ROWS = 100_000  # from here on comparing all rows with all takes minutes
LOOSER = 10.0  # C of logistic regression relative to the SVM's, for rows of length one: its loss never reaches zero
PASSES = 10  # of the SVM trained on all classes at once: its default on many sparse rows, three, is too few
INNER_FOLDS = 3  # of candidates that cross-validate inside the shared folds


@dataclass(frozen=True, slots=True)
class CandidateSpec:
    """A name, an untrained classifier, and how to run it.

    `weighted`: it takes weights rather than counts. `screened`: it is slow, and must first do well on a sample.
    `second`: it uses the second view of the rows. `sure`: a linear model so likely to be chosen that it is trained on
    all rows together with the folds. `light`: training takes less time than sending its rows to another process.
    """

    name: str
    classifier: Any
    weighted: bool = True
    screened: bool = False
    second: bool = False
    sure: bool = False
    light: bool = False


@dataclass(frozen=True, slots=True)
class DataProfile:
    """The properties of the data, and the user's settings, that decide which candidates to try."""

    preset: str
    n_rows: int
    n_numbers: int
    n_classes: int
    sparse: bool
    unit_rows: bool
    non_negative: bool
    second_view: str
    order: tuple[Any, ...] | None
    random_state: int
    C: float = 1.0

    @classmethod
    def of(cls, views: Sequence[View], codes: Indices, **settled: Any) -> DataProfile:
        """Return the profile of these views and classes; `settled` holds the other fields."""
        first, *others = views
        return cls(
            n_rows=len(codes),
            n_classes=int(codes.max()) + 1,
            n_numbers=first.n_numbers,
            sparse=bool(first.text_columns) or not nearly_dense(first.rows),
            unit_rows=first.unit_rows,
            non_negative=_non_negative(first.rows),
            second_view=others[0].name if others else "",
            **settled,
        )

    @property
    def much_work(self) -> bool:
        """Whether an SVM trained class by class would take minutes."""
        return _much_work(self.n_numbers, self.n_classes, sparse=self.sparse)

    @property
    def dense_and_small(self) -> bool:
        """Whether logistic regression is about as fast and as good as the SVM, with different errors."""
        return not (self.sparse or self.much_work)

    @property
    def slow_ones_too(self) -> bool:
        """Whether to try candidates many times slower than an SVM: if that is still short, or with preset "best"."""
        return self.preset == "best" or not (self.much_work or self.n_rows > MANY_ROWS)

    @property
    def groups_pay(self) -> bool:
        """Whether there are so many classes that predicting groups of classes first helps."""
        return self.n_classes >= MANY_CLASSES


def linear_svm(view: View, n_classes: int) -> Any:
    """Return the SVM (C = 1) that compares encodings on a sample of the rows."""
    if _much_work(view.n_numbers, n_classes, sparse=view.sparse):
        return LinearSVM()
    return _class_by_class(1.0, view)


def baseline(now: DataProfile) -> Any:
    """Return the linear SVM that all other candidates are compared with."""
    if now.much_work:
        return LinearSVM(C=now.C, random_state=now.random_state)
    return _class_by_class(now.C, now, now.random_state)


def candidate_specs(now: DataProfile) -> list[CandidateSpec]:
    """Return the candidates to try, the baseline first, simple ones before complex ones."""
    specs = [CandidateSpec(BASELINE, baseline(now), sure=now.preset == "fast"), *_quick(now), *_on_second_view(now)]
    if now.preset != "fast" and now.slow_ones_too:
        specs += _slow(now)
    if now.preset == "best":
        specs += _best(now)
    return specs


def _non_negative(rows: Any) -> bool:
    """Tell whether rows hold no negative number, so that naive Bayes and class sums can use them."""
    sparse: bool = issparse(rows)
    cells = rows.data if sparse else rows
    return not isinstance(cells, np.ndarray) or cells.size == 0 or bool(cells.min() >= 0)


def _much_work(n_numbers: int, n_classes: int, *, sparse: bool) -> bool:
    return n_numbers * n_classes > MOST_WORK[sparse]


def _class_by_class(C: float, seen: View | DataProfile, random_state: int = 0) -> LinearSVM:
    """Return the plain linear SVM; for rows of length one by the dual solver, up to nine times as fast."""
    return LinearSVM(C=C, tol=1e-2, random_state=random_state)


def _quick_svm(now: DataProfile) -> Any:
    """Return the linear SVM that trains fastest for this number of classes, for candidates that train it many times."""
    if now.n_classes <= FEW_CLASSES:
        return _class_by_class(now.C, now, now.random_state)
    return LinearSVM(random_state=now.random_state)


def _quick(now: DataProfile) -> Iterator[CandidateSpec]:
    """Yield candidates that cost little compared with the baseline."""
    if now.non_negative:
        yield CandidateSpec("naive Bayes", NaiveBayes(), light=True)
    else:
        yield CandidateSpec("centroids", CentroidClassifier(), light=True)
    if now.dense_and_small:
        yield CandidateSpec(LOGISTIC, _logistic(now))
    if now.groups_pay and (now.much_work or now.preset != "fast"):
        yield CandidateSpec("multi-level", _groups(now))


def _logistic(now: DataProfile) -> LogisticModel:
    return LogisticModel(C=LOOSER * now.C if now.unit_rows else now.C)


def _groups(now: DataProfile) -> MultiLevelClassifier:
    return MultiLevelClassifier(cv=None, random_state=now.random_state)


def _on_second_view(now: DataProfile) -> Iterator[CandidateSpec]:
    if now.second_view:
        name, model = ("multi-level", _groups(now)) if now.much_work and now.groups_pay else (BASELINE, baseline(now))
        yield CandidateSpec(f"{name} on {now.second_view}", model, second=True)
        if now.dense_and_small:
            yield CandidateSpec(f"{LOGISTIC} on {now.second_view}", _logistic(now), second=True)


def _slow(now: DataProfile) -> Iterator[CandidateSpec]:
    """Yield candidates whose time grows with classes^3 or rows^2, or that train a classifier many times."""
    if now.non_negative:
        yield CandidateSpec("class space (LSI_ac)", LatentClassClassifier(), weighted=False, screened=True)
    expert = _class_by_class(1.0, now, now.random_state)
    graph = ConfusionGraphClassifier(expert=expert, cv=INNER_FOLDS, random_state=now.random_state)
    yield CandidateSpec("confusion graph", graph, screened=True)
    space = ScoreSpace(_quick_svm(now), cv=INNER_FOLDS, random_state=now.random_state)
    neighbours = make_pipeline(space, KNNClassifier(n_neighbors=20, order=now.order))
    yield CandidateSpec("neighbours in the score space", neighbours, screened=True)


def _best(now: DataProfile) -> Iterator[CandidateSpec]:
    svm, seed = _quick_svm(now), now.random_state
    scores = ScoreSpace(svm, cv=INNER_FOLDS, random_state=seed)
    plan: Any = "adaptive" if now.order is None else SprinklingPlan.ordinal(list(now.order))
    space = {"plan": plan, "n_components": min(max(now.n_classes, SMALLEST), LARGEST), "cv": 2, "random_state": seed}
    neighbours = AdaptiveSprinkling(KNNClassifier(order=now.order), scores=scores, **space)
    yield CandidateSpec("neighbours in the adaptive space", neighbours, screened=True)
    yield CandidateSpec("sprinkled SVM", AdaptiveSprinkling(svm, **space), screened=True)
