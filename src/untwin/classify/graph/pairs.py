"""Panels of pair experts: duels between candidates, combined by the rules of paper 2.

Glossary
--------
found             candidates (classify/candidates.py): n x k tables of codes, scores, what is open, weights of edges
duel              decision value of the expert of a pair for the first of two classes; zero: undecided, or no expert
margins  n x k    what the duels leave for each candidate; minus infinity where a candidate is not open
together C x C    how many sets of candidates hold both classes
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_array, triu

from untwin.classify.experts import Expert, Job
from untwin.classify.graph.candidates import by_expert
from untwin.linalg.blocks import slices

if TYPE_CHECKING:
    from untwin._types import Floats, Indices
    from untwin.classify.graph.candidates import Candidates
    from untwin.classify.graph.panels import TrainingRows

BLOCK_DUELS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class PairPanel:
    """One expert for each pair of classes that meet; `number[a, b] - 1` is its place, for a < b."""

    experts: list[Expert]
    number: csr_array
    rule: str

    @classmethod
    def fit(cls, training: TrainingRows, sets: csr_array, *, least: int, rule: str) -> Self:
        """Train an expert for each pair of classes that are together in at least `least` rows of `sets`."""
        together = triu(sets.T @ sets, k=1).tocoo()
        first, second = (place[together.data >= least].astype(np.intp) for place in together.coords)
        by_class = training.rows_by_class()
        rows = (np.concatenate([by_class[a], by_class[b]]) for a, b in zip(first, second, strict=True))
        experts = training.experts([Job(chosen, training.codes[chosen]) for chosen in rows])
        number = csr_array((np.arange(1, len(experts) + 1), (first, second)), shape=together.shape)
        return cls(experts, number, rule)

    def margins(self, X: Any, found: Candidates) -> Floats:
        """Return the margins by the rule: sums of the margins of won duels, or one for the verified class."""
        if self.rule == "verify":
            return self._verified(X, found)
        blocks = slices(len(found.codes), BLOCK_DUELS // found.codes.shape[1] ** 2)
        return np.concatenate([self._sums(X[block], found[block]) for block in blocks])

    def _sums(self, X: Any, found: Candidates) -> Floats:
        """Return the sum of the margins of the duels that each candidate wins."""
        left, right = np.triu_indices(found.codes.shape[1], k=1)
        rows, duels = np.nonzero(found.open[:, left] & found.open[:, right])
        left, right = left[duels], right[duels]
        said = self._duel(X, rows, found.codes[rows, left], found.codes[rows, right])
        sums = np.zeros(found.codes.shape)
        np.add.at(sums, (rows, left), np.maximum(said, 0))
        np.add.at(sums, (rows, right), np.maximum(-said, 0))
        return np.where(found.open, sums, -np.inf)

    def _verified(self, X: Any, found: Candidates) -> Floats:
        """Return a margin of one for the winner of duels of column 0 with all others (four cases of approach 1)."""
        rows, column = np.nonzero(found.open[:, 1:])
        column += 1
        said = self._duel(X, rows, found.codes[rows, 0], found.codes[rows, column])
        dissent = np.zeros(found.codes.shape, dtype=bool)
        dissent[rows, column] = said < 0
        # Nobody dissents: column 0. One or more: the heaviest edge; for two, what their own duel says comes first.
        verdict = np.where(dissent, found.weights, -1.0).argmax(axis=1)
        two = np.flatnonzero(dissent.sum(axis=1) == 2)
        pair = np.nonzero(dissent[two])[1].reshape(-1, 2)
        between = self._duel(X, two, found.codes[two, pair[:, 0]], found.codes[two, pair[:, 1]])
        verdict[two] = np.where(between == 0, verdict[two], np.where(between > 0, pair[:, 0], pair[:, 1]))
        margins = np.where(found.open, 0.0, -np.inf)
        margins[np.arange(len(verdict)), verdict] = 1.0
        return margins

    def _duel(self, X: Any, rows: Indices, first: Indices, second: Indices) -> Floats:
        """Return the experts' decision values for the classes `first` against `second`, in the rows `rows` of X."""
        said = np.zeros(len(rows))
        if len(rows) == 0:  # SciPy answers an empty question with another type
            return said
        number = self.number[np.minimum(first, second), np.maximum(first, second)] - 1
        for expert, places in by_expert(number):
            said[places] = self.experts[expert].margins(X[rows[places]])[:, 1]  # column 1: the larger code
        return np.where(first > second, said, -said)
