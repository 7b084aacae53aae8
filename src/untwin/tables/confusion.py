"""`Confusion`: how often each class is predicted as each other class.

counts      C x C, sparse: q_ij = rows of true class i that were predicted as class j
classes     C              names, in the order of rows and columns
rates       C x C, sparse: p(i -> j) = q_ij / sum_j q_ij; a class without rows has p(i -> i) = 1
support     C              row sums: rows of true class i
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from untwin._labels import label_array
from untwin._values import class_names, freeze_csr, html_table, join_classes, positions
from untwin.tables import ordinal_measures
from untwin.tables._sparse import cell_rows, move_cells, ratio, same_cells
from untwin.tables.confused_pairs import confused_pairs
from untwin.tables.distances import Metric, row_distances

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars as pl
    from numpy.typing import ArrayLike

    from untwin._types import Array, Floats, Indices

SHOWN_CLASSES = 20


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Confusion:
    """Counts of true x predicted classes; rows are true.

    Parameters
    ----------
    counts : (C, C) array or sparse matrix
        Non-negative and finite; integers stay integers (int64), the mean of folds is float64.
    classes : (C,) names

    Examples
    --------
    >>> confusion = Confusion.from_predictions(["cat", "cat", "dog", "owl"], ["cat", "dog", "dog", "owl"])
    >>> confusion
    Confusion(3 classes, 4 predictions, accuracy 0.7500)
    >>> confusion.toarray()
    array([[1, 1, 0],
           [0, 1, 0],
           [0, 0, 1]])
    >>> confusion.pairs()[["a", "b", "errors"]].tolist()
    [('cat', 'dog', 1)]
    >>> confusion.merged({"pet": ["cat", "dog"]}).accuracy
    1.0
    """

    counts: csr_array
    classes: Array

    def __post_init__(self) -> None:
        counts = self.counts if issparse(self.counts) else np.asarray(self.counts)
        counts = freeze_csr(counts, dtype=np.int64 if counts.dtype.kind in "biu" else np.float64)
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "classes", class_names(self.classes))
        if counts.shape != (self.n_classes, self.n_classes):
            raise ValueError(
                f"counts must be {self.n_classes} x {self.n_classes}, as classes has {self.n_classes} names. "
                f"Got shape {counts.shape} instead."
            )
        if not (np.isfinite(counts.data) & (counts.data > 0)).all():
            raise ValueError("counts must be finite and none below zero. Got a negative, infinite or missing count.")

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Any, *, classes: ArrayLike | None = None) -> Confusion:
        """Return the counts of pairs (true, predicted); `classes` default to all labels that occur, sorted."""
        true, predicted = label_array(y_true), label_array(y_pred)
        if true.ndim != 1 or true.shape != predicted.shape:
            raise ValueError(
                f"y_true and y_pred must be one-dimensional and of equal length. Got shapes {true.shape} "
                f"and {predicted.shape} instead."
            )
        if (true.dtype.kind in "biuf") != (predicted.dtype.kind in "biuf") and true.size:
            raise ValueError(
                f"y_true and y_pred must hold labels of one kind. Got {true.dtype} and {predicted.dtype} instead."
            )
        names = np.union1d(np.unique(true), np.unique(predicted)) if classes is None else class_names(classes)
        return cls.from_codes(positions(true, names), positions(predicted, names), names)

    @classmethod
    def from_codes(cls, true: Indices, predicted: Indices, classes: ArrayLike) -> Confusion:
        """Return the counts of pairs (true, predicted), given as numbers of classes.

        >>> Confusion.from_codes(np.array([0, 0]), np.array([0, 1]), ["ape", "bee"]).counts.toarray().tolist()
        [[1, 1], [0, 0]]
        """
        names = class_names(classes)
        cells = np.ones(len(true), np.int64), (true, predicted)
        return cls(csr_array(cells, shape=(len(names), len(names))), names)

    @classmethod
    def mean(cls, confusions: Iterable[Confusion]) -> Confusion:
        """Return the mean of several confusions (of folds, say); a class that one of them lacks counts zero there."""
        parts = list(confusions)
        if not parts:
            raise ValueError("confusions must hold at least one Confusion. Got none instead.")
        total = reduce(add, parts)
        return cls(csr_array(total.counts / len(parts)), total.classes)

    def __add__(self, other: Confusion) -> Confusion:
        if not isinstance(other, Confusion):
            return NotImplemented
        names = join_classes(self.classes, other.classes)
        return Confusion(self._align(names) + other._align(names), names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Confusion):
            return NotImplemented
        return np.array_equal(self.classes, other.classes) and same_cells(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Confusion({self.n_classes} classes, {self.total:.10g} predictions, accuracy {self.accuracy:.4f})"

    def __reduce__(self) -> tuple[object, ...]:
        return Confusion, (self.counts, self.classes)

    def toarray(self) -> Array:
        """Return the counts as a dense C x C array."""
        return np.asarray(self.counts.toarray())

    @property
    def n_classes(self) -> int:
        """Number of classes C."""
        return len(self.classes)

    @property
    def total(self) -> float:
        """Number of predictions: the sum of all counts."""
        return self.counts.sum().item()

    @property
    def support(self) -> Array:
        """Rows of each true class: the row sums."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def predicted(self) -> Array:
        """How often each class was predicted: the column sums."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def correct(self) -> Array:
        """Rows of each class that were predicted as such: the diagonal."""
        return np.asarray(self.counts.diagonal())

    @property
    def true_negatives(self) -> Array:
        """Predictions that neither come from the class nor name it: total - row - column + diagonal."""
        return np.asarray(self.total - self.support - self.predicted + self.correct)

    @property
    def accuracy(self) -> float:
        """Share of predictions on the diagonal; 0 without predictions."""
        return float(ratio(self.correct.sum(), self.total))

    @property
    def precision(self) -> Floats:
        """Share of the predictions of each class that are right; 0 for a class never predicted."""
        return ratio(self.correct, self.predicted)

    @property
    def recall(self) -> Floats:
        """Share of the rows of each class that are found; 0 for a class without rows."""
        return ratio(self.correct, self.support)

    @property
    def f1(self) -> Floats:
        """Harmonic mean of precision and recall of each class; 0 where neither is defined."""
        return ratio(2 * self.correct, self.support + self.predicted)

    @property
    def macro_f1(self) -> float:
        """Mean F1 over the classes that have rows or predictions, as scikit-learn's `average="macro"`."""
        occurs = self.support + self.predicted > 0
        return float(self.f1[occurs].mean()) if occurs.any() else 0.0

    @property
    def micro_f1(self) -> float:
        """F1 of all classes pooled; with one label a row it is the accuracy."""
        return self.accuracy

    @property
    def rates(self) -> csr_array:
        """Counts divided by their row sums; a class without rows has all of its row on its own diagonal."""
        support = self.support
        shares = csr_array(
            (self.counts.data / support[cell_rows(self.counts)], self.counts.indices, self.counts.indptr),
            shape=self.counts.shape,
        )
        return freeze_csr(shares if support.all() else shares + diags_array((support == 0).astype(float)))

    def mutual_complexity(self, *, normalized: bool = False) -> csr_array:
        """Return the symmetric (p(i -> j) + p(j -> i)) / 2 with zero diagonal (paper 1).

        With `normalized` it is divided by its largest pair; no confusion at all stays zero.
        """
        rates = self.rates
        between = rates - diags_array(rates.diagonal())
        complexity = freeze_csr((between + between.T) / 2)
        if normalized and complexity.nnz:
            return freeze_csr(complexity / complexity.data.max())
        return complexity

    def distances(self, metric: Metric = "l1", *, normalize: bool = True) -> Floats:
        """Return how differently the classes are confused: dense C x C, symmetric, zero diagonal.

        Parameters
        ----------
        metric : {"l1", "l2", "kl", "cosine"}
            Between two rows: sum of absolute differences; *squared* Euclidean distance; symmetric Kullback-Leibler
            divergence KL(p, q) + KL(q, p) in nats, of rows mixed with one per cent of the uniform distribution
            (p = 0.99 row + 0.01 / C), so that a class never predicted costs much but not infinitely much; one minus
            the cosine.
        normalize : bool
            Compare rates (default) or the counts as they are ("kl" compares rates only).
        """
        if metric == "kl" and not normalize:
            raise ValueError('metric="kl" compares distributions. Got normalize=False; leave it True.')
        # Sums are taken in the order of names, so that the order of classes changes no bit and breaks no tie.
        by_name = np.argsort(self.classes, kind="stable")
        named = self if (by_name[1:] > by_name[:-1]).all() else self.reordered(self.classes[by_name])
        found = row_distances(named.rates if normalize else named.counts.astype(np.float64), metric)
        back = np.argsort(by_name)
        return found if named is self else found[np.ix_(back, back)]

    def pairs(self, top: int | None = None) -> Array:
        """Return the confused pairs, most errors first, ties by class name: a record array with these fields.

        `a`, `b` (names, `a` first by name); `a_as_b`, `b_as_a` (errors each way) and `errors` (both); `share` of all
        errors; `rate` = errors / (support of a + support of b), and the ends `low`, `high` of its 95 % Wilson interval.
        """
        return confused_pairs(self.counts, self.classes)[:top]

    def pair_rates(self) -> csr_array:
        """Return the `rate` of `pairs` as a symmetric matrix with zero diagonal."""
        pairs = self.pairs()
        a, b = (positions(pairs[name], self.classes) for name in ("a", "b"))
        ends = np.concatenate([a, b]), np.concatenate([b, a])
        return freeze_csr(csr_array((np.tile(pairs["rate"], 2), ends), shape=self.counts.shape))

    def merged(self, groups: Mapping[Any, Sequence[Any]]) -> Confusion:
        """Return the confusion if each group were one class, named by its key, at the place of its first member.

        A text among numbers as names makes them all text.
        """
        leader = np.arange(self.n_classes)
        names = self.classes.tolist()
        taken = np.zeros(self.n_classes, dtype=bool)
        for name, members in groups.items():
            if len(members) == 0:
                raise ValueError(f"Group {name!r} must have at least one class. Got none instead.")
            places = positions(np.asarray(members), self.classes)
            if taken[places].any():
                raise ValueError(f"A class must be in one group only. Got {names[places[taken[places]][0]]!r} in two.")
            taken[places] = True
            leader[places] = places.min()
            names[places.min()] = name
        kept, to = np.unique(leader, return_inverse=True)
        shape = (len(kept), len(kept))
        return Confusion(move_cells(self.counts, shape, to, to), np.asarray([names[place] for place in kept]))

    def reordered(self, order: ArrayLike) -> Confusion:
        """Return the same confusion with rows and columns in another order of the class names."""
        wanted = class_names(np.asarray(order))
        if len(wanted) != self.n_classes:
            raise ValueError(f"order must name all {self.n_classes} classes once. Got {len(wanted)} names instead.")
        to = np.argsort(positions(wanted, self.classes))
        return Confusion(move_cells(self.counts, self.counts.shape, to, to), wanted)

    @property
    def diagonality(self) -> float:
        """How near to the diagonal the counts lie in the given order: 1 on it, 0 as chance would spread them.

        It is linearly weighted kappa: one minus the mean number of places between true and predicted class, over what
        the same row and column sums give by chance. Fewer errors raise it, and so does an order that puts twins
        next to each other.
        """
        return ordinal_measures.linear_kappa(self.counts)

    def mean_absolute_error(self) -> float:
        """Return the mean number of places between true and predicted class, for classes in the given order."""
        return ordinal_measures.mean_distance(self.counts)

    def quadratic_kappa(self) -> float:
        """Return quadratically weighted kappa, for classes in the given order; 1 when nothing is wrong."""
        return ordinal_measures.quadratic_kappa(self.counts)

    def frame(self) -> pl.DataFrame:
        """Return the non-zero cells as a table: true, predicted, count, rate."""
        import polars as pl

        rows = cell_rows(self.counts)
        names = {"true": self.classes[rows], "predicted": self.classes[self.counts.indices]}
        return pl.DataFrame(names | {"count": self.counts.data, "rate": self.counts.data / self.support[rows]})

    def _repr_html_(self) -> str:
        if self.n_classes <= SHOWN_CLASSES:
            header = ["true \\ predicted", *self.classes.tolist()]
            rows = ([name, *cells] for name, cells in zip(self.classes.tolist(), self.toarray().tolist(), strict=True))
            return f"<p>{self!r}</p>" + html_table(header, rows)
        worst = self.pairs(top=SHOWN_CLASSES)
        return f"<p>{self!r}; most confused pairs:</p>" + html_table(list(worst.dtype.fields or ()), worst.tolist())

    def _align(self, names: Array) -> csr_array:
        to = positions(self.classes, names)
        return move_cells(self.counts, (len(names), len(names)), to, to)
