"""Columns of a table, and what a cell of each is in terms: whole numbers, the same for one row and for many.

Glossary
--------
cells     of one column: numbers (float64, NaN where missing), numbers of terms for names, or texts
term      a column of the weights; a column of the table has `size` terms, from `first` on
value     of a term in a row, times UNIT: 1 for an interval or a name, a standard score, or the weight of a counted term
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from untwin.answer.counting import count_few, same_vocabularies
from untwin.answer.fixed_point import UNIT, row_of_entries, weigh
from untwin.answer.layers import FEW
from untwin.answer.terms import is_known

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin._types import Array, Floats
    from untwin.answer.counting import Lookup, Vocabulary
    from untwin.answer.fixed_point import CountedRows

FARTHEST = 10.0  # standard deviations: what lies beyond says no more, and one wild cell decides nothing


class Entries(NamedTuple):
    """Terms of rows, in any order: the row, the term and the value of each."""

    rows: Array
    terms: Array
    values: Array

    @classmethod
    def join(cls, parts: list[Entries]) -> Entries:
        """Return all entries of some columns."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """Numbers: the interval that each lies in, and its standard score.

    `points` are the ends of the intervals; after these comes a term for missing numbers if `has_missing`. Without a
    `mean` there are no scores; with one the score is a term, and that it is missing another, if `tells_missing`.
    """

    role: ClassVar[str] = "numeric"
    name: str
    first: int
    points: Floats
    has_missing: bool
    mean: float | None = None
    scale: float = 1.0
    tells_missing: bool = False

    @property
    def n_intervals(self) -> int:
        """How many intervals there are."""
        return len(self.points) + 1 + self.has_missing

    @property
    def size(self) -> int:
        """How many terms there are."""
        return self.n_intervals + (0 if self.mean is None else 1 + self.tells_missing)

    def entries(self, cells: Floats) -> Entries:
        """Return the terms of numbers."""
        missing, each = np.isnan(cells), np.arange(len(cells))
        interval = np.searchsorted(self.points, cells, side="right")
        interval[missing] = len(self.points) + 1
        known = each if self.has_missing else np.flatnonzero(~missing)
        rows, terms, values = [known], [self.first + interval[known]], [np.full(len(known), UNIT)]
        if self.mean is not None:
            there = np.flatnonzero(~missing)
            with np.errstate(over="ignore"):  # too far away to be a number is far away
                scores = np.clip((cells[there] - self.mean) / self.scale, -FARTHEST, FARTHEST)
            rows.append(there)
            terms.append(np.full(len(there), self.first + self.n_intervals))
            values.append(np.rint(scores * UNIT).astype(np.int64))
        if self.tells_missing:
            gone = np.flatnonzero(missing)
            rows.append(gone)
            terms.append(np.full(len(gone), self.first + self.n_intervals + 1))
            values.append(np.full(len(gone), UNIT))
        return Entries(np.concatenate(rows), np.concatenate(terms), np.concatenate(values))


@dataclass(frozen=True, eq=False)
class NameColumn:
    """Names: a term for each of the frequent ones, one for the rare ones, one for missing names, one for new ones."""

    role: ClassVar[str] = "nominal"
    name: str
    first: int
    frequent: tuple[str, ...]
    rare: tuple[str, ...]
    has_missing: bool

    @property
    def size(self) -> int:
        """How many terms there are."""
        return len(self.frequent) + bool(self.rare) + self.has_missing + 1

    @property
    def missing(self) -> int:
        """The term of a missing name: that of new ones if training rows had all their names."""
        return self.size - 1 - self.has_missing

    @property
    def new(self) -> int:
        """The term of a name that no training row has."""
        return self.size - 1

    @cached_property
    def places(self) -> dict[str, int]:
        """The term of each name."""
        found = {name: place for place, name in enumerate(self.frequent)}
        return found | dict.fromkeys(self.rare, len(self.frequent))

    def entries(self, cells: Array) -> Entries:
        """Return the terms of names; their cells are the numbers of these terms."""
        return Entries(np.arange(len(cells)), self.first + cells, np.full(len(cells), UNIT))


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Texts: their counted terms, as in `TextAnswerer`; columns of the vocabularies begin with 0."""

    role: ClassVar[str] = "text"
    name: str
    first: int
    vocabularies: tuple[Vocabulary, ...]
    idf: Array
    block_of: Array
    count_many: Callable[[list[str]], CountedRows]

    @property
    def size(self) -> int:
        """How many terms there are."""
        return len(self.idf)

    def entries(self, cells: list[str]) -> Entries:
        """Return the terms of texts."""
        few = len(cells) <= FEW and all(map(is_known, cells))
        rows = count_few(cells, self._lookups) if few else self.count_many(cells)
        values = weigh(rows, self.idf, self.block_of, int(self.block_of.max(initial=0)) + 1)
        return Entries(row_of_entries(rows), self.first + rows.columns, values)

    @cached_property
    def _lookups(self) -> list[Lookup]:
        return [vocabulary.lookup() for vocabulary in self.vocabularies]


TableColumn = NumberColumn | NameColumn | TextColumn
Cells = list[Any]


def same_column(one: TableColumn, other: TableColumn) -> bool:
    """Tell whether two columns make the same terms of the same cells."""
    match one, other:
        case NumberColumn(), NumberColumn():
            return _facts(one) == _facts(other) and np.array_equal(one.points, other.points)
        case NameColumn(), NameColumn():
            return _facts(one) == _facts(other)
        case TextColumn(), TextColumn():
            same = (one.name, one.first) == (other.name, other.first)
            same = same and np.array_equal(one.idf, other.idf) and np.array_equal(one.block_of, other.block_of)
            return same and same_vocabularies(one.vocabularies, other.vocabularies)
    return False


def _facts(column: NumberColumn | NameColumn) -> tuple[Any, ...]:
    if isinstance(column, NameColumn):
        return column.name, column.first, column.frequent, column.rare, column.has_missing
    return column.name, column.first, column.has_missing, column.mean, column.scale, column.tells_missing
