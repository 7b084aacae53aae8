"""View 8: what the space does: accuracy by dimension, separation against error, terms that move together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.model.curves import SimilarTerms
    from untwin.report.study import Study

TOO_FEW = "fewer than two folds could be held out."
NOT_MEASURED = "only `untwin fit --preset best` measures it; in Python, ask for model.curves_."


@dataclass(frozen=True)
class Space(Record):
    """Curves that the model measured when it was fitted; `rows` held-out rows judged them, 0: not measured (`note`).

    By dimension the accuracy of neighbours in plain and in sprinkled LSI, `raw` without a space; by strength of
    sprinkling the separation of classes (within over between, the lower the better) and the share of the documents
    that is lost.
    """

    rows: int
    raw: float | None
    dimensions: tuple[int, ...]
    lsi: tuple[float, ...]
    sprinkled: tuple[float, ...]
    strengths: tuple[float, ...]
    separation: tuple[float, ...]
    error: tuple[float, ...]
    terms: tuple[SimilarTerms, ...]
    note: str = ""

    @classmethod
    def of(cls, study: Study) -> Space:
        """Read the curves from a study."""
        curves = study.curves
        if curves is None:
            return cls(0, None, (), (), (), (), (), (), (), note=TOO_FEW if study.measured else NOT_MEASURED)
        return cls(
            curves.n_rows,
            curves.raw,
            curves.dimensions,
            curves.lsi,
            curves.sprinkled,
            curves.strengths,
            curves.separation,
            curves.error,
            curves.similar,
        )

    def frame(self) -> pl.DataFrame:
        """Return one row a dimension."""
        columns = zip(self.dimensions, self.lsi, self.sprinkled, strict=True)
        return table([{"dimensions": k, "raw": self.raw, "lsi": lsi, "sprinkled": ours} for k, lsi, ours in columns])
