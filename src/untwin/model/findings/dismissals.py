"""Findings that the owner has looked at and does not want to see again, until what speaks for them has changed.

A dismissal is about one record of a finding. It holds as long as the number that made it a finding stays within the
interval that it had when it was dismissed; beyond it, the finding comes back, and says that it had been dismissed.
Where dismissals are kept is not decided here: they are made of records (`Dismissals.of`), the latest of an id counts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from untwin._plain import plain
from untwin._wording import format_count
from untwin.model.findings.identity import SUBJECTS, measure_of, record_id, renamed_id, subject_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from untwin.model.findings.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Dismissal:
    """A record of a finding that was dismissed: which, why, by whom and when, and what was measured then.

    `low` and `high` are None for a finding without a number. `because` is empty where a dismissal was taken back.
    `subject` are the values that the record is about, to know it again when classes have other names.
    """

    finding: str
    about: str
    because: str
    author: str = ""
    when: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    subject: list[Any] | None = None

    @classmethod
    def of(cls, code: str, record: Mapping[str, Any], because: str, *, author: str = "", when: str = "") -> Self:
        """Return the dismissal of a record as it stands now."""
        measure = measure_of(code, record)
        seen = {} if measure is None else measure._asdict()
        about = subject_of(code, record)
        subject = plain([record.get(key) for key in SUBJECTS[code]])
        known: dict[str, Any] = {"finding": record_id(code, record), "about": about, "subject": subject, **seen}
        return cls(because=because, author=author, when=when, **known)

    def renamed(self, names: Mapping[str, str]) -> Dismissal:
        """Return the dismissal with the id that its record has since classes have these names."""
        code = self.finding.rpartition("-")[0]
        if self.subject is None or code not in SUBJECTS or len(self.subject) != len(SUBJECTS[code]):
            return self
        return replace(self, finding=renamed_id(code, self.subject, names))

    def holds(self, code: str, record: Mapping[str, Any]) -> bool:
        """Tell whether what was measured is still what chance would make of what was measured then."""
        measure = measure_of(code, record)
        return measure is None or self.low is None or self.high is None or self.low <= measure.value <= self.high


class Sifted(NamedTuple):
    """Findings without the records that are dismissed; those dismissals; and those that do not hold any more."""

    findings: list[Finding]
    dismissed: tuple[Dismissal, ...]
    returned: tuple[Dismissal, ...]


@dataclass(frozen=True, slots=True)
class Dismissals:
    """All dismissals by the id of the record.

    Examples
    --------
    >>> from untwin.model.findings.finding import Finding
    >>> pair = {"a": "cat", "b": "lynx", "rate": 0.2, "rate at least": 0.1}
    >>> twins = Finding("twins", "1 pair of classes is often confused.", (pair,), "Merge them.", "warning")
    >>> kept = Dismissals.of([Dismissal.of("twins", pair, "keep apart: the vet asks for it")])
    >>> kept.sift([twins]).findings
    []
    >>> worse = Finding("twins", twins.title, (pair | {"rate": 0.4},), twins.advice, "warning")
    >>> [one.because for one in kept.sift([worse]).returned]
    ['keep apart: the vet asks for it']
    """

    by_id: Mapping[str, Dismissal]

    @classmethod
    def of(cls, records: Iterable[Dismissal]) -> Self:
        """Return the dismissals of these records, in order of time: a later one of the same id replaces an earlier."""
        latest = {one.finding: one for one in records}
        return cls({name: one for name, one in latest.items() if one.because})

    @classmethod
    def nothing(cls) -> Self:
        """Return no dismissals."""
        return cls({})

    def records(self) -> list[dict[str, Any]]:
        """Return them as plain records."""
        return [asdict(one) for one in self.by_id.values()]

    def sift(self, findings: Sequence[Finding]) -> Sifted:
        """Return the findings without what is dismissed; one of which everything is dismissed is left out."""
        if not self.by_id:
            return Sifted(list(findings), (), ())
        kept: list[Finding] = []
        dismissed: list[Dismissal] = []
        returned: list[Dismissal] = []
        for finding in findings:
            left, n_before = [], len(dismissed)
            for record in finding.evidence:
                known = self.by_id.get(record_id(finding.code, record))
                if known is None:
                    left.append(record)
                elif known.holds(finding.code, record):
                    dismissed.append(known)
                else:
                    left.append(record)
                    returned.append(known)
            if left or not finding.evidence:
                kept.append(_without(finding, tuple(left), len(dismissed) - n_before))
        return Sifted(kept, tuple(dismissed), tuple(returned))


def _without(finding: Finding, left: tuple[dict[str, Any], ...], n_dismissed: int) -> Finding:
    """Return a finding of which some records are dismissed; its title counts all of them, and says so."""
    if not n_dismissed:
        return finding
    told = format_count(n_dismissed, "of them is dismissed", "of them are dismissed")
    return replace(finding, title=f"{finding.title} {told}.", evidence=left)
