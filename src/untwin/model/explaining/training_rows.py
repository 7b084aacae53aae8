"""What speaks in training rows for one class against another, by what answers: for the report, which shows hundreds."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from untwin._compat import rows_of
from untwin.answer.answerer import TextAnswerer
from untwin.answer.evidence import contributions_of_terms, strongest_evidence
from untwin.answer.reasons import weigh_cells, weigh_words
from untwin.answer.tables import TableAnswerer
from untwin.model.text_reading import counted_rows

if TYPE_CHECKING:
    from untwin._types import Array, Flags
    from untwin.answer.reasons import Terms
    from untwin.model.state import FittedState


class EvidenceInRows:
    """What speaks in the training rows of a model for one class against another.

    `quoted`: evidence may be words and cells as they are written in the rows; else, and where no texts are kept, it is
    the terms that a person can read. Models that answer by their estimators name none: measuring takes them too long.
    """

    def __init__(self, known: FittedState, *, quoted: bool) -> None:
        self._known, self._answerer = known, known.answerer
        self._quoted = quoted and known.documents is not None

    def evidence(self, row: int, first: int, second: int, top: int) -> Terms:
        """Return what adds to the log-odds of two classes by their numbers, in the row at this place of the view."""
        documents = self._known.documents
        match self._answerer:
            case TextAnswerer() if self._quoted:
                return weigh_words(self._answerer, documents[row], first, second, top)
            case TextAnswerer():
                return self._weigh_terms(self._answerer, row, first, second, top)
            case TableAnswerer() if self._quoted:
                return weigh_cells(self._answerer, documents.row(row, named=True), first, second, top)
        return ()

    def _weigh_terms(self, answerer: TextAnswerer, row: int, first: int, second: int, top: int) -> Terms:
        counts = counted_rows(rows_of(self._known.view.rows, [row]))
        names, readable = self._names
        shown = np.flatnonzero(readable[counts.columns])
        found = contributions_of_terms(answerer, counts, first, second)[shown]
        return strongest_evidence(names[counts.columns[shown]].tolist(), found, top)

    @cached_property
    def _names(self) -> tuple[Array, Flags]:
        """The terms, and which of them a person can read."""
        encoder = self._known.view.encoder
        return encoder.get_feature_names_out(), encoder.readable_
