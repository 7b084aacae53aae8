"""Cut points of one column: minimum entropy, stopped by description length (Fayyad and Irani; paper 4, equations 1-4).

Glossary
--------
S, S_c         rows between two cuts, and those of them in class c; |S| is their number, or the sum of their weights
phi(x)         x log2 x, so that |S| Ent(S) = phi(|S|) - sum_c phi(|S_c|): the bits that the labels in S cost
block          neighbouring values that all belong to one class, or one value with several classes. A cut inside a block
               is never the best one (Fayyad and Irani's theorem on boundary points)
cell           what a block holds of one class: the cells of a column, block by block, are its table of counts, sparse
before, after  of a cell: the weight of its class in all cells before it, and with it
floor, roof    (C,) the weight of each class before S, and with it

With a cell passing from the right of a cut to its left, four values of phi change: what a cut saves is a running sum
over cells. One look at all cuts of S therefore costs as many steps as S has cells, however many classes there are,
and no table of blocks x classes is ever made. phi is taken in whole units, so running sums are exact and equally good
cuts come out equal; the first of them is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Array, Flags, Floats, Indices, Integers

LARGEST = 60  # phi of the whole column has so many binary digits: sums of a few of them stay within 63
SMALLEST = np.finfo(np.float64).tiny  # stands for zero, whose logarithm is asked for though not used
AT_ONCE = 1 << 14  # blocks looked at together: few enough to stay in the cache
TIE = 1 << 12  # units that rounding phi to 53 digits can account for: cuts nearer than this are equally good


@dataclass(frozen=True, slots=True)
class Phi:
    """x log2 x in whole units, of which a bit has `bit`; of whole numbers read from a table."""

    bit: float
    of: Callable[[Any], Integers]

    @classmethod
    def up_to(cls, total: float, *, whole: bool) -> Phi:
        """Return phi for weights that sum to `total`; `whole`: only for integers.

        >>> phi = Phi.up_to(8, whole=True)
        >>> (phi.of(np.array([0, 1, 2, 8])) / phi.bit).tolist()
        [0.0, 0.0, 2.0, 24.0]
        """
        bit = 2.0 ** (LARGEST - math.ceil(math.log2(2 + abs(total * math.log2(total)))))

        def units(x: Array) -> Integers:
            rounded: Integers = np.rint(x * np.log2(np.maximum(x, SMALLEST)) * bit).astype(np.int64)
            return rounded

        return cls(bit, units(np.arange(total + 1)).take if whole else units)


@dataclass(frozen=True, slots=True, eq=False)
class SortedColumn:
    """A column in order: B blocks, and the cells of block b from starts[b] to starts[b + 1]."""

    first: Floats  # (B,) the least value of a block, and the largest
    last: Floats
    starts: Indices  # (B + 1,)
    total: Array  # (B + 1,) weight of all that comes before a block
    classes: Indices  # one for each cell, like the next two
    before: Array
    after: Array
    floor: Array  # (C,) of the whole column
    roof: Array

    def cut_point(self, block: int) -> float:
        """Return the number halfway between a block and the one before it.

        >>> sort_column(np.array([4.0, 1.0]), np.array([1, 0]), None, 2).cut_point(1)
        2.5
        """
        low, high = float(self.last[block - 1]), float(self.first[block])
        middle = low / 2 + high / 2  # the sum itself might overflow
        return middle if low < middle <= high else high


class Span(NamedTuple):
    """S: the blocks from `start` to before `end`."""

    start: int
    end: int
    floor: Array
    roof: Array


def cut_points(x: Floats, codes: Array, weights: Floats | None, n_classes: int, phi: Phi) -> Floats:
    """Return where to cut a column without missing values; a value equal to a cut belongs to the right of it.

    >>> x, codes = np.repeat([1.0, 2.0, 3.0, 4.0], 5), np.repeat([0, 0, 1, 1], 5)
    >>> cut_points(x, codes, None, 2, Phi.up_to(20, whole=True)).tolist()
    [2.5]
    """
    column = sort_column(x, codes, weights, n_classes)
    found, waiting = [], [Span(0, len(column.first), column.floor, column.roof)]
    while waiting:
        span = waiting.pop()
        if span.end - span.start < 2:
            continue
        cut, saved = _best_cut(column, span, phi)
        middle, left = span.floor.copy(), slice(column.starts[span.start], column.starts[cut])
        middle[column.classes[left]] = column.after[left]  # of several cells of a class the last one stays
        if saved > _price(middle - span.floor, span.roof - middle, phi):
            found.append(column.cut_point(cut))
            waiting += [span._replace(end=cut, roof=middle), span._replace(start=cut, floor=middle)]
    return np.sort(np.array(found, dtype=np.float64))


def _best_cut(column: SortedColumn, span: Span, phi: Phi) -> tuple[int, float]:
    """Return before which block to cut best, and the bits |S| Gain that this saves."""
    below, above = column.total[span.start], column.total[span.end]
    pieces, passed = [], np.zeros(1, dtype=np.int64)
    for low in range(span.start, span.end - 1, AT_ONCE):
        high = min(low + AT_ONCE, span.end - 1)  # the last block never passes to the left
        passed = passed[-1] + _growth_of_phi(column, low, high, span, phi)
        total = column.total[low + 1 : high + 1]
        pieces.append(passed - phi.of(total - below) - phi.of(above - total))
    saved = np.concatenate(pieces)
    cut = int(np.argmax(saved >= saved.max() - TIE))
    return span.start + 1 + cut, float(saved[cut] + phi.of(above - below)) / phi.bit


def _growth_of_phi(column: SortedColumn, low: int, high: int, span: Span, phi: Phi) -> Integers:
    """Return by how much sum_c phi(|S1_c|) + phi(|S2_c|) grows as the blocks from `low` to `high` pass to the left."""
    inside = slice(column.starts[low], column.starts[high])
    classes, before, after = column.classes[inside], column.before[inside], column.after[inside]
    floor, roof = span.floor[classes], span.roof[classes]
    change = phi.of(after - floor) - phi.of(before - floor) + phi.of(roof - after) - phi.of(roof - before)
    grown: Integers = np.cumsum(change)[column.starts[low + 1 : high + 1] - column.starts[low] - 1]
    return grown


def _price(left: Array, right: Array, phi: Phi) -> float:
    """Return log2(N - 1) + Delta: the bits that a cut between these class weights must save more than."""
    parts = np.stack([left + right, left, right])  # S, S1, S2
    sizes, k = parts.sum(axis=1), (parts > 0).sum(axis=1)
    entropies = (phi.of(sizes) - phi.of(parts).sum(axis=1)) / (sizes * phi.bit)
    n, classes = float(sizes[0]), int(k[0])
    log_ways = classes * math.log2(3) + math.log1p(-2 * 3.0**-classes) / math.log(2)  # log2(3^k - 2), for any k
    delta = log_ways - float(k * entropies @ [1, -1, -1])
    return (math.log2(n - 1) if n > 1 else math.inf) + delta


def sort_column(x: Floats, codes: Array, weights: Floats | None, n_classes: int) -> SortedColumn:
    """Weigh the classes of a column block by block."""
    values, ranks, order = _rank_values(x, len(x) // n_classes)
    classes = codes[order]
    weight = np.ones(len(x), np.int64) if weights is None else weights[order]
    if len(values) * n_classes <= len(x):  # add up the rows of one value and class; with many values it would not pay
        table = np.bincount(ranks * n_classes + classes, None if weights is None else weight)
        cells = np.flatnonzero(table)
        weight, ranks, classes = table[cells], cells // n_classes, cells % n_classes
    begins = _begins(ranks)
    values = values[ranks[begins]]
    first, kept, starts = _blocks(begins, classes)
    classes, weight = classes[kept], np.add.reduceat(weight, kept)
    ends = np.append(starts, len(kept))
    total = np.append(0, np.cumsum(weight))[ends]
    last = np.append(first[1:], len(values)) - 1
    running = _running(classes, weight, n_classes)
    return SortedColumn(values[first], values[last], ends, total, classes.astype(np.intp), *running)


def _rank_values(x: Floats, few: int) -> tuple[Floats, Indices, Any]:
    """Return values in ascending order, the rank of each row among them, and the order of rows that these follow.

    Whole numbers within a range of `few` are their own ranks, and rows stay where they are: nothing is sorted.
    """
    low, high = float(x.min()), float(x.max())
    if high - low < few and (x == np.rint(x)).all():
        return low + np.arange(high - low + 1), (x - low).astype(np.intp), slice(None)
    order = np.argsort(x)
    ordered = x[order]
    begins = _begins(ordered)
    return ordered[begins], np.cumsum(begins) - 1, order


def _begins(items: Array) -> Flags:
    """Tell which items are the first of a run of equal ones."""
    return np.append(True, items[1:] != items[:-1])


def _blocks(begins: Flags, classes: Array) -> tuple[Indices, Indices, Indices]:
    """Join neighbouring values of one class, given which cells are the first of a value.

    Returned are the first value of each block, the cells to keep, and with which of these each block begins.
    """
    value_of = np.cumsum(begins) - 1
    starts = np.flatnonzero(begins)
    mixed = np.zeros(len(starts), dtype=bool)
    mixed[value_of[1:][~begins[1:] & (classes[1:] != classes[:-1])]] = True
    first = np.flatnonzero(_begins(classes[starts]) | mixed | np.append(False, mixed[:-1]))
    needed = mixed[value_of]  # of a block of one class one cell is enough
    needed[starts[first]] = True
    return first, np.flatnonzero(needed), (np.cumsum(needed) - 1)[starts[first]]


def _running(classes: Array, weight: Array, n_classes: int) -> tuple[Array, ...]:
    """Return before and after of each cell, floor and roof of each class.

    All classes share one running sum, class after class: only differences within a class are ever used.
    """
    order = np.argsort(classes.astype(np.min_scalar_type(n_classes)), kind="stable")  # fast for small types
    running = np.append(0, np.cumsum(weight[order]))
    before, after = np.empty_like(running[1:]), np.empty_like(running[1:])
    before[order], after[order] = running[:-1], running[1:]
    edges = np.append(0, np.cumsum(np.bincount(classes, minlength=n_classes)))
    return before, after, running[edges[:-1]], running[edges[1:]]
