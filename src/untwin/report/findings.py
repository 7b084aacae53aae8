"""View 7: findings with their codes, evidence and advice; warnings about the data among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.report.study import Study

MOST_RECORDS = 20
ABOUT_DATA = ("split-leak", "label-error", "conflicting-text", "tiny-class", "indistinguishable-classes")


@dataclass(frozen=True)
class Shown(Record):
    """A finding with its first records, of `total`; `about_data`: true whatever the classifier."""

    code: str
    severity: str
    title: str
    advice: str
    about_data: bool
    total: int
    records: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Findings(Record):
    """All findings, the most serious first."""

    findings: tuple[Shown, ...]

    @classmethod
    def of(cls, study: Study) -> Findings:
        """Read the findings from a study."""
        return cls(
            tuple(
                Shown(
                    one.code,
                    one.severity,
                    one.title,
                    one.advice,
                    one.code in ABOUT_DATA,
                    len(one.evidence),
                    tuple(_told(record, texts=study.texts) for record in one.evidence[:MOST_RECORDS]),
                )
                for one in study.model.findings_
            )
        )

    def frame(self) -> pl.DataFrame:
        """Return one row a finding."""
        names = ("code", "severity", "title", "advice", "total")
        return table([{name: getattr(one, name) for name in names} for one in self.findings])


def _told(record: dict[str, Any], *, texts: bool) -> dict[str, Any]:
    """Return a record, without the text that it quotes unless `texts`."""
    return record if texts else {name: value for name, value in record.items() if name != "text"}
