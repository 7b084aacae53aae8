"""View 3: the confusion matrix, only its non-zero cells, in three orders, before and after sprinkling.

Glossary
--------
node    what a line of the matrix stands for: a class, or a group of the tree where classes are more than 1,000
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from untwin.report.record import Record, table
from untwin.structure.drawing import prune

if TYPE_CHECKING:
    import polars as pl

    from untwin._types import Indices
    from untwin.report.study import Study
    from untwin.tables.confusion import Confusion

MOST_LINES = 1_000


@dataclass(frozen=True)
class ConfusionCells(Record):
    """The non-zero cells of one confusion; `title` says whose."""

    title: str
    errors: int
    true: tuple[int, ...]
    predicted: tuple[int, ...]
    count: tuple[int, ...]


@dataclass(frozen=True)
class Matrix(Record):
    """Lines, their orders and blocks, the tree at their side, and the cells.

    `node_of` has the line of each class; `merges` and `heights` are a tree over the lines as in SciPy; `blocks` are
    numbers of lines in tree order, `block_names` what they are called. `layers` hold the model's own confusion and,
    where the model keeps it, that of neighbours before and after adaptive sprinkling.
    """

    lines: tuple[str, ...]
    node_of: tuple[int, ...]
    collapsed: bool
    by_tree: tuple[int, ...]
    by_size: tuple[int, ...]
    by_name: tuple[int, ...]
    blocks: tuple[int, ...]
    block_names: tuple[str, ...]
    merges: tuple[tuple[int, int], ...]
    heights: tuple[float, ...]
    layers: tuple[ConfusionCells, ...]

    @classmethod
    def of(cls, study: Study) -> Matrix:
        """Read the matrix from a study."""
        whole = cls._of_classes(study)
        return whole if len(study.names) <= MOST_LINES else whole._of_groups(study)

    @classmethod
    def _of_classes(cls, study: Study) -> Matrix:
        tree = study.model.hierarchy_  # its leaves are the classes sorted by name: the classes as they are numbered
        everyone = tuple(range(len(study.names)))
        return cls(
            lines=study.names,
            node_of=everyone,
            collapsed=False,
            by_tree=tuple(study.order.tolist()),
            by_size=tuple(np.argsort(-study.answers.sizes, kind="stable").tolist()),
            by_name=tuple(sorted(everyone, key=lambda number: study.names[number].casefold())),
            blocks=tuple(map(len, study.groups)),
            block_names=study.group_names,
            merges=tuple((left, right) for left, right in tree.merges.tolist()),
            heights=tuple(tree.heights.tolist()),
            layers=_layers(study),
        )

    def _of_groups(self, study: Study) -> Matrix:
        """Return the same with the groups of the tree as lines."""
        tree = study.model.hierarchy_
        groups = study.groups if len(study.groups) <= MOST_LINES else study.numbered(tree.cut(MOST_LINES))
        names = study.named(groups)
        node_of = np.zeros(len(study.names), dtype=np.intp)
        for number, members in enumerate(groups):
            node_of[members] = number
        merges, heights = prune(tree.merges, tree.heights, len(groups))
        sizes = np.bincount(node_of, study.answers.sizes, minlength=len(groups))
        everyone = tuple(range(len(groups)))
        return replace(
            self,
            lines=names,
            node_of=tuple(node_of.tolist()),
            collapsed=True,
            by_tree=everyone,
            by_size=tuple(np.argsort(-sizes, kind="stable").tolist()),
            by_name=tuple(sorted(everyone, key=lambda number: names[number].casefold())),
            blocks=(len(groups),),
            block_names=("all groups",),
            merges=tuple((left, right) for left, right in merges.tolist()),
            heights=tuple(heights.tolist()),
            layers=tuple(_grouped(layer, node_of) for layer in self.layers),
        )

    def frame(self) -> pl.DataFrame:
        """Return the non-zero cells of all layers."""
        return table(
            [
                {"layer": layer.title, "true": self.lines[true], "predicted": self.lines[said], "count": count}
                for layer in self.layers
                for true, said, count in zip(layer.true, layer.predicted, layer.count, strict=True)
            ]
        )


def _layers(study: Study) -> tuple[ConfusionCells, ...]:
    curves = study.curves
    layers = {"The model": study.confusion}
    if curves is not None and np.array_equal(curves.before.classes, study.model.classes_):  # the same since the fit
        layers |= {"Neighbours, plain rows": curves.before, "Neighbours, sprinkled": curves.after}
    return tuple(_cells(title, confusion) for title, confusion in layers.items())


def _cells(title: str, confusion: Confusion) -> ConfusionCells:
    cells = confusion.counts.tocoo()
    true, predicted = cells.coords
    errors = int(cells.data[true != predicted].sum())
    return ConfusionCells(title, errors, *(tuple(part.tolist()) for part in (true, predicted, cells.data)))


def _grouped(layer: ConfusionCells, node_of: Indices) -> ConfusionCells:
    lines = int(node_of.max()) + 1
    cell, member = np.unique(node_of[list(layer.true)] * lines + node_of[list(layer.predicted)], return_inverse=True)
    count = np.bincount(member, layer.count).astype(np.int64)
    true, predicted = np.divmod(cell, lines)
    return replace(layer, true=tuple(true.tolist()), predicted=tuple(predicted.tolist()), count=tuple(count.tolist()))
