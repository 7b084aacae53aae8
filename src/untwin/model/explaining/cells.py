"""Rows of tables, vectors, and texts that only their estimators answer about: what is named is measured.

Evidence is how the log-odds change when a word or a cell is deleted, all of them in one batch. So whatever the model
is, the strongest cell named is the one whose loss changes its answer most.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from untwin._compat import rows_of
from untwin.answer.deletion import log_odds_of
from untwin.answer.evidence import strongest_evidence
from untwin.classify.knn.explain import strongest, term_contributions
from untwin.data.encode import TableEncoder
from untwin.model.explaining.deletion import without_each

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Indices
    from untwin.answer.predictions import Scored
    from untwin.model.explaining.explainer import Terms
    from untwin.model.state import FittedState

CANDIDATES = 100
SAMPLE = 1000  # rows of a table from which the frequency of its terms is estimated


class CellsReader:
    """What reads rows by the encoder and the estimators of a model."""

    n_candidates = CANDIDATES

    def __init__(self, known: FittedState) -> None:
        self.known = known
        self.names, self._readable = known.view.term_names(known.preprocessing)

    def read(self, given: Any) -> tuple[Scored, list[CellReader]]:
        """Return what is known of rows, and what reads each row."""
        scored = self.known.score(given)
        terms = self.by_terms(self.known.view.encode(given))
        rows = [[given[row]] if isinstance(given, list) else rows_of(given, [row]) for row in range(len(scored.log_p))]
        return scored, [CellReader(self, one, terms[[row]]) for row, one in enumerate(rows)]

    def by_terms(self, encoded: Any) -> csr_array:
        """Return rows by their terms, without those that nobody can read, or that every row has."""
        terms = csr_array(self.known.terms(encoded))
        found = csr_array(terms.multiply(self._weights))
        found.eliminate_zeros()
        return found

    @property
    def text_columns(self) -> tuple[str, ...] | None:
        """The columns that hold texts, and so words; None if nobody has said."""
        encoder = self.known.preprocessing
        if not isinstance(encoder, TableEncoder):
            return None
        return tuple(use.name for use in encoder.columns_ if use.role == "text")

    @property
    def used_columns(self) -> tuple[str, ...] | None:
        """The columns that the model uses; None: all."""
        encoder = self.known.preprocessing
        return tuple(encoder.blocks_) if isinstance(encoder, TableEncoder) else None

    @cached_property
    def _weights(self) -> Array:
        """Weights of terms: 0 for one that nobody can read, 1 less its share of the rows for a term of cells.

        Terms of texts are weighted by tf-idf already. Terms of cells are 0 or 1, and some occur in nearly every row.
        """
        rows, readable = self.known.view.rows, self._readable
        n_rows = len(rows) if isinstance(rows, list | pl.DataFrame) else rows.shape[0]
        some = rows_of(rows, np.arange(0, n_rows, max(1, n_rows // SAMPLE)))
        terms = csr_array(self.known.terms(some))
        weights = np.ones(terms.shape[1]) if readable is None else readable.astype(np.float64)
        if isinstance(rows, pl.DataFrame):
            weights *= 1.0 - np.bincount(terms.indices, minlength=terms.shape[1]) / terms.shape[0]
        return weights


class CellReader(NamedTuple):
    """One row: as it was given, and by its readable terms."""

    reader: CellsReader
    given: Any
    terms: csr_array

    def evidence(self, first: int, second: int, top: int) -> Terms:
        """Return by how much each word or cell raises the log-odds of two classes: measured without it."""
        known = self.reader.known
        names, rows = without_each(self.given, self.reader.used_columns, self.reader.text_columns, self.reader.names)
        if not names:
            return ()
        changed, (whole,) = (log_odds_of(known.log_proba(some)[0], first, second) for some in (rows, self.given))
        return strongest_evidence(names, whole - changed, top)

    def similarities(self, rows: Indices) -> Floats:
        """Return the cosines of the row and training rows."""
        mine, theirs = normalize(self.terms), normalize(self.training_rows(rows))
        return np.asarray((theirs @ mine.T).toarray()[:, 0], dtype=np.float64)

    def shared_terms(self, rows: Indices, top: int) -> list[Terms]:
        """Return the terms that add most to these cosines."""
        each = term_contributions(self.terms, self.training_rows(rows))
        return [tuple(strongest(each[[row]], self.reader.names, top)) for row in range(len(rows))]

    def training_rows(self, rows: Indices) -> csr_array:
        """Return training rows by their terms."""
        return self.reader.by_terms(rows_of(self.reader.known.view.rows, rows))
