"""Explain answers: the evidence in each row, and training rows that were answered alike and share terms with it.

Glossary
--------
candidates   training rows whose out-of-fold answers are most similar to the answer
similarity   cosine of the row and a candidate, by the terms that a person can read: candidates are ranked by it, and
             where it is equal by their answers
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from untwin.answer.answerer import TextAnswerer
from untwin.answer.evidence import WordEvidence
from untwin.answer.reasons import Reason, likeliest_classes
from untwin.classify.knn.explain import Explanation, Neighbour
from untwin.model.neighbours import AnswerIndex, most_similar
from untwin.model.row_ids import places_of_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from untwin._types import Array, Floats, Floats32, Indices
    from untwin.answer.predictions import Decision, Predictions, Scored
    from untwin.model.state import FittedState

    Terms = tuple[tuple[str, float], ...]


class RowReader(Protocol):
    """One row that is explained, in its terms."""

    def evidence(self, first: int, second: int, top: int) -> Terms:
        """Return what words or cells add to the log-odds of two classes, by their numbers."""

    def similarities(self, rows: Indices) -> Floats:
        """Return the cosines of the row and some rows of the view."""

    def shared_terms(self, rows: Indices, top: int) -> list[Terms]:
        """Return the terms that add most to these cosines."""


class RowsReader(Protocol):
    """What reads rows that are explained, and knows how many candidates can be looked at in a few milliseconds."""

    n_candidates: int

    def read(self, given: Any) -> tuple[Scored, Sequence[RowReader]]:
        """Return what is known of rows, and what reads each row."""


class Asked(NamedTuple):
    """A row that is explained: its number, its answer, what reads it, and its place if it is a training row."""

    row: int
    log_p: Floats32
    reader: RowReader
    own: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Explainer:
    """What explains answers of one state of a model; made when it is first asked."""

    known: FittedState
    index: AnswerIndex
    reader: RowsReader

    @classmethod
    def of_state(cls, known: FittedState) -> Explainer:
        """Return what explains answers of this state."""
        from untwin.model.explaining.cells import CellsReader
        from untwin.model.explaining.texts import TextsReader

        of_texts = isinstance(known.answerer, TextAnswerer)
        reader: RowsReader = TextsReader(known) if of_texts else CellsReader(known)
        return cls(known, AnswerIndex.of(known.log_proba_of_all_rows()), reader)

    def explain(self, given: Any, decision: Decision, top: int, ids: ArrayLike | None) -> list[Reason]:
        """Return the reasons of the answers to rows; `ids` are their names if they are training rows."""
        if top < 1:
            raise ValueError(f"top must be at least 1. Got {top} instead.")
        scored, rows = self.reader.read(given)
        found, log_p = decision.predictions(scored, max(top, 2)), scored.log_p
        own = None if ids is None else places_of_ids(ids, self.known.ids)
        if own is not None and len(own) != len(log_p):
            raise ValueError(f"ids must have one name for each of the {len(log_p)} rows. Got {len(own)} instead.")
        return [
            self._reason(Asked(row, log_p[row], reader, None if own is None else int(own[row])), found, top)
            for row, reader in enumerate(rows)
        ]

    def _reason(self, asked: Asked, found: Predictions, top: int) -> Reason:
        row, log_p, reader, own = asked
        classes, mute = self.known.ensemble.classes, bool(found.no_evidence[row])
        first, second = found.ranked[row, :2].tolist()
        terms: Terms = ()
        neighbours: tuple[Neighbour, ...] = ()
        if not mute:
            terms, neighbours = reader.evidence(first, second, top), self._neighbours(reader, log_p, own, top)
        label, against = classes[[first, second]].tolist()
        return Reason(
            label,
            likeliest_classes(classes, found.probabilities[row], top),
            bool(found.unsure[row]),
            _explanation(label, neighbours),
            WordEvidence(label, against, terms),
            mute,
            None if own is None else self.known.y[[own]].tolist()[0],
        )

    def _neighbours(self, reader: RowReader, log_p: Floats32, own: int | None, top: int) -> tuple[Neighbour, ...]:
        known = self.known
        overlaps = self.index.overlaps(log_p)
        if own is not None:
            overlaps[known.answers.rows == own] = -1.0
        near = most_similar(overlaps, max(self.reader.n_candidates, top + 1))
        near = np.sort(near[overlaps[near] >= 0])
        cosines = reader.similarities(known.answers.rows[near])
        best = np.lexsort((near, -overlaps[near], -cosines))[:top]
        rows, cosines = known.answers.rows[near[best]], cosines[best]
        shared = reader.shared_terms(rows, top)
        votes = _votes(cosines)
        columns = known.ids[rows].tolist(), known.y[rows].tolist(), cosines.tolist(), votes.tolist(), shared
        return tuple(map(Neighbour, *columns))


def _votes(cosines: Array) -> Floats:
    """Return the weight of each neighbour: by how similar it is; the same for all where none shares a term.

    >>> _votes(np.array([0.3, 0.1])).round(2).tolist(), _votes(np.zeros(2)).tolist()
    ([0.75, 0.25], [0.5, 0.5])
    """
    weights = np.maximum(cosines, 0.0)
    return weights / weights.sum() if weights.any() else np.full(len(weights), 1 / max(len(weights), 1))


def _explanation(label: Any, neighbours: tuple[Neighbour, ...]) -> Explanation:
    """Return the vote of the neighbours; the answer itself where there are none."""
    shares: dict[Any, float] = {}
    for near in neighbours:
        shares[near.label] = shares.get(near.label, 0.0) + near.vote
    ranked = sorted(shares.items(), key=lambda share: -share[1])
    return Explanation(ranked[0][0] if ranked else label, tuple(ranked), neighbours, ())
