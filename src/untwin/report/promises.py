"""View 3: what is promised: which answers are sure, how large sets of classes are, at which heights rows end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.answer.predictions import Scored
from untwin.calibrate.kept import HeightPoint, Kept, SetPoint, SharePoint, kept_on
from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.report.study import Study

MOST_CELLS = 4_000_000  # rows x classes that are looked at


@dataclass(frozen=True)
class PromisesView(Record):
    """What is promised, and what became of it on rows that were held out (of an evaluation: on its rows).

    `target_error` is how many of the sure answers may be wrong, `threshold` from which probability on they are sure
    (None: none is, or it is not told), `sure` the share of the rows that is answered so, `error` how many of these are
    wrong.
    """

    target_error: float | None
    threshold: float | None
    sure: float
    error: float | None
    shares: tuple[SharePoint, ...]
    sets: tuple[SetPoint, ...]
    heights: tuple[HeightPoint, ...]

    @classmethod
    def of(cls, study: Study) -> PromisesView:
        """Measure them on held-out rows; of very many, on a part. Answers of others, in an audit, promise nothing."""
        if study.given:
            return cls(None, None, 0.0, None, (), (), ())
        model: Any = study.model
        answers = study.answers
        promises, held = model.promises_, np.flatnonzero(answers.held)
        some = held[:: max(1, len(held) * len(answers.classes) // MOST_CELLS)]
        never = np.zeros(len(some), dtype=np.bool_)
        found = model._decision().predictions(Scored(answers.scores.take(some).dense(), never, never), 1)
        kept = kept_on(promises, found, answers.classes, answers.true[some])
        confidence, right = answers.confidence_and_truth
        sure = confidence >= model.threshold_
        return cls(
            promises.target_error,
            model.threshold_ if np.isfinite(model.threshold_) else None,
            float(sure.mean()) if len(sure) else 0.0,
            float((~right[sure]).mean()) if sure.any() else None,
            *kept,
        )

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> PromisesView:
        """Read them from the record of an evaluation."""
        sure, kept = record["sure"], record["promises"]
        error = None if sure["accuracy"] is None else 1 - sure["accuracy"]
        points: Kept = Kept(
            tuple(SharePoint(**one) for one in kept["shares"]),
            tuple(SetPoint(**one) for one in kept["sets"]),
            tuple(HeightPoint(**one) for one in kept["heights"]),
        )
        return cls(sure["target_error"], None, sure["share"], error, *points)

    def frame(self) -> pl.DataFrame:
        """Return one row a share of the rows that is answered."""
        return table([point._asdict() for point in self.shares])
