"""Compare candidates: each one predicts the same held-out rows, once.

Glossary
--------
held     n        whether a row is held out in some fold
log_p    n x C    calibrated log-probabilities of a candidate for the held-out rows; NaN where never held out
result            the answers of a candidate, or of an average of candidates, to all held-out rows
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.answer.predictions import ORDERED, answer_codes
from untwin.answer.probabilities import ENOUGH_CELLS, log_probabilities
from untwin.calibrate.temperature import fit_temperature
from untwin.calibrate.top_class import TopClassCalibration
from untwin.model.records import Effect
from untwin.tables.confusion import Confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Flags, Floats32, Indices
    from untwin.crossfit.together import HeldOutScores

Z = 1.959963984540054  # of the intervals, 95 %
EVERY = slice(None)


class Candidate(NamedTuple):
    """One line of `UntwinClassifier.candidates_`.

    `score` decides the choice. `low` and `high` bound `accuracy` (binomial, 95 %). `gain` is the difference from the
    linear SVM on the same rows (paired, 95 %). All of them are out of fold. `seconds` are processor seconds of the
    folds. `note` says why a candidate was dropped.
    """

    name: str
    score: float | None
    accuracy: float | None
    low: float | None
    high: float | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    seconds: float
    chosen: bool
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A member of an ensemble: its model (untrained while candidates are compared) and temperature."""

    name: str
    model: Any
    temperature: float


