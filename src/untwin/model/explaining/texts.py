"""Texts that are explained: evidence from the linear layers that answer, cosines by words and pairs of words.

Glossary
--------
asked    sorted readable terms of the text; their weights, brought to length one as training rows are, times their idf
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwin.answer.evidence import contributions_of_words, strongest_evidence
from untwin.answer.fixed_point import CountedRows
from untwin.answer.layers import FEW
from untwin.answer.terms import is_known
from untwin.answer.words import read_text

if TYPE_CHECKING:
    from untwin._compiled import Rows
    from untwin._types import Array, Floats, Indices
    from untwin.answer.answerer import TextAnswerer
    from untwin.answer.predictions import Scored
    from untwin.answer.words import ReadText
    from untwin.model.explaining.explainer import Terms
    from untwin.model.state import FittedState

ENTRIES = 50_000  # of candidates that are looked at, in less than a millisecond
FEWEST, MOST = 100, 2000  # candidates


class ReadableTerms(NamedTuple):
    """Counts of the training rows, weights (0: nobody can read it) and blocks of terms, and lengths of rows."""

    counts: Rows
    idf: Array
    block_of: Array
    lengths: Array

    @classmethod
    def of_state(cls, known: FittedState) -> ReadableTerms:
        """Return the readable terms of a model of counted texts."""
        from untwin._compiled import Rows
        from untwin.represent.kernels import block_lengths

        rows, encoder = known.view.rows, known.view.encoder
        counts = Rows(rows.indptr, rows.indices, rows.data)
        if rows.shape[1] != len(encoder.block_of_) or encoder.block_of_.min(initial=0) < 0:
            raise ValueError("Each term must have one weight and one block. Got others instead.")
        idf = np.where(encoder.readable_, known.preprocessing.idf_, 0).astype(np.float32)
        lengths = block_lengths(counts, idf, encoder.block_of_, int(encoder.block_of_.max(initial=0)) + 1)
        return cls(counts, idf, encoder.block_of_, lengths)

    def weigh(self, columns: Array, counts: Array) -> Floats:
        """Return the weights of the terms of a row, which is brought to length one as the training rows are."""
        found = (1 + np.log(counts)) * self.idf[columns]
        squares = np.bincount(self.block_of[columns], weights=found * found, minlength=self.lengths.shape[1])
        lengths = np.sqrt(squares * np.count_nonzero(squares))[self.block_of[columns]]
        return np.asarray(np.divide(found, lengths, out=np.zeros(len(found)), where=lengths > 0))


class TextsReader:
    """What reads texts, for a model that answers about them in whole numbers."""

    def __init__(self, known: FittedState) -> None:
        rows = known.view.rows
        self.terms = ReadableTerms.of_state(known)
        self.answerer: TextAnswerer = known.answerer  # type: ignore[assignment]
        self.n_candidates = int(np.clip(ENTRIES * rows.shape[0] // max(rows.nnz, 1), FEWEST, MOST))

    def read(self, given: list[str]) -> tuple[Scored, list[TextReader]]:
        """Return what is known of texts, and the texts in their terms."""
        texts = [read_text(text, self.answerer.lookups) for text in given]
        if all(map(is_known, given)):
            scored = self.answerer.score_counts(_stack([text.rows for text in texts]), few=len(given) <= FEW)
        else:
            scored = self.answerer.score(given)
        return scored, [TextReader(self, text) for text in texts]


class TextReader:
    """One text that has been read."""

    def __init__(self, reader: TextsReader, text: ReadText) -> None:
        self._terms, self._answerer, self._text = reader.terms, reader.answerer, text
        self._spelled: dict[int, str] = {}

    def evidence(self, first: int, second: int, top: int) -> Terms:
        """Return what words add to the log-odds of two classes, by their numbers."""
        found = contributions_of_words(self._answerer, self._text, first, second)
        return strongest_evidence(self._text.words, found, top)

    def similarities(self, rows: Indices) -> Floats:
        """Return the cosines of the text and training rows."""
        from untwin.represent.kernels import block_cosines

        terms = self._terms
        lengths = terms.lengths[rows]  # raises for a row that is not there: compiled loops would not notice
        found: Floats = block_cosines(terms.counts, rows, lengths, terms.block_of, self._asked)
        return found

    def shared_terms(self, rows: Indices, top: int) -> list[Terms]:
        """Return the terms that add most to these cosines, as they are written in the text."""
        return [self._shared_with(int(row), top) for row in rows]

    @cached_property
    def _asked(self) -> tuple[Array, Floats]:
        """Readable terms of the text, sorted, and what they are weighted by."""
        columns, counts = self._text.rows.columns, self._text.rows.counts
        weights = self._terms.weigh(columns, counts) * self._terms.idf[columns]
        kept = np.flatnonzero(weights)
        return columns[kept], weights[kept]

    def _shared_with(self, row: int, top: int) -> Terms:
        terms, (columns, weights) = self._terms, self._asked
        here = slice(terms.counts.starts[row], terms.counts.starts[row + 1])
        theirs = terms.counts.terms[here]
        mine = np.searchsorted(columns, theirs)
        mine[mine == len(columns)] = 0
        found = np.flatnonzero(columns[mine] == theirs) if len(columns) else mine[:0]
        counts, shared = np.maximum(terms.counts.values[here][found], 1), theirs[found]
        each = weights[mine[found]] * (1 + np.log(counts)) / terms.lengths[row, terms.block_of[shared]]
        best = np.lexsort((shared, -each))[:top]
        return tuple(zip(map(self._spell, shared[best].tolist()), each[best].tolist(), strict=True))

    def _spell(self, column: int) -> str:
        if column not in self._spelled:
            self._spelled[column] = self._text.spell(int(np.searchsorted(self._text.rows.columns, column)))
        return self._spelled[column]


def _stack(rows: list[CountedRows]) -> CountedRows:
    ends = np.cumsum([0, *(len(row.columns) for row in rows)])
    return CountedRows(ends, *(np.concatenate([getattr(row, name) for row in rows]) for name in ("columns", "counts")))
