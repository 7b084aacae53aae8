"""View 1: how good it is, against what, what was chosen and why, and how few pairs hold how many errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from untwin._wording import format_count
from untwin.model.chance import NO_BETTER
from untwin.model.selection.candidates import SVM
from untwin.report.record import Record, table
from untwin.report.scores import SCORES, shown_score

if TYPE_CHECKING:
    import polars as pl

    from untwin.calibrate.reliability import Bin
    from untwin.report.study import Study


@dataclass(frozen=True)
class Measured(Record):
    """A share with the ends of its 95 % interval; None where nothing was measured."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Grades(Record):
    """How far answers lie from the truth on the scale of ordered classes; of `mae` less is better."""

    mae: float
    quadratic_kappa: float

    @classmethod
    def of(cls, scores: dict[str, Any]) -> Self | None:
        """Read them from scores; None where classes have no order."""
        return cls(scores["mae"], scores["quadratic_kappa"]) if "mae" in scores else None

    def __str__(self) -> str:
        return f"{self.mae:.2f} steps off on average (quadratic kappa {self.quadratic_kappa:.2f})"


@dataclass(frozen=True)
class Tried(Record):
    """A candidate: its accuracy, what it gained on the linear SVM on the same rows, and why it was dropped.

    `score` is what it was compared by, the summary's `scoring`.
    """

    name: str
    score: float | None
    accuracy: Measured
    gain: Measured
    seconds: float
    chosen: bool
    note: str


