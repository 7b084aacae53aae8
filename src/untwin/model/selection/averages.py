"""Which candidates answer best together: averages that grow by one as long as that helps.

Models that err on different rows correct each other, even if one of them is weaker alone; so all candidates may join,
not only the best. What an average answers is kept, for the same ones are asked about with each fold left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from untwin.model.selection.comparison import CandidateResult, Comparison

    Indices = NDArray[np.intp]
    Rows = NDArray[np.bool_]
    Members = tuple[int, ...]  # places among the candidates, in their order

MOST_MEMBERS = 3  # a fourth costs as much again and adds next to nothing on splits of training rows


class Averages:
    """Averages of the candidates of a contest."""

    def __init__(self, contest: Comparison, candidates: Sequence[CandidateResult]) -> None:
        self._contest, self._candidates = contest, candidates
        self._answers: dict[Members, Indices] = {(n,): result.predicted for n, result in enumerate(candidates)}

    def grown(self) -> list[CandidateResult]:
        """Return the best candidate, and the averages it grew to; the last one is the best."""
        return [self._contest.average(self._results(members)) for members in self._path(None)]

    def honest_answers(self) -> Indices:
        """Return the answer to each held-out row by what is best on the folds other than its own; 0 for other rows.

        What is told of the winner, the best of several, is a little too good; these answers have not seen their rows
        choose.
        """
        contest = self._contest
        answers = np.zeros(len(contest.codes), dtype=np.intp)
        numbers = np.unique(contest.folds[contest.held])
        for fold in numbers:
            here = contest.folds == fold
            chosen = self._path(~here if len(numbers) > 1 else None)[-1]
            answers[here] = self._answers[chosen][here]
        return answers

    def _path(self, rows: Rows | None) -> list[Members]:
        """Return the best candidate by these rows, then by one member more as long as the score rises.

        Of equally good ones the first is taken, which is the simplest.
        """
        alone: list[Members] = [(n,) for n in range(len(self._candidates))]
        path = [max(alone, key=lambda members: self._score(members, rows))]
        while len(path[-1]) < min(MOST_MEMBERS, len(alone)):
            larger = [tuple(sorted({*path[-1], n})) for n in range(len(alone)) if n not in path[-1]]
            best = max(larger, key=lambda members: self._score(members, rows))
            if self._score(best, rows) <= self._score(path[-1], rows):
                break
            path.append(best)
        return path

    def _score(self, members: Members, rows: Rows | None) -> float:
        if members not in self._answers:
            self._answers[members] = self._contest.answers(self._results(members))
        return self._contest.score(self._answers[members], rows)

    def _results(self, members: Members) -> list[CandidateResult]:
        return [self._candidates[n] for n in members]
