"""View 2: the confused pairs, ranked, with what tells the two apart and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from untwin._values import positions
from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.report.study import Study

MOST_PAIRS = 50
N_TERMS = 6
N_EXAMPLES = 3
ONE_WAY = 4  # errors one way for one the other way that make a pair lopsided
FEW_ERRORS = 3
TELLING = 0.25  # a term tells two classes apart if its share of rows differs by so much

ADVICE = {
    "few": "Only a few errors: read them before doing anything; they may be wrong labels.",
    "alike": "No term tells the two apart. Merge them, or add a column that knows the difference.",
    "one-way": "Nearly all errors go one way: {taken} is taken for {by}. Check whether it is a special case of it; "
    "if not, add rows of {taken}.",
    "twins": "Twins: merge them if the difference does not matter to you. Otherwise write down what sets them apart, "
    "and check the texts below against it.",
    "define": "The terms below do tell them apart: read the examples for wrong labels, and add rows that show the "
    "difference.",
}


@dataclass(frozen=True)
class Term(Record):
    """A term that speaks for one of two classes: the share of rows that hold it, here and there."""

    term: str
    here: float
    there: float


@dataclass(frozen=True)
class Pair(Record):
    """Two classes taken for each other.

    `share` is that of all errors, `rate` the errors over the rows of both, with its 95 % interval; examples are
    numbers of documents (view 6), the most confident errors first; `gain` is what the accuracy would gain if the
    two were one class.
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
    code: str
    advice: str

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
    terms_a, terms_b = _terms(study, fields["a"], fields["b"])
    code = _code(fields, terms_a + terms_b, twins=(fields["a"], fields["b"]) in study.twins)
    names = [study.names[a], study.names[b]]
    taken, by = names if fields["a_as_b"] >= fields["b_as_a"] else names[::-1]
    fields |= {"a": names[0], "b": names[1]}
    return Pair(
        **fields,
        terms_a=terms_a,
        terms_b=terms_b,
        examples_a=examples(study, a, b),
        examples_b=examples(study, b, a),
        gain=float(fields["errors"] / study.answers.held.sum()),
        code=code,
        advice=ADVICE[code].format(taken=taken, by=by),
    )


def _terms(study: Study, a: Any, b: Any) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    if study.contingency is None:
        return (), ()
    sides = study.contingency.between(a, b, N_TERMS)
    for_a, for_b = (tuple(Term(str(one.term), one.inside, one.outside) for one in side) for side in sides)
    return for_a, for_b


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
    kept = ("a", "b", "a_as_b", "b_as_a", "errors", "share", "rate", "low", "high", "gain", "code")
    terms = {name: ", ".join(term.term for term in getattr(pair, name)) for name in ("terms_a", "terms_b")}
    return {name: getattr(pair, name) for name in kept} | terms | {"advice": pair.advice}
