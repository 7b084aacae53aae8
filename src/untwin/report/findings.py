"""View 7: findings with their codes, evidence and advice; warnings about the data among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from untwin.model.findings.identity import record_id
from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.model.findings import Finding
    from untwin.model.findings.dismissals import Dismissal
    from untwin.report.study import Study

MOST_RECORDS = 100
ABOUT_DATA = ("split-leak", "label-error", "conflicting-text", "tiny-class", "indistinguishable-classes")


@dataclass(frozen=True)
class Shown(Record):
    """A finding with its first records, of `total`, and their ids; `about_data`: true whatever the classifier."""

    code: str
    severity: str
    title: str
    advice: str
    about_data: bool
    total: int
    ids: tuple[str, ...]
    records: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Findings(Record):
    """All findings, the most serious first; what was dismissed, and what was but has changed since (`returned`)."""

    findings: tuple[Shown, ...]
    dismissed: tuple[Dismissal, ...]
    returned: tuple[Dismissal, ...]

    @classmethod
    def of(cls, study: Study) -> Findings:
        """Read the findings from a study."""
        shown = tuple(_shown(one if study.texts else one.without_texts()) for one in study.findings)
        return cls(shown, study.dismissed, study.returned)

    def frame(self) -> pl.DataFrame:
        """Return one row a finding."""
        names = ("code", "severity", "title", "advice", "total")
        return table([{name: getattr(one, name) for name in names} for one in self.findings])


def _shown(one: Finding) -> Shown:
    return Shown(
        one.code,
        one.severity,
        one.title,
        one.advice,
        one.code in ABOUT_DATA,
        len(one.evidence),
        tuple(record_id(one.code, record) for record in one.evidence[:MOST_RECORDS]),
        one.evidence[:MOST_RECORDS],
    )