@dataclass(frozen=True, slots=True, eq=False)
class CandidateResult:
    """Answers of a candidate to the held-out rows; `temperature` is that of the average of its members."""

    name: str
    members: tuple[Member, ...]
    temperature: float
    log_p: Floats32
    predicted: Indices
    seconds: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """The classes of the rows, the folds that all candidates share, and how answers are scored."""

    classes: Array
    codes: Indices
    folds: Indices
    scoring: str
    order: Indices | None

    @cached_property
    def held(self) -> Flags:
        """Whether each row is held out."""
        return np.asarray(self.folds >= 0)

    def of_held(self, rows: Array) -> Array:
        """Return those of the held-out rows; no copy where all are."""
        return rows if self.held.all() else rows[self.held]

    def result(
        self,
        name: str,
        model: Any,
        found: HeldOutScores,
        temperature: float | None = None,
        *,
        in_place: bool = False,
    ) -> CandidateResult:
        """Return the result of one candidate by its scores of the held-out rows; its temperature is fitted if None.

        `in_place`: the scores are needed no longer.
        """
        temperature = temperature or self._temperature(found.scores)
        log_p = log_probabilities(found.scores, temperature, in_place=in_place)
        return self._result((Member(name, model, temperature),), 1.0, log_p, found.seconds)

    def average(self, results: Sequence[CandidateResult], temperature: float | None = None) -> CandidateResult:
        """Return the result of the average of several candidates: the mean of their log-probabilities."""
        if len(results) == 1:
            return results[0]
        S = _mean(results)
        temperature = temperature or self._temperature(S)
        members = tuple(member for result in results for member in result.members)
        seconds = sum(result.seconds for result in results)
        return self._result(members, temperature, log_probabilities(S, temperature, in_place=True), seconds)

    def answers(self, results: Sequence[CandidateResult]) -> Indices:
        """Return the answers of the average of candidates.

        They depend on its temperature only if `scoring` counts distances, so it is fitted only then.
        """
        if len(results) == 1 or self.scoring in ORDERED:
            return self.average(results).predicted
        at_once = max(1, ENOUGH_CELLS // max(len(self.classes), 1))
        parts = [slice(start, start + at_once) for start in range(0, len(self.codes), at_once)]
        return np.concatenate([self._answer(_mean(results, part), part) for part in parts])

    def top_class(self, log_p: Floats32) -> TopClassCalibration:
        """Return the calibration of the top class, fitted to the held-out rows."""
        return TopClassCalibration.of_held_out(self.of_held(log_p), self.of_held(self.codes))

    def score(self, predicted: Indices, rows: Flags | None = None) -> float:
        """Return the score of answers to held-out rows by `scoring`; larger is better."""
        asked = self.held if rows is None else rows & self.held
        if self.scoring == "accuracy":
            return float((predicted == self.codes)[asked].mean())
        confusion = self.confusion(predicted, asked)
        if self.scoring == "macro_f1":
            return confusion.macro_f1
        ordered = self.ordered(confusion)
        return ordered.quadratic_kappa() if self.scoring == "kappa" else -ordered.mean_absolute_error()

    def right(self, result: CandidateResult) -> Flags:
        """Tell which held-out rows a result has right."""
        return np.asarray((result.predicted == self.codes)[self.held])

    def confusion(self, predicted: Indices, rows: Flags) -> Confusion:
        """Return the confusion of answers to these rows."""
        return Confusion.from_codes(self.codes[rows], predicted[rows], self.classes)

    def ordered(self, confusion: Confusion) -> Confusion:
        """Return a confusion with its classes from low to high."""
        return confusion if self.order is None else confusion.reordered(self.classes[self.order])

    def _temperature(self, scores: Floats32) -> float:
        return fit_temperature(self.of_held(scores), self.of_held(self.codes), cautious=True)

    def _result(
        self, members: tuple[Member, ...], temperature: float, log_p: Floats32, seconds: float
    ) -> CandidateResult:
        predicted = self._answer(self.top_class(log_p)(log_p) if self.scoring in ORDERED else log_p)
        name = " + ".join(member.name for member in members)
        return CandidateResult(name, members, temperature, log_p, predicted, seconds)

    def _answer(self, log_p: Floats32, rows: slice = EVERY) -> Indices:
        known = log_p if self.held.all() else np.where(self.held[rows, np.newaxis], log_p, np.float32(0))
        return answer_codes(known, self.scoring, self.order)


def records(
    comparison: Comparison, results: Sequence[CandidateResult], winner: CandidateResult, dropped: dict[str, str]
) -> list[Candidate]:
    """Return one record for each candidate, the best first, dropped ones last."""
    baseline = comparison.right(results[0])
    ranked = sorted(results, key=lambda result: (result is not winner, -comparison.score(result.predicted)))
    lines = [_record(comparison, result, baseline, chosen=result is winner) for result in ranked]
    nothing = (None,) * 7
    return lines + [Candidate(name, *nothing, 0.0, False, note) for name, note in dropped.items()]


def binomial_interval(right: Flags, folds: int = 1) -> tuple[float, float]:
    """Return the 95 % interval (Wilson) of a share.

    Models of `folds` folds share most of their training rows, so their errors are correlated: as Nadeau and Bengio
    propose, the rows count as if there were fewer of them.

    >>> [round(end, 2) for end in binomial_interval(np.repeat([True, False], [90, 10]))]
    [0.83, 0.94]
    >>> [round(end, 2) for end in binomial_interval(np.repeat([True, False], [90, 10]), folds=5)]
    [0.78, 0.96]
    """
    n = len(right) * ((folds - 1) / (2 * folds - 1) if folds > 1 else 1.0)
    share, z2 = float(right.mean()), Z**2
    middle, half = share + z2 / (2 * n), Z * (share * (1 - share) / n + z2 / (4 * n * n)) ** 0.5
    low, high = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    return max(low, 0.0), min(high, 1.0)  # by rounding they may go beyond


def paired_interval(a: Flags, b: Flags) -> tuple[float, float, float]:
    """Return by how much `a` is right more often than `b` on the same rows, and the 95 % interval."""
    difference = a.astype(np.float64) - b
    mean, error = float(difference.mean()), Z * float(difference.std()) / max(len(difference), 1) ** 0.5
    return mean, mean - error, mean + error


def paired_effect(before: Flags, after: Flags) -> Effect:
    """Return how the share of right answers changed on the same rows.

    >>> print(paired_effect(np.repeat([True, False], 50), np.repeat([True, False], [60, 40])))
    +10.00 points [+4.12, +15.88]
    """
    _, low, high = paired_interval(after, before)
    return Effect(float(before.mean()), float(after.mean()), low, high)


def _mean(results: Sequence[CandidateResult], rows: slice = EVERY) -> Floats32:
    total = results[0].log_p[rows].copy()
    for result in results[1:]:
        total += result.log_p[rows]  # in place: they may be many
    total /= np.float32(len(results))
    return total


def _record(comparison: Comparison, result: CandidateResult, baseline: Flags, *, chosen: bool) -> Candidate:
    right = comparison.right(result)
    return Candidate(
        result.name,
        comparison.score(result.predicted),
        float(right.mean()),
        *binomial_interval(right),
        *paired_interval(right, baseline),
        result.seconds,
        chosen,
        "",
    )
