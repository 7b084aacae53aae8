"""View 2: the confused pairs, ranked, with what tells the two apart and what to do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._values import positions
from untwin.classify.experts import columns_of
from untwin.model.findings.identity import record_id
from untwin.report.advice import in_words
from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.report.study import Study
    from untwin.tables.term_evidence import TermEvidence

MOST_PAIRS = 50
N_TERMS = 6
N_EXAMPLES = 3
ONE_WAY = 4  # errors one way for one the other way that make a pair lopsided
FEW_ERRORS = 3
TELLING = 0.25  # a term tells two classes apart if its share of rows differs by so much
N_SUSPECTS = 5
N_BLURRED = 2
SELDOM = 0.5  # the other class has the term in at most half as large a share of its rows
BLURRED, FEWEST_BLURRED = 0.2, 2  # of the rows that were taken for the other class, that have a term of it


@dataclass(frozen=True)
class Term(Record):
    """A term that speaks for one of two classes: the share of rows that hold it, here and there."""

    term: str
    here: float
    there: float


@dataclass(frozen=True)
class Blurred(Record):
    """A term of the other class in rows that were taken for it: a definition must say what it means in this one.

    `rows` of the `wrong` rows of `label` that were taken for the other one have it.
    """

    term: str
    label: str
    rows: int
    wrong: int


@dataclass(frozen=True)
class Pair(Record):
    """Two classes taken for each other.

    `share` is that of all errors, `rate` the errors over the rows of both, with its 95 % interval; examples are
    numbers of documents (view 6), the most confident errors first; `gain` is what the accuracy of the `judged` rows
    would gain if the two were one class, with its interval. `suspects` are the rows among the errors whose label looks
    wrong, of `n_suspects`; `because` is why its owner keeps them apart, if that was said.
    """

    a: str
    b: str
    a_as_b: int
    b_as_a: int
    errors: int
    share: float
    rate: float
    low: float
    high: float
    terms_a: tuple[Term, ...]
    terms_b: tuple[Term, ...]
    examples_a: tuple[int, ...]
    examples_b: tuple[int, ...]
    gain: float
    gain_low: float
    gain_high: float
    judged: int
    blurred: tuple[Blurred, ...]
    suspects: tuple[int | str, ...]
    n_suspects: int
    because: str
    twins: bool
    code: str
    advice: str = ""

    @property
    def taken(self) -> tuple[str, str]:
        """Which of the two is mostly taken for which."""
        return (self.a, self.b) if self.a_as_b >= self.b_as_a else (self.b, self.a)


@dataclass(frozen=True)
class Pairs(Record):
    """The most confused pairs of `total`, those with most errors first."""

    total: int
    errors: int
    pairs: tuple[Pair, ...]

    @classmethod
    def of(cls, study: Study) -> Pairs:
        """Read the pairs from a study."""
        found = study.pairs
        pairs = tuple(_pair(study, record) for record in found[:MOST_PAIRS])
        return cls(len(found), int(found["errors"].sum()), pairs)

    def frame(self) -> pl.DataFrame:
        """Return one row a pair, terms joined."""
        return table([_flat(pair) for pair in self.pairs])


def _pair(study: Study, record: Any) -> Pair:
    fields = dict(zip(record.dtype.names, record.tolist(), strict=True))
    a, b = positions([fields["a"], fields["b"]], study.model.classes_).tolist()
    terms = study.evidence.terms_between(fields["a"], fields["b"], N_TERMS)
    terms_a, terms_b = (_terms(study, side) for side in terms)
    pair = fields["a"], fields["b"]
    code = _code(fields, terms_a + terms_b, twins=pair in study.twins)
    judged, suspects = int(study.answers.held.sum()), _suspects(study, a, b)
    per_row = fields["errors"] / fields["rate"] / judged  # rows of both, as a share of all that were judged
    made = Pair(
        **fields | {"a": study.names[a], "b": study.names[b]},
        terms_a=terms_a,
        terms_b=terms_b,
        examples_a=examples(study, a, b),
        examples_b=examples(study, b, a),
        gain=float(fields["errors"] / judged),
        gain_low=float(fields["low"] * per_row),
        gain_high=float(fields["high"] * per_row),
        judged=judged,
        blurred=(*_blurred(study, a, b, terms[1]), *_blurred(study, b, a, terms[0])),
        suspects=tuple(study.ids[position] for position in suspects[:N_SUSPECTS]),
        n_suspects=len(suspects),
        because=_because(study, *pair),
        twins=pair in study.twins,
        code=code,
    )
    return replace(made, advice=in_words(made))


def _suspects(study: Study, a: int, b: int) -> list[int]:
    """Return the errors of the pair whose label looks wrong, the surest first."""
    true, said, rows = study.answers.true, study.answers.said, study.doubtful
    here = (true[rows] == a) & (said[rows] == b) | (true[rows] == b) & (said[rows] == a)
    found: list[int] = rows[here].tolist()
    return found


def _because(study: Study, a: Any, b: Any) -> str:
    known = {one.finding: one.because for one in study.dismissed}
    return known.get(record_id("twins", {"a": a, "b": b}), "")


def _blurred(study: Study, true: int, said: int, terms: list[TermEvidence]) -> tuple[Blurred, ...]:
    """Return the terms of one class that occur most often in rows of the other that were taken for it."""
    answers = study.answers
    wrong = study.wrong[(answers.true[study.wrong] == true) & (answers.said[study.wrong] == said)]
    terms = [one for one in terms if one.outside <= SELDOM * one.inside]
    if not terms or not len(wrong):
        return ()
    columns = [study.column_of[one.term] for one in terms]
    rows = np.asarray((columns_of(study.evidence.X[wrong], np.array(columns)) != 0).sum(axis=0)).ravel()
    best = [
        n for n in np.argsort(-rows, kind="stable").tolist() if rows[n] >= max(FEWEST_BLURRED, BLURRED * len(wrong))
    ]
    return tuple(
        Blurred(str(study.evidence.spell(terms[n].term)), study.names[true], int(rows[n]), len(wrong))
        for n in best[:N_BLURRED]
    )


def _terms(study: Study, found: list[TermEvidence]) -> tuple[Term, ...]:
    return tuple(Term(str(study.evidence.spell(one.term)), one.inside, one.outside) for one in found)


def examples(study: Study, true: int, said: int) -> tuple[int, ...]:
    """Return the positions of the most confident errors of one class as another."""
    answers, wrong = study.answers, study.wrong
    here = wrong[(answers.true[wrong] == true) & (answers.said[wrong] == said)]
    return tuple(here[:N_EXAMPLES].tolist())


def _code(fields: dict[str, Any], terms: tuple[Term, ...], *, twins: bool) -> str:
    """Return which advice fits; `twins` are those of the finding."""
    if fields["errors"] <= FEW_ERRORS:
        return "few"
    if terms and max(abs(term.here - term.there) for term in terms) < TELLING:
        return "alike"
    if twins:
        return "twins"
    less, more = sorted([fields["a_as_b"], fields["b_as_a"]])
    return "one-way" if more >= ONE_WAY * max(less, 1) else "define"


def _flat(pair: Pair) -> dict[str, Any]:
    kept = (
        "a",
        "b",
        "a_as_b",
        "b_as_a",
        "errors",
        "share",
        "rate",
        "low",
        "high",
        "gain",
        "gain_low",
        "gain_high",
        "code",
    )
    terms = {name: ", ".join(term.term for term in getattr(pair, name)) for name in ("terms_a", "terms_b")}
    return {name: getattr(pair, name) for name in kept} | terms