@dataclass(frozen=True)
class Summary(Record):
    """The five numbers and what they stand against.

    `accuracy` is what to expect of new rows; `errors` are those of the chosen candidate on the rows that chose it, of
    which there were `judged`: a few less than to be expected. `guess` says if it could all be a guess. `test` is the
    accuracy on rows that were kept apart from the fit, if there were any (`test_rows`); `largest_class` is the
    accuracy of always answering with the largest class; `half` is the least number of pairs of classes that hold half
    of the errors; `grades` are for ordered classes; `scoring` is what candidates were compared by.
    """

    rows: int
    judged: int
    classes: int
    accuracy: Measured
    macro_f1: float | None
    grades: Grades | None
    scoring: str
    calibration_error: float | None
    errors: int
    pairs: int
    half: int
    largest_class: float | None
    guess: str
    test: Measured
    test_rows: int
    test_grades: Grades | None
    candidates: tuple[Tried, ...]
    calibration: tuple[Bin, ...]

    @classmethod
    def of(cls, study: Study) -> Summary:
        """Read the summary from a study."""
        model, shares = study.model, study.pairs["share"]
        scores, tested = model.scores_, (getattr(model, "about_", None) or {}).get("test") or {}
        return cls(
            rows=study.n_rows,
            judged=int(study.answers.held.sum()),
            classes=len(study.names),
            accuracy=Measured(*_ends(scores)),
            macro_f1=scores.get("macro_f1"),
            grades=Grades.of(scores),
            scoring=SCORES[model.scoring],
            calibration_error=model.calibration_error_,
            errors=len(study.wrong),
            pairs=len(shares),
            half=int(np.searchsorted(np.cumsum(shares), 0.5 - 1e-9) + 1) if len(shares) else 0,
            largest_class=scores.get("largest_class"),
            guess=study.guess,
            test=Measured(*_ends(tested)),
            test_rows=tested.get("rows", 0),
            test_grades=Grades.of(tested),
            candidates=tuple(_tried(candidate, model.scoring) for candidate in model.candidates_),
            calibration=study.calibration,
        )

    @property
    def by_accuracy(self) -> bool:
        """Whether candidates were compared by their accuracy."""
        return self.scoring == SCORES["accuracy"]

    @property
    def winner(self) -> Tried:
        """What was chosen."""
        return next(tried for tried in self.candidates if tried.chosen)

    @property
    def baseline(self) -> Tried:
        """The linear SVM."""
        return next((tried for tried in self.candidates if tried.name == SVM), self.winner)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The summary in words."""
        told = (self._quality(), self.guess, self._test(), self._choice(), self._trust(), self._errors())
        return tuple(sentence for sentence in told if sentence)

    def frame(self) -> pl.DataFrame:
        """Return one row a candidate."""
        return table([_flat(tried) for tried in self.candidates])

    def _quality(self) -> str:
        if self.accuracy.value is None:
            return "No class has enough distinct rows to hold one out, so nothing is measured."
        of = "rows it had not seen are answered right" if self.candidates else "the answers are right"
        return (
            f"{self.accuracy.value:.1%} of {of} "
            f"({_between(self.accuracy)}); always naming the largest class would reach {self.largest_class or 0:.1%}."
            + (f" On the scale of the classes they are {self.grades}." if self.grades else "")
        )

    def _test(self) -> str:
        if self.test.value is None:
            return ""
        steps = f", {self.test_grades}" if self.test_grades else ""
        rows = format_count(self.test_rows, "row", "rows")
        return f"On {rows} marked as test it is {self.test.value:.1%} ({_between(self.test)}){steps}."

    def _choice(self) -> str:
        if not self.candidates:
            return ""
        winner, gain = self.winner, self.winner.gain
        if winner.accuracy.value is None or gain.value is None or gain.low is None or gain.high is None:
            return ""
        by = "" if self.by_accuracy else f" by {self.scoring} ({winner.score:.3f})"
        if winner is self.baseline:
            return f"The linear SVM was chosen{by}: nothing that was tried beats it."
        told = f"Chosen{by}: {winner.name}, {100 * gain.value:+.1f} points against the linear SVM"
        told += f" ({100 * gain.low:+.1f} to {100 * gain.high:+.1f}) on the rows that chose it"
        by_chance = gain.low <= 0 or self.guess.startswith(NO_BETTER)
        return f"{told}: a difference that chance could make." if by_chance else f"{told}."

    def _trust(self) -> str:
        error = self.calibration_error
        if not self.calibration or error is None:
            return ""
        verdict = "can be taken at their word" if error <= 0.02 else "are roughly right" if error <= 0.05 else "are off"
        missed = f"{100 * error:.1f} points on average"
        return f"Its probabilities {verdict}: they miss the share of right answers by {missed}."

    def _errors(self) -> str:
        if not self.errors:
            return "No held-out row is answered wrong." if self.judged else ""
        sit, pairs = "errors sit" if self.errors > 1 else "error sits", format_count(self.pairs, "pair", "pairs")
        told = f"Half of the {self.errors:,} {sit} in {self.half:,} of the {pairs} of classes that are confused at all"
        if not self.candidates:
            left = format_count(self.rows - self.judged, "answer names", "answers name")
            return f"{told}; {left} no class, and stands beside them." if self.judged < self.rows else f"{told}."
        judged = f", {self.judged:,} of {self.rows:,}." if self.judged < self.rows else "."
        return f"{told}; they are counted on the rows that chose the candidate{judged}"


def _ends(scores: dict[str, Any]) -> tuple[float | None, float | None, float | None]:
    return scores.get("accuracy"), scores.get("accuracy_low"), scores.get("accuracy_high")


def _between(share: Measured) -> str:
    return f"95% interval {100 * (share.low or 0):.1f} to {100 * (share.high or 0):.1f}"


def _tried(candidate: Any, scoring: str) -> Tried:
    return Tried(
        candidate.name,
        shown_score(scoring, candidate.score),
        Measured(candidate.accuracy, candidate.low, candidate.high),
        Measured(candidate.gain, candidate.gain_low, candidate.gain_high),
        candidate.seconds,
        candidate.chosen,
        candidate.note,
    )


def _flat(tried: Tried) -> dict[str, Any]:
    accuracy, gain = tried.accuracy, tried.gain
    return {
        "candidate": tried.name,
        "score": tried.score,
        "accuracy": accuracy.value,
        "low": accuracy.low,
        "high": accuracy.high,
        "gain": gain.value,
        "gain_low": gain.low,
        "gain_high": gain.high,
        "seconds": tried.seconds,
        "chosen": tried.chosen,
        "note": tried.note,
    }
