"""What sprinkling does to a space, measured while a model is fitted: the curves that its report shows.

Glossary
--------
part        rows to learn from and held-out rows of one fold, in the terms that explain answers
plan        adaptive, from the out-of-fold answers to the rows of the other folds
k           dimensions of a space
separation  scatter of documents within classes over that between classes (`represent.analysis`)
error       share of the documents' sum of squares that the space loses

Neighbours judge the spaces, since a space is for neighbours. Two folds of a sample are enough to see the shape of a
curve; nothing here decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import csr_array

from untwin._compat import rows_of
from untwin._progress import report
from untwin.classify.adaptive.spaces import SpaceSpec
from untwin.classify.knn.classifier import KNNClassifier
from untwin.linalg.blocks import squared_length
from untwin.model.features.view import apply_preprocessing
from untwin.model.selection.sampling import stratified_sample
from untwin.represent.analysis import scatter
from untwin.represent.learnt import one_thread
from untwin.represent.sprinkle import SprinkledLSI
from untwin.tables.confusion import Confusion
from untwin.tables.contingency import Contingency

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin._types import Array
    from untwin.model.state import FittedState

MOST_ROWS = 2_000
FOLDS = 2  # of those that the candidates shared
DIMENSIONS = (5, 10, 20, 50, 100)
STRENGTH = 0.5  # of the sprinkled curve; see `adapt.spaces`
STRENGTHS = (0.0, 0.1, 0.25, STRENGTH, 1.0)
NEIGHBOURS = 10
PAIRS = 3  # the most confused ones, whose telling terms are looked up in both spaces
SIMILAR = 5
SEED = 0


@dataclass(frozen=True, slots=True)
class SimilarTerms:
    """A term, and the terms nearest to it in the plain and in the sprinkled space."""

    term: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SpaceCurves:
    """Accuracy of neighbours by dimension; separation and error by strength; similar terms; two confusions.

    A strength that leaves all documents alike has no point, as in a table whose columns say nothing about the classes.
    `before` is the confusion of neighbours among plain rows, `after` that in the sprinkled space of `n_components`.
    """

    n_rows: int
    raw: float
    dimensions: tuple[int, ...]
    lsi: tuple[float, ...]
    sprinkled: tuple[float, ...]
    n_components: int
    strengths: tuple[float, ...]
    separation: tuple[float, ...]
    error: tuple[float, ...]
    similar: tuple[SimilarTerms, ...]
    before: Confusion
    after: Confusion

    def __post_init__(self) -> None:
        by_dimension, by_strength = (self.lsi, self.sprinkled), (self.separation, self.error)
        for at, curves in ((self.dimensions, by_dimension), (self.strengths, by_strength)):
            if any(len(curve) != len(at) or not np.isfinite(curve).all() for curve in curves):
                raise ValueError(f"A curve must have a finite number for each of {len(at)} points. Got others instead.")
        if min(self.dimensions, default=0) < 1:
            raise ValueError("dimensions must hold positive numbers. Got others instead.")


class Part(NamedTuple):
    """Rows to learn from, rows to judge by, and the confusion that the plan comes from."""

    X: Any
    y: Array
    X_held: Any
    y_held: Array
    confusion: Confusion
    names: Array | None

    def space(self, strength: float, k: int) -> SprinkledLSI:
        """Return an untrained space; strength 0 is plain LSI."""
        plan = SpaceSpec("adaptive", strength, relative=True).plan(self.X, self.confusion) if strength else None
        return SprinkledLSI(n_components=k, plan=plan, training="reconstructed", random_state=SEED)

    def confusion_of_neighbours(self, rows: Any, held: Any) -> Confusion:
        """Return the confusion of neighbours among rows that stand for X and X_held."""
        said = KNNClassifier(n_neighbors=min(NEIGHBOURS, len(self.y))).fit(rows, self.y).predict(held)
        return Confusion.from_predictions(self.y_held, said, classes=self.confusion.classes)


def space_curves(known: FittedState) -> SpaceCurves | None:
    """Measure the curves on a sample of the rows; None for fewer than two folds, and for empty or boundless rows."""
    if len(np.unique(known.answers.folds[known.answers.held])) < FOLDS:
        return None
    with catch_warnings(), one_thread():
        simplefilter("ignore")  # a space that finds fewer directions than asked for is no news here
        parts = list(_parts(known))
        telling = all(0 < squared_length(rows) < np.inf for part in parts for rows in (part.X, part.X_held))
        return _measure(parts) if telling else None


def _parts(known: FittedState) -> Iterator[Part]:
    answers, view = known.answers, known.view
    labels = answers.y
    sample = stratified_sample(answers.true, MOST_ROWS, SEED)
    for fold in np.unique(answers.folds[answers.held])[:FOLDS]:
        train, held = sample[answers.folds[sample] != fold], sample[answers.folds[sample] == fold]
        learnt = view.take(answers.rows[train])
        preprocessing, prepared = learnt.prepare(labels[train])
        asked = apply_preprocessing(preprocessing, rows_of(view.rows, answers.rows[held]))
        X, names = view.readable_terms(prepared, preprocessing)
        X_held, _ = view.readable_terms(asked, preprocessing)
        confusion = answers.confusion_of(answers.held & (answers.folds != fold))
        # single precision: enough for a curve, and fast
        yield Part(X.astype(np.float32), labels[train], X_held.astype(np.float32), labels[held], confusion, names)


def _measure(parts: list[Part]) -> SpaceCurves:
    most = min(min(part.X.shape) for part in parts)
    dimensions = sorted({min(k, most) for k in DIMENSIONS})
    n_classes = parts[0].confusion.n_classes
    settled = next((k for k in dimensions if k >= n_classes), dimensions[-1])
    lsi, sprinkled = (_by_dimension(parts, strength, dimensions) for strength in (0.0, STRENGTH))
    before = reduce(add, (part.confusion_of_neighbours(part.X, part.X_held) for part in parts))
    after = sprinkled[dimensions.index(settled)]
    report("curves", 3, 4)
    spaces = {strength: parts[0].space(strength, settled).fit(parts[0].X, parts[0].y) for strength in STRENGTHS}
    points = list(_by_strength(parts[0], spaces))
    report("curves", 4, 4)
    return SpaceCurves(
        n_rows=int(before.total),
        raw=before.accuracy,
        dimensions=tuple(dimensions),
        lsi=tuple(confusion.accuracy for confusion in lsi),
        sprinkled=tuple(confusion.accuracy for confusion in sprinkled),
        n_components=settled,
        strengths=tuple(point.strength for point in points),
        separation=tuple(point.separation for point in points),
        error=tuple(point.error for point in points),
        similar=tuple(_similar(parts[0], spaces[0.0], spaces[STRENGTH])),
        before=before,
        after=after,
    )


def _by_dimension(parts: list[Part], strength: float, dimensions: list[int]) -> list[Confusion]:
    """Return the confusion at each dimension, all parts together."""
    found = []
    for part in parts:
        template = part.space(strength, max(dimensions))
        nested = template.nested(part.X, part.y, dimensions)
        found.append([part.confusion_of_neighbours(Z, space.transform(part.X_held)) for space, Z in nested])
    report("curves", 1 if strength == 0 else 2, 4)
    return [reduce(add, confusions) for confusions in zip(*found, strict=True)]


class Point(NamedTuple):
    """What one strength of sprinkling does."""

    strength: float
    separation: float
    error: float


def _by_strength(part: Part, spaces: dict[float, SprinkledLSI]) -> Iterator[Point]:
    """Yield what each strength does; a space that sees no difference between any two classes has no separation."""
    for strength, space in spaces.items():
        Z = space.documents()
        within, between = scatter(Z, part.y)
        if between:
            yield Point(strength, within / between, _lost(space, part.X, Z))


def _lost(space: SprinkledLSI, X: Any, Z: Array) -> float:
    return float(space.reconstruction_error(X, Z) * X.shape[0] * X.shape[1] / squared_length(X))


def _similar(part: Part, *spaces: SprinkledLSI) -> Iterator[SimilarTerms]:
    """Yield terms that tell the most confused classes apart, with their company in both spaces."""
    if part.names is None:
        return
    present = csr_array(part.X != 0).astype(np.int64)
    table = Contingency.from_counts(present, part.y, classes=part.confusion.classes, terms=part.names)
    pairs = part.confusion.pairs(PAIRS)
    both = [
        side for a, b in zip(pairs["a"].tolist(), pairs["b"].tolist(), strict=True) for side in table.between(a, b, 1)
    ]
    for term in dict.fromkeys(str(found.term) for side in both for found in side):
        near = [[str(name) for name, _ in space.similar_terms(term, SIMILAR, names=part.names)] for space in spaces]
        yield SimilarTerms(term, tuple(near[0]), tuple(near[1]))
