"""`Finding`: one fact about the data or its labels, with evidence and advice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Literal, get_args

from untwin._values import html_table

if TYPE_CHECKING:
    import polars as pl

Severity = Literal["info", "warning", "serious"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

SHOWN_RECORDS = 20
SOME, MANY = 0.001, 0.01  # shares of the rows that a finding is about
TEXT = "text"  # the key under which a record quotes a row


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """A code that never changes, a title, records as evidence, advice, and a severity.

    Parameters
    ----------
    code : str
        What kind of finding it is: a heading of docs/findings.md.
    title : str
        One sentence with the numbers in it.
    evidence : tuple of dict
        Records of plain Python values with the same keys, the most telling first: ready for JSON.
    advice : str
    severity : {"info", "warning", "serious"}
        Worth knowing; results are worse than they could be; results do not mean what they seem to mean.

    Examples
    --------
    >>> evidence = ({"class": "yak", "rows": 3},)
    >>> tiny = Finding("tiny-class", "1 class has fewer than 10 rows.", evidence, "Add rows.", "warning")
    >>> tiny
    Finding(warning, tiny-class: 1 class has fewer than 10 rows.)
    >>> tiny.frame().rows()
    [('yak', 3)]
    """

    code: str
    title: str
    evidence: tuple[dict[str, Any], ...]
    advice: str
    severity: Severity

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise ValueError(f"severity must be one of {', '.join(SEVERITIES)}. Got {self.severity!r} instead.")

    __hash__ = None  # type: ignore[assignment]  # records are dicts

    def __repr__(self) -> str:
        return f"Finding({self.severity}, {self.code}: {self.title})"

    def frame(self) -> pl.DataFrame:
        """Return the evidence as a table, one line a record."""
        import polars as pl

        return pl.DataFrame(list(self.evidence), infer_schema_length=None)

    def without_texts(self) -> Finding:
        """Return the finding without the texts that its records quote."""
        return replace(self, evidence=tuple({k: v for k, v in record.items() if k != TEXT} for record in self.evidence))

    def _repr_html_(self) -> str:
        shown = self.evidence[:SHOWN_RECORDS]
        table = html_table(list(shown[0]), (list(record.values()) for record in shown)) if shown else ""
        return f"<p><b>{escape(self.title)}</b> ({self.severity}) {escape(self.advice)}</p>{table}"


def by_size(part: int, whole: int, worst: Severity = "warning") -> Severity:
    """Return the severity of a finding about `part` of `whole` rows; below one in a thousand it is "info".

    >>> by_size(1, 5000), by_size(20, 5000), by_size(20, 5000, "serious"), by_size(100, 5000, "serious")
    ('info', 'warning', 'warning', 'serious')
    """
    if part < SOME * whole:
        return "info"
    return worst if part >= MANY * whole else "warning"


def records(columns: dict[str, list[Any]]) -> tuple[dict[str, Any], ...]:
    """Return columns of equal length as records.

    >>> records({"a": [1, 2], "b": ["x", "y"]})
    ({'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'})
    """
    return tuple(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
