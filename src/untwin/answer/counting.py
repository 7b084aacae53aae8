"""Counting the terms of a few texts by looking them up, text by text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwin.answer.fixed_point import CountedRows
from untwin.answer.terms import TermReader, clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from untwin._types import Array

    Lookup = tuple[TermReader, dict[str, int]]


class Vocabulary(NamedTuple):
    """One way to read texts: the reader, and the column of each term."""

    reader: TermReader
    terms: Sequence[str]
    columns: Array

    def lookup(self) -> Lookup:
        """Return the reader, and the column of each term by its name."""
        return self.reader, dict(zip(self.terms, self.columns.tolist(), strict=True))


def same_vocabularies(one: Sequence[Vocabulary], other: Sequence[Vocabulary]) -> bool:
    """Tell whether texts are read in the same ways, and terms have the same columns."""
    return len(one) == len(other) and all(
        mine.reader == theirs.reader and mine.terms == theirs.terms and np.array_equal(mine.columns, theirs.columns)
        for mine, theirs in zip(one, other, strict=True)
    )


def count_few(texts: Iterable[str], lookups: Sequence[Lookup]) -> CountedRows:
    """Return the counts of the known terms of texts."""
    starts, found = [0], list[tuple[int, int]]()
    for text in map(clean, texts):
        counts: dict[int, int] = {}
        for reader, column_of in lookups:
            for term in reader.read(text):
                column = column_of.get(term)
                if column is not None:
                    counts[column] = counts.get(column, 0) + 1
        found.extend(counts.items())
        starts.append(len(found))
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return CountedRows(np.array(starts), pairs[:, 0].copy(), pairs[:, 1].copy())
