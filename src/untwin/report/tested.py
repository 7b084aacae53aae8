"""The rows marked as test, answered once, beside what held-out rows promise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from untwin.report.record import Record, table
from untwin.report.summary import Measured

if TYPE_CHECKING:
    import polars as pl

    from untwin.report.study import Study

KEPT = "As promised: the interval of the test rows holds what held-out rows let expect."
BETTER = "Better than held-out rows let expect."
WORSE = (
    "Worse than held-out rows let expect: the test rows differ from the others (later ones? other customers?), or "
    "rows of the training part resemble each other more than they resemble new ones."
)


@dataclass(frozen=True)
class PairInTest(Record):
    """Two classes that are confused in the test rows."""

    a: str
    b: str
    a_as_b: int
    b_as_a: int


@dataclass(frozen=True)
class ClassInTest(Record):
    """A class in the test rows."""

    name: str
    rows: int
    precision: float
    recall: float


@dataclass(frozen=True)
class Tested(Record):
    """Scores on rows that were marked as test, 0 `rows` without any; the most confused pairs and the worst classes.

    `verdict` compares the accuracy with the one that held-out rows promise.
    """

    rows: int
    accuracy: Measured
    expected: Measured
    macro_f1: float | None
    calibration_error: float | None
    verdict: str
    pairs: tuple[PairInTest, ...]
    worst: tuple[ClassInTest, ...]

    @classmethod
    def of(cls, study: Study) -> Tested:
        """Read what `untwin fit` noted about the test rows."""
        noted = (getattr(study.model, "about_", None) or {}).get("test") or {}
        promised = study.model.scores_
        accuracy, expected = (
            Measured(*(scores.get(name) for name in ("accuracy", "accuracy_low", "accuracy_high")))
            for scores in (noted, promised)
        )
        return cls(
            rows=noted.get("rows", 0),
            accuracy=accuracy,
            expected=expected,
            macro_f1=noted.get("macro_f1"),
            calibration_error=noted.get("calibration_error"),
            verdict=_verdict(accuracy, expected),
            pairs=tuple(
                PairInTest(str(one["a"]), str(one["b"]), int(one["a_as_b"]), int(one["b_as_a"]))
                for one in _listed(noted, "confused", ("a", "b", "a_as_b", "b_as_a"))
            ),
            worst=tuple(
                ClassInTest(str(one["class"]), int(one["rows"]), float(one["precision"]), float(one["recall"]))
                for one in _listed(noted, "worst", ("class", "rows", "precision", "recall"))
            ),
        )

    def frame(self) -> pl.DataFrame:
        """Return one row a confused pair."""
        return table([one.to_dict() for one in self.pairs])


def _listed(noted: dict[str, Any], name: str, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the records of a list; what is none, as in a model of an earlier version, is left out."""
    found = noted.get(name)
    return [one for one in found if isinstance(one, dict) and set(keys) <= set(one)] if isinstance(found, list) else []


def _verdict(accuracy: Measured, expected: Measured) -> str:
    if accuracy.low is None or accuracy.high is None or expected.value is None:
        return ""
    if accuracy.low <= expected.value <= accuracy.high:
        return KEPT
    return BETTER if accuracy.low > expected.value else WORSE
