"""`brief`: what a person or a language model needs to tell classes apart.

Nothing is invented: figures and terms are counted on the training rows, examples are quoted from them, definitions are
the owner's. The same model gives the same brief.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin._plain import plain
from untwin._wording import close_match
from untwin.model.briefs.examples import ExampleRows
from untwin.model.briefs.parts import ClassBrief, Contrast, CountedTerm
from untwin.model.features.inputs import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from untwin.model.auditing import Audit
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.findings.evidence import Evidence

N_TERMS = 6
N_CONTRASTS = 4  # confused classes of a class
N_EXAMPLES = 3
SHORT = 10  # classes of a shortlist up to which each is set against every other, confused or not


@dataclass(frozen=True, slots=True)
class Brief:
    """What sets some classes apart from each other and from the classes that they are confused with.

    Attributes
    ----------
    classes : tuple of ClassBrief
        In the order asked for, or sorted.
    total : int
        How many classes there are.
    """

    classes: tuple[ClassBrief, ...]
    total: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and strings, ready for JSON."""
        content: dict[str, Any] = plain(self)
        return content

    def to_markdown(self) -> str:
        """Return the brief as Markdown: a section for each class; two classes stand side by side."""
        from untwin.model.briefs.markdown import brief_page

        return brief_page(self)

    def to_prompt(self, max_tokens: int | None = None, *, count_tokens: Callable[[str], int] | None = None) -> str:
        """Return the brief for a language model that is to choose one of the classes.

        Parameters
        ----------
        max_tokens : int, optional
            What does not fit is left out, the least telling first; the names of the classes must fit.
        count_tokens : callable, optional
            Counts the tokens of a text. None: an estimate that is rather too high.
        """
        from untwin.model.briefs.prompt import prompt_of

        return prompt_of(self, max_tokens, count_tokens)


def brief(
    model: UntwinClassifier | Audit,
    classes: Iterable[Any] | None = None,
    *,
    definitions: Mapping[Any, str] | None = None,
    texts: bool = True,
) -> Brief:
    """Return what tells some classes of a fitted model, or of an audit, apart.

    Parameters
    ----------
    model : UntwinClassifier or Audit
    classes : names, optional
        A shortlist, for instance the likeliest classes of a row; all classes if None.
    definitions : mapping from class to text, optional
        What the owner says of a class; None: what the taxonomy of the model says.
    texts : bool
        False quotes no text.

    Examples
    --------
    >>> from untwin.model import UntwinClassifier
    >>> texts = ["my card has not arrived", "card still not here", "where is the card I ordered", "no card in my post",
    ...     "the machine ate my card", "card stuck in the machine", "machine kept the card", "machine swallowed it"]
    >>> model = UntwinClassifier(preset="fast").fit(texts, ["arrival"] * 4 + ["swallowed"] * 4)
    >>> one = brief(model, ["swallowed"], definitions={"swallowed": "A machine has kept the card."}).classes[0]
    >>> one.rows, one.definition, one.terms[0]
    (4, 'A machine has kept the card.', CountedTerm(term='machine', here=1.0, there=0.0))
    """
    evidence, confusion = model.evidence_, model.confusion_
    names = model.classes_.tolist()
    numbers = _numbers(names, classes)
    chosen = ExampleRows(evidence, model.findings_, quote=_quoting(model, evidence) if texts else None)
    contrasts = _Contrasts(confusion.counts, names, numbers, evidence)
    given = getattr(model, "definitions_", {}) if definitions is None else definitions
    support, predicted = confusion.support, confusion.predicted

    def of_class(number: int) -> ClassBrief:
        name, table = names[number], evidence.contingency
        terms = () if table is None or len(names) < 2 else table.top_terms(name, N_TERMS)
        return ClassBrief(
            name=name,
            definition=given.get(name, given.get(str(name))),
            rows=int(evidence.answers.sizes[number]),
            judged=int(support[number]),
            recall=float(confusion.recall[number]) if support[number] else None,
            precision=float(confusion.precision[number]) if predicted[number] else None,
            terms=tuple(CountedTerm.of(term, evidence.spell) for term in terms),
            contrasts=contrasts.of_class(number),
            typical=chosen.typical(number, N_EXAMPLES),
            borderline=chosen.borderline(number, N_EXAMPLES),
        )

    return Brief(tuple(map(of_class, numbers)), len(names))


