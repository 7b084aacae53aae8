"""What a brief says of one class: counted figures and terms, quoted examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin.tables.term_evidence import TermEvidence


class CountedTerm(NamedTuple):
    """A term, and the share of rows that hold it: here, and there, where it is rarer."""

    term: str
    here: float
    there: float

    @classmethod
    def of(cls, found: TermEvidence, spell: Callable[[Any], Any]) -> CountedTerm:
        """Return a term by its evidence, as people write it."""
        return cls(str(spell(found.term)), found.inside, found.outside)


class BriefExample(NamedTuple):
    """A training row of a class: its name, its text (None if the model keeps none) and the probability of the class.

    The probability comes from a model that had not seen the row. `other` is the likeliest other class of a borderline
    row.
    """

    row: Any
    text: str | None
    probability: float
    other: Any = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Another class that a class is confused with, and the terms that speak for either against the other.

    `taken_for` rows of the class were answered with the other one, `taken_from` rows of the other one with the class.
    """

    other: Any
    taken_for: int
    taken_from: int
    terms: tuple[CountedTerm, ...]
    terms_of_other: tuple[CountedTerm, ...]

    @property
    def errors(self) -> int:
        """Errors either way."""
        return self.taken_for + self.taken_from


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassBrief:
    """All that is known of a class; `judged` of its rows were held out, and `recall` of these were found.

    `precision` is the share of right ones among the answers that name the class; None without any.
    """

    name: Any
    definition: str | None
    rows: int
    judged: int
    recall: float | None
    precision: float | None
    terms: tuple[CountedTerm, ...]
    contrasts: tuple[Contrast, ...]
    typical: tuple[BriefExample, ...]
    borderline: tuple[BriefExample, ...]

    def against(self, other: Any) -> Contrast | None:
        """Return the contrast with another class, if it is here."""
        return next((one for one in self.contrasts if one.other == other), None)
