"""The candidates: named recipes for a classifier, and which of them a preset tries on which data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline

from untwin.classify.adaptive.spaces import LARGEST, SMALLEST
from untwin.classify.adaptive.sprinkling import AdaptiveSprinkling
from untwin.classify.batches import BatchLinearSVC
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.linear import ComplementBayes, LinearSVM, LogisticModel
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.classify.newton import nearly_dense
from untwin.represent.scores import ScoreSpace
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from untwin.model.features.view import View

BASELINE, LOGISTIC = "linear SVM", "logistic regression"
FEW_CLASSES = 30  # up to here solving class by class is as fast as all classes at once
MANY_CLASSES = 50  # from here on groups of classes pay
# Numbers x classes, of sparse rows (True) and of others, beyond which an SVM learnt class by class takes minutes. Dense
# rows are worth the wait: learning all classes at once suits them less.
MOST_WORK = {True: 200_000_000, False: 3_000_000_000}
MANY_ROWS = 100_000  # from here on comparing all rows with all takes minutes
LOOSER = 10.0  # C of logistic regression, whose loss never ends, against the SVM's; longer rows need no more
PASSES = 10  # of the SVM that learns all classes at once: three, its default on many sparse rows, are few to answer by
INNER_FOLDS = 3  # of candidates that need folds of their own inside the shared ones


@dataclass(frozen=True, slots=True)
class CandidateSpec:
    """A name, an untrained classifier, and how it is to be taken.

    `weighted`: it takes weights rather than counts. `screened`: so slow that it must first prove itself on a sample.
    `second`: it looks at the second view of the rows. `sure`: a linear model so likely to win that it is
    trained on all rows at once. `light`: learnt faster than its rows are handed to another process.
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
    """What decides which recipes make sense."""

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
    def of(cls, views: Sequence[View], codes: NDArray[np.intp], **settled: Any) -> DataProfile:
        """Return the situation of these views of rows and of their classes; the other fields are `settled` already."""
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
        """Whether an SVM learnt class by class would take minutes."""
        return _much_work(self.n_numbers, self.n_classes, sparse=self.sparse)

    @property
    def dense_and_small(self) -> bool:
        """Whether logistic regression, with other errors than the SVM's, is about as fast and as good."""
        return not (self.sparse or self.much_work)

    @property
    def slow_ones_too(self) -> bool:
        """Whether to try what takes many times as long as an SVM: where that is short, or time does not matter."""
        return self.preset == "best" or not (self.much_work or self.n_rows > MANY_ROWS)

    @property
    def groups_pay(self) -> bool:
        """Whether classes are so many that groups of them are told apart first."""
        return self.n_classes >= MANY_CLASSES


def linear_svm(view: View, n_classes: int) -> Any:
    """Return the SVM by which ways to see a sample of the rows are compared, at C = 1."""
    if _much_work(view.n_numbers, n_classes, sparse=view.sparse):
        return BatchLinearSVC()
    return _class_by_class(1.0, view)


def baseline(now: DataProfile) -> Any:
    """Return the linear SVM that all others are compared with."""
    if now.much_work:
        passes = PASSES if now.sparse and not now.groups_pay else None  # by groups, more is learnt in less time
        return BatchLinearSVC(C=now.C, passes=passes, random_state=now.random_state)
    return _class_by_class(now.C, now, now.random_state)


def candidate_specs(now: DataProfile) -> list[CandidateSpec]:
    """Return what to try, the baseline first and the simple before the elaborate."""
    specs = [CandidateSpec(BASELINE, baseline(now), sure=now.preset == "fast"), *_quick(now), *_on_second_view(now)]
    if now.preset != "fast" and now.slow_ones_too:
        specs += _slow(now)
    if now.preset == "best":
        specs += _best(now)
    return specs


def _non_negative(rows: Any) -> bool:
    """Tell whether naive Bayes and class sums, which count, can take these rows."""
    sparse: bool = issparse(rows)
    cells = rows.data if sparse else rows
    return not isinstance(cells, np.ndarray) or cells.size == 0 or bool(cells.min() >= 0)


def _much_work(n_numbers: int, n_classes: int, *, sparse: bool) -> bool:
    return n_numbers * n_classes > MOST_WORK[sparse]


def _class_by_class(C: float, seen: View | DataProfile, random_state: int = 0) -> LinearSVM:
    """Return the plain linear SVM; of sparse rows of length one it is learnt row by row, up to nine times as fast."""
    return LinearSVM(C=C, tol=1e-2, dual=True if seen.unit_rows else "auto", random_state=random_state)


def _quick_svm(now: DataProfile) -> Any:
    """Return the linear SVM that is trained fastest for so many classes, by those that train it again and again."""
    if now.n_classes <= FEW_CLASSES:
        return _class_by_class(now.C, now, now.random_state)
    return BatchLinearSVC(random_state=now.random_state)  # it stops early, where another C than 1 only harms


def _quick(now: DataProfile) -> Iterator[CandidateSpec]:
    """Yield what costs little beside the baseline."""
    if now.non_negative:
        yield CandidateSpec("naive Bayes", ComplementBayes(alpha=0.3), light=True)
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
    """Yield what takes the cube of the classes or the square of the rows, or trains a classifier again and again."""
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