def _quoting(model: UntwinClassifier | Audit, evidence: Evidence) -> Callable[[int], str] | None:
    """Return what quotes a row that was asked about: its text, or its cells with the names of their columns."""
    documents = getattr(getattr(model, "state_", None), "documents", None)
    if isinstance(documents, pl.DataFrame):
        rows = evidence.answers.rows
        return lambda row: in_words(documents[int(rows[row])])
    texts = evidence.texts
    return None if texts is None else lambda row: texts[row]


class _Contrasts:
    """Sets classes against those that they are confused with, those of the shortlist first."""

    def __init__(self, counts: Any, names: list[Any], shortlist: Sequence[int], evidence: Evidence) -> None:
        self._there, self._back = counts, counts.T.tocsr()
        self._names, self._table, self._spell = names, evidence.contingency, evidence.spell
        self._shortlist = set(shortlist)
        self._always = self._shortlist if len(self._shortlist) <= SHORT else set()
        self._between: dict[tuple[int, int], tuple[tuple[CountedTerm, ...], ...]] = {}

    def of_class(self, number: int) -> tuple[Contrast, ...]:
        """Return the contrasts of a class."""
        taken_for, taken_from = self._row(self._there, number), self._row(self._back, number)
        errors = {other: taken_for.get(other, 0) + taken_from.get(other, 0) for other in {*taken_for, *taken_from}}
        errors |= {other: errors.get(other, 0) for other in self._always}
        errors.pop(number, None)
        ranked = sorted(errors, key=lambda other: (other not in self._shortlist, -errors[other], other))
        kept = [other for place, other in enumerate(ranked) if place < N_CONTRASTS or other in self._always]
        return tuple(
            Contrast(self._names[other], taken_for.get(other, 0), taken_from.get(other, 0), *self._terms(number, other))
            for other in kept
        )

    @staticmethod
    def _row(counts: Any, number: int) -> dict[int, int]:
        here = slice(counts.indptr[number], counts.indptr[number + 1])
        return dict(zip(counts.indices[here].tolist(), counts.data[here].astype(np.int64).tolist(), strict=True))

    def _terms(self, a: int, b: int) -> tuple[tuple[CountedTerm, ...], tuple[CountedTerm, ...]]:
        """Return the terms for a against b, and for b against a; each pair is counted once."""
        if self._table is None:
            return (), ()
        first, second = sorted((a, b))
        if (first, second) not in self._between:
            sides = self._table.between(self._names[first], self._names[second], N_TERMS)
            self._between[first, second] = tuple(
                tuple(CountedTerm.of(term, self._spell) for term in side) for side in sides
            )
        for_first, for_second = self._between[first, second]
        return (for_first, for_second) if a == first else (for_second, for_first)


def _numbers(names: list[Any], wanted: Iterable[Any] | None) -> list[int]:
    """Return the numbers of the classes asked for, each once; a name may be given as text."""
    if wanted is None:
        return list(range(len(names)))
    known = {str(name): number for number, name in enumerate(names)}
    asked = list(dict.fromkeys(map(str, wanted)))
    unknown = next((name for name in asked if name not in known), None)
    if unknown is not None:
        near = close_match(unknown, list(known))
        hint = f"Did you mean {near!r}?" if near is not None else f"It has {', '.join(map(repr, list(known)[:5]))}, ..."
        raise InputError(f"The model has no class {unknown!r}.", code="unknown-class", hint=hint)
    return [known[name] for name in asked]
