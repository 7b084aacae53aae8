"""The candidates: named, untrained classifiers of prepared rows, and which of them suit which data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from untwin.classify.centroids import CentroidClassifier
from untwin.classify.linear import LinearSVM, LogisticModel, NaiveBayes
from untwin.classify.linear.newton import nearly_dense
from untwin.model.learning import FOLD_PASSES

if TYPE_CHECKING:
    from collections.abc import Iterator

SVM, LOGISTIC, STACK = "linear SVM", "logistic regression", "stack"
LONGEST = 2.0  # length of rows that are learnt in a few passes
NARROW = 500  # columns of longer rows that are learnt as if they were dense, which is exact and takes less time
TOLERANCE = 0.05  # of the SVM: violations of the optimum's conditions that are left alone
FEW_CLASSES = 50  # up to which naive Bayes compares rows with the complements of the classes
MANY_CLASSES = 50  # from here on groups of classes are worth a try
MOST_LOGISTIC = 100_000_000  # numbers x classes beyond which logistic regression takes minutes
LOOSER = 10.0  # C of logistic regression relative to the SVM's, for rows of length one: its loss never reaches zero
INNER_FOLDS = 3  # of candidates that cross-validate inside the shared folds


@dataclass(frozen=True, slots=True)
class DataProfile:
    """The properties of prepared rows, and the user's settings, that decide which candidates to try."""

    n_numbers: int
    n_classes: int
    sparse: bool
    unit_rows: bool
    non_negative: bool
    seed: int
    n_threads: int = 1
    short_rows: bool = True
    n_columns: int = 0

    @classmethod
    def of(cls, rows: Any, n_classes: int, **settings: Any) -> DataProfile:
        """Return the profile of prepared rows; `settings` are the other fields."""
        stored: bool = issparse(rows)
        numbers = rows.data if stored else np.asarray(rows)
        lengths = row_norms(rows)
        return cls(
            n_numbers=numbers.size,
            n_columns=rows.shape[1],
            short_rows=bool(lengths.max(initial=0.0) <= LONGEST),
            n_classes=n_classes,
            sparse=not nearly_dense(rows),
            unit_rows=bool(np.allclose(lengths, 1.0, atol=1e-3)),
            non_negative=bool(numbers.min(initial=0) >= 0),
            **settings,
        )


def linear_svm(now: DataProfile, C: float, *, resumable: bool = False) -> LinearSVM:
    """Return the linear SVM: a few passes over short rows, but all that it takes over long ones.

    Terms of texts have weights such that a row has about length one. Rows of a table are longer, and their columns go
    together: six passes over those of `letter` (bench) are right in .75 of the test rows, the optimum in .87.
    """
    how: dict[str, Any] = {"C": C, "tol": TOLERANCE, "random_state": now.seed, "resumable": resumable}
    if now.short_rows:
        return LinearSVM(passes=FOLD_PASSES, **how)
    return LinearSVM(passes=None, solver="newton" if now.n_columns <= NARROW else "auto", **how)


def first_stage(now: DataProfile, C: float) -> dict[str, Any]:
    """Return the quick candidates, the linear SVM first; the stack learns from all of them."""
    models: dict[str, Any] = {SVM: linear_svm(now, C, resumable=True)}
    if now.non_negative:
        models["naive Bayes"] = NaiveBayes(complement=now.n_classes <= FEW_CLASSES)
    if not now.sparse and now.n_numbers * now.n_classes <= MOST_LOGISTIC:
        models[LOGISTIC] = LogisticModel(C=LOOSER * C if now.unit_rows else C)
    models["centroids"] = CentroidClassifier()
    return models


def slow_candidates(now: DataProfile, C: float) -> Iterator[tuple[str, Any]]:
    """Yield the candidates of the preset "best", the quicker ones first: experts, groups, and the papers' spaces."""
    from untwin.classify.adaptive.spaces import LARGEST, SMALLEST  # slow to load, and needed here only
    from untwin.classify.adaptive.sprinkling import AdaptiveSprinkling
    from untwin.classify.graph.classifier import ConfusionGraphClassifier
    from untwin.classify.knn.classifier import KNNClassifier
    from untwin.classify.latent.classes import LatentClassClassifier
    from untwin.classify.multilevel.classifier import MultiLevelClassifier
    from untwin.represent.scores import ScoreSpace

    seed = now.seed
    svm = linear_svm(now, C)
    yield "confusion graph", ConfusionGraphClassifier(expert=svm, cv=INNER_FOLDS, random_state=seed)
    if now.n_classes >= MANY_CLASSES:
        yield "multi-level", MultiLevelClassifier(cv=None, random_state=seed)
    if now.non_negative:
        yield "class space (LSI_ac)", LatentClassClassifier()
    space: dict[str, Any] = {"n_components": min(max(now.n_classes, SMALLEST), LARGEST), "cv": 2, "random_state": seed}
    scores = ScoreSpace(svm, cv=INNER_FOLDS, random_state=seed)
    yield "neighbours in the adaptive space", AdaptiveSprinkling(KNNClassifier(), scores=scores, **space)
    yield "sprinkled SVM", AdaptiveSprinkling(svm, **space)
