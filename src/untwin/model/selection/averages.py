"""Averages of candidates: start from the best one and add members as long as the score rises.

Models with errors on different rows correct each other, even if one of them is weaker alone; so every candidate may be
added, not only the best ones. Where folds see no difference, the average is the safer answer to rows that are not like
those of the folds: on the last quarter of each newsgroup multinomial naive Bayes beside the SVM gains 0.6 points, of
which random folds show 0.05. `tie` says how far below it may be, in standard errors, but never more than 0.2 points.
The answers of each average are cached, since they are needed again for every fold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Flags, Indices
    from untwin.model.selection.comparison import CandidateResult, Comparison

    Members = tuple[int, ...]  # places among the candidates, in their order

MOST_BEHIND = 0.002  # of the score: what an average may cost where standard errors are large


class Averages:
    """Averages of the candidates of a comparison, with their cached answers."""

    def __init__(
        self, comparison: Comparison, candidates: Sequence[CandidateResult], most_members: int, *, tie: float = 0.0
    ) -> None:
        self._comparison, self._candidates, self._most_members = comparison, candidates, most_members
        self._tie = tie
        self._answers: dict[Members, Indices] = {(n,): result.predicted for n, result in enumerate(candidates)}

    def grow(self) -> list[CandidateResult]:
        """Return the best candidate, then each larger average with a better score; the last one is the best."""
        return [self._comparison.average(self._results(members)) for members in self._path(None)]

    def honest_answers(self) -> Indices:
        """Return for each held-out row the answer of the average chosen on the other folds; 0 for other rows.

        The score of the best of several candidates is a little too high. These answers come from a choice made without
        their own fold.
        """
        comparison = self._comparison
        answers = np.zeros(len(comparison.codes), dtype=np.intp)
        numbers = np.unique(comparison.folds[comparison.held])
        for fold in numbers:
            here = comparison.folds == fold
            chosen = self._path(~here if len(numbers) > 1 else None)[-1]
            answers[here] = self._answers[chosen][here]
        return answers

    def _path(self, rows: Flags | None) -> list[Members]:
        """Return the best candidate on these rows, then the best average with one member more while the score rises.

        Ties go to the first, which is the simplest.
        """
        alone: list[Members] = [(n,) for n in range(len(self._candidates))]
        path = [max(alone, key=lambda members: self._score(members, rows))]
        while len(path[-1]) < min(self._most_members, len(alone)):
            larger = [tuple(sorted({*path[-1], n})) for n in range(len(alone)) if n not in path[-1]]
            best = max(larger, key=lambda members: self._score(members, rows))
            if not self._is_better(best, path[-1], rows):
                break
            path.append(best)
        return path

    def _is_better(self, larger: Members, smaller: Members, rows: Flags | None) -> bool:
        """Tell whether an average has the better score, or is at most `tie` standard errors and 0.2 points behind."""
        gain = self._score(larger, rows) - self._score(smaller, rows)
        if gain > 0 or not self._tie or self._comparison.scoring != "accuracy":
            return bool(gain > 0)
        asked = self._comparison.held if rows is None else rows & self._comparison.held
        differs = (self._answers[larger] != self._answers[smaller])[asked]
        return bool(gain >= -min(self._tie * float(differs.mean() / len(differs)) ** 0.5, MOST_BEHIND))

    def _score(self, members: Members, rows: Flags | None) -> float:
        if members not in self._answers:
            self._answers[members] = self._comparison.answers(self._results(members))
        return self._comparison.score(self._answers[members], rows)

    def _results(self, members: Members) -> list[CandidateResult]:
        return [self._candidates[n] for n in members]
