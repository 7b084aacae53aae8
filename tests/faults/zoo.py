"""Small models of every kind, to be forged: texts, frames, vectors, matrices; every classifier; encoders of users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from untwin.classify.adaptive.sprinkling import AdaptiveSprinkling
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.linear import LinearSVM
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.data.counts import TextCounts
from untwin.data.encode import TableEncoder
from untwin.model import UntwinClassifier
from untwin.model.selection.averages import Averages
from untwin.model.selection.select import Trials
from untwin.represent.scores import ScoreSpace
from untwin.represent.weights import SupervisedWeights

if TYPE_CHECKING:
    from collections.abc import Callable

N_CLASSES, N_ROWS = 4, 48
CODES = np.arange(N_ROWS) % N_CLASSES
LABELS = np.array(["ape", "Bär", "猫", "dog"])[CODES]


def texts(n: int = N_ROWS) -> list[str]:
    rng = np.random.default_rng(0)
    own = [[f"{name}{number}" for name in ("apfel", "bär", "猫", "dog")] for number in range(N_CLASSES)]
    return [
        " ".join([*rng.choice(["one", "two", "three"], 3), *rng.choice(own[row % N_CLASSES], 3)]) for row in range(n)
    ]


def frame(n: int = N_ROWS) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    number = np.arange(n) % N_CLASSES
    price = [None if row == 5 else float(value) for row, value in enumerate(number + rng.normal(size=n) / 9)]
    colour = [None if row == 7 else f"colour {code // 2}" for row, code in enumerate(number)]
    return pl.DataFrame({"text": texts(n), "price": price, "colour": colour})


def with_vectors(n: int = N_ROWS) -> pl.DataFrame:
    return frame(n).with_columns(pl.Series("vector", matrix(n)))


def matrix(n: int = N_ROWS, classes: int = N_CLASSES, noise: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(2)
    return np.abs(noise * rng.normal(size=(n, classes + 5)) + 4 * np.eye(classes + 5)[np.arange(n) % classes])


def packed() -> csr_array:
    return csr_array(matrix().round())


def stacked(rows: Callable[[], Any]) -> Callable[[], tuple[Any, Any]]:
    """Return how to make a model whose stack has won."""

    def made() -> tuple[Any, Any]:
        with (
            patch.object(Trials, "_is_ahead", lambda *given: True),
            patch.object(Trials, "_is_better", lambda *given: True),
            patch.object(Averages, "grow", lambda self: [self._candidates[-1]]),
        ):
            return UntwinClassifier(cv=2).fit(rows(), LABELS).measure(), rows()

    return made


def alone(candidate: Any, rows: Any, y: np.ndarray) -> UntwinClassifier:
    """Return a model whose only member is this classifier."""
    with patch("untwin.model.selection.select.first_stage", lambda now, C: {"alone": candidate}):
        return UntwinClassifier(cv=2).fit(rows, y)


def many(n_classes: int = 12) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(6 * n_classes) % n_classes
    return matrix(len(y), n_classes, noise=2.0), y


def user(encoder: Any, rows: Any) -> UntwinClassifier:
    return UntwinClassifier(preset="fast", cv=2, encoder=encoder).fit(rows, LABELS)


def classifier(candidate: Any) -> Callable[[], tuple[Any, Any]]:
    return lambda: (alone(candidate, matrix(noise=3.0), CODES), matrix(noise=3.0))


def preset(name: str, rows: Callable[[], Any]) -> Callable[[], tuple[Any, Any]]:
    return lambda: (UntwinClassifier(preset=name, cv=2, target_error=0.1).fit(rows(), LABELS).measure(), rows())


MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "texts": preset("fast", texts),
    "frame": preset("fast", frame),
    "matrix": preset("fast", packed),
    "vectors": preset("balanced", matrix),
    "best": preset("best", packed),
    "stack of texts": stacked(texts),
    "stack of frame": stacked(frame),
    "stack of matrix": stacked(packed),
    "levels": lambda: (alone(MultiLevelClassifier(cv=2), *many()), many()[0]),
    "graph": classifier(ConfusionGraphClassifier(cv=2, threshold=0.0)),
    "verify": classifier(ConfusionGraphClassifier(cv=2, threshold=0.0, approach="verify", candidates=None)),
    "subgraphs": classifier(ConfusionGraphClassifier(cv=2, threshold=0.0, candidates=None)),
    "latent": classifier(LatentClassClassifier()),
    "neighbours": classifier(AdaptiveSprinkling(KNNClassifier(), cv=2)),
    "packed neighbours": lambda: (alone(AdaptiveSprinkling(KNNClassifier(), cv=2), packed(), CODES), packed()),
    "score space": classifier(AdaptiveSprinkling(LinearSVM(), scores=ScoreSpace(LinearSVM()), cv=2)),
    "columns": lambda: (
        user(TableEncoder(text=["text"], nominal=["colour"], dense=["vector"]), with_vectors()),
        with_vectors(),
    ),
    "weights": lambda: (
        user(make_pipeline(TextCounts(), SupervisedWeights(scheme="chi2", select=20)), texts()),
        texts(),
    ),
    "tf-idf": lambda: (user(make_pipeline(TextCounts(), TfidfTransformer()), texts()), texts()),
    "scaled": lambda: (user(StandardScaler(), matrix()), matrix()),
}
ROWS: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("texts", "stack of texts", "weights", "tf-idf"), texts),
    **dict.fromkeys(("frame", "stack of frame"), frame),
    **dict.fromkeys(("matrix", "best", "stack of matrix", "packed neighbours"), packed),
    **dict.fromkeys(("graph", "verify", "subgraphs", "latent", "neighbours", "score space"), lambda: matrix(noise=3.0)),
    **dict.fromkeys(("vectors", "scaled"), matrix),
    "columns": with_vectors,
    "levels": lambda: many()[0],
}
