"""`ConfusionGraph`: which classes are confused often enough to need an expert (paper 2).

Glossary
--------
t        threshold: the share of a class's documents above which its confusion counts.
I        C x C incidence, sparse: I_ji = share of class i that is predicted as j, where it is more than t (else 0).
         Row j holds the classes to check when the base classifier says j: the neighbours of j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.sparse import coo_array, csr_array

from untwin._values import class_names, freeze_csr, html_table, positions

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from untwin._types import Array, Indices
    from untwin.tables.confusion import Confusion

THRESHOLDS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
SHOWN_EDGES = 20


class Edge(NamedTuple):
    """`weight` is the share of the documents of class `true` that the base classifier calls `predicted`."""

    predicted: Any
    true: Any
    weight: float


class ThresholdRow(NamedTuple):
    """What a threshold gives: the size of the graph, which is the price, and the accuracy it leaves possible."""

    threshold: float
    n_edges: int
    largest_degree: int
    mean_degree: float
    upper_bound: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfusionGraph:
    """A weighted directed graph of classes; make one with `from_confusion`.

    Attributes
    ----------
    incidence : csr_array of shape (C, C)
        Row: predicted class, column: true class, value: share of the true class's documents.
    classes : array of shape (C,)
    threshold : float

    Examples
    --------
    >>> from untwin.tables.confusion import Confusion
    >>> confusion = Confusion([[8, 2, 0], [3, 6, 1], [0, 0, 10]], ["cat", "lynx", "tram"])
    >>> graph = ConfusionGraph.from_confusion(confusion, 0.15)
    >>> graph
    ConfusionGraph(3 classes, 2 edges above 0.15)
    >>> graph.edges
    [Edge(predicted='cat', true='lynx', weight=0.3), Edge(predicted='lynx', true='cat', weight=0.2)]
    >>> graph.neighbours("cat")
    ('lynx',)
    >>> round(confusion.accuracy, 3), round(graph.upper_bound(confusion), 3)
    (0.8, 0.967)
    """

    incidence: csr_array
    classes: Array
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", class_names(self.classes))
        object.__setattr__(self, "incidence", freeze_csr(self.incidence, dtype=np.float64))
        if self.incidence.shape != (len(self.classes), len(self.classes)):
            raise ValueError(
                f"incidence must be C x C for {len(self.classes)} classes. Got {self.incidence.shape} instead."
            )

    @classmethod
    def from_confusion(cls, confusion: Confusion, threshold: float) -> Self:
        """Put an edge j -> i where class i is predicted as j in more than a share `threshold` of i's documents.

        The confusion should be out of fold: on its own training documents a classifier hides what it confuses.
        """
        if not 0 <= threshold < 1:
            raise ValueError(f"threshold must be a share from 0 to below 1. Got {threshold!r} instead.")
        rates = confusion.rates.tocoo()
        true, predicted = rates.coords
        kept = (rates.data > threshold) & (true != predicted)
        cells = (rates.data[kept], (predicted[kept], true[kept]))
        return cls(csr_array(coo_array(cells, shape=rates.shape)), confusion.classes, float(threshold))

    @staticmethod
    def sweep(confusion: Confusion, thresholds: Iterable[float] | None = None) -> list[ThresholdRow]:
        """Return graph size and accuracy bound for each threshold; `polars.DataFrame(rows)` makes it a table."""
        chosen = THRESHOLDS if thresholds is None else thresholds
        graphs = [ConfusionGraph.from_confusion(confusion, threshold) for threshold in chosen]
        return [
            ThresholdRow(
                g.threshold, g.incidence.nnz, int(g.degrees.max()), float(g.degrees.mean()), g.upper_bound(confusion)
            )
            for g in graphs
        ]

    @property
    def degrees(self) -> Indices:
        """Number of neighbours of each class: the experts that are used when the base classifier predicts it."""
        return np.diff(self.incidence.indptr).astype(np.intp)

    @property
    def edges(self) -> list[Edge]:
        """All edges, the heaviest first, equal ones by name."""
        cells = self.incidence.tocoo()
        predicted, true = (self.classes[place] for place in cells.coords)
        best = np.lexsort([true, predicted, -cells.data])
        rows = zip(predicted[best].tolist(), true[best].tolist(), cells.data[best].tolist(), strict=True)
        return [Edge(*row) for row in rows]

    def neighbours(self, cls: Any) -> tuple[Any, ...]:
        """Return the classes that are often mistaken for `cls`, the heaviest edge first, equal ones by name."""
        row = positions([cls], self.classes)[0]
        cells = slice(*self.incidence.indptr[row : row + 2])
        names = self.classes[self.incidence.indices[cells]]
        return tuple(names[np.lexsort([names, -self.incidence.data[cells]])].tolist())

    def upper_bound(self, confusion: Confusion) -> float:
        """Return the accuracy that perfect experts would reach on the base classifier that made `confusion`.

        A document is safe if it is predicted right, and can be saved if its predicted class has an edge to its true
        one. Classes that the graph does not know have no edges.
        """
        known = np.isin(confusion.classes, self.classes)
        here = positions(confusion.classes[known], self.classes)
        reachable = self.incidence[here][:, here].T > 0
        saved = confusion.counts[known][:, known].multiply(reachable).sum()
        return float((confusion.counts.diagonal().sum() + saved) / (confusion.total or 1))

    def frame(self) -> pl.DataFrame:
        """Return one row an edge: predicted, true, weight."""
        import polars as pl

        return pl.DataFrame(self.edges, schema=Edge._fields, orient="row")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfusionGraph):
            return NotImplemented
        same = self.threshold == other.threshold and np.array_equal(self.classes, other.classes)
        return same and (self.incidence - other.incidence).count_nonzero() == 0

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.incidence, self.classes, self.threshold)

    def __repr__(self) -> str:
        return f"ConfusionGraph({len(self.classes)} classes, {self.incidence.nnz} edges above {self.threshold:g})"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}; heaviest edges:</p>" + html_table(Edge._fields, self.edges[:SHOWN_EDGES])
