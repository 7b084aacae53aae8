"""Why an answer is what it is, in the words of the row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.answer.deletion import log_odds_of, without_each_cell
from untwin.answer.evidence import WordEvidence, contributions_of_words, strongest_evidence
from untwin.answer.words import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from untwin._types import Array, Floats
    from untwin.answer.answerer import TextAnswerer
    from untwin.answer.predictions import Decision, Scored
    from untwin.answer.tables import TableAnswerer

    Terms = tuple[tuple[str, float], ...]
    Weigh = Callable[[int, int, int], Terms]


class Reason(NamedTuple):
    """The explanation of an answer: the likeliest classes, what speaks for them, and similar training rows.

    Attributes
    ----------
    label : label
        The answer.
    probabilities : tuple of (class, probability)
        The likeliest classes.
    unsure : bool
        Whether not to rely on the answer: see `Predictions`.
    neighbours : Explanation or None
        Training rows with similar answers, those with the most terms in common first, named as in `ids_`; their
        similarity is the cosine by terms. None of them for a row without evidence; None from a model that only answers.
    evidence : WordEvidence
        What each word or cell adds to the log-odds of the answer against the next class.
    no_evidence : bool
        Whether the text holds no known term; its probabilities are the shares of the classes.
    own_label : label or None
        The label of the row itself, if it is a training row.
    """

    label: Any
    probabilities: tuple[tuple[Any, float], ...]
    unsure: bool
    neighbours: Any
    evidence: WordEvidence
    no_evidence: bool = False
    own_label: Any = None

    def __str__(self) -> str:
        likeliest = ", ".join(f"{name} {share:.2f}" for name, share in self.probabilities)
        lines = [f"{self.label}{' (unsure)' if self.unsure else ''}: {likeliest}", *self._remarks()]
        for name, terms in self.evidence.sides():
            lines.append(f"  for {name}: {', '.join(f'{term} {number:+.2f}' for term, number in terms)}")
        return "\n".join(lines if self.neighbours is None else [*lines, *self.neighbours.lines()])

    def _remarks(self) -> list[str]:
        remarks = ["  without evidence: no term of the text is known"] if self.no_evidence else []
        if self.own_label is not None:
            same = "the same" if self.own_label == self.label else "not the answer"
            remarks.append(f"  a training row labelled {self.own_label}, which is {same}")
        return remarks


def explain_texts(answerer: TextAnswerer, decision: Decision, texts: list[str], top: int) -> list[Reason]:
    """Return why texts are answered as they are, without neighbours: by what answers."""

    def weigh(row: int, first: int, second: int) -> Terms:
        return weigh_words(answerer, texts[row], first, second, top)

    return _explain(answerer.score(texts), decision, top, weigh)


def explain_table(
    answerer: TableAnswerer, decision: Decision, table: Mapping[str, list[Any]], top: int
) -> list[Reason]:
    """Return the same of rows of a table, given as lists of cells: by how answers change without each word or cell."""

    def weigh(row: int, first: int, second: int) -> Terms:
        return weigh_cells(answerer, {name: cells[row] for name, cells in table.items()}, first, second, top)

    return _explain(answerer.score(table), decision, top, weigh)


def weigh_words(answerer: TextAnswerer, text: str, first: int, second: int, top: int) -> Terms:
    """Return the words of a text that add most to the log-odds of two classes, by their numbers."""
    read = read_text(text, answerer.lookups)
    return strongest_evidence(read.words, contributions_of_words(answerer, read, first, second), top)


def weigh_cells(answerer: TableAnswerer, row: Mapping[str, Any], first: int, second: int, top: int) -> Terms:
    """Return the words and cells of a row without which the log-odds of two classes change most."""
    columns = [column.name for column in answerer.columns]
    cells, texts = {name: row[name] for name in columns}, [one.name for one in answerer.columns if one.role == "text"]
    names, changed = without_each_cell(cells, columns, texts)
    if not names:
        return ()
    whole = {name: [cell] for name, cell in cells.items()}
    kept, lost = (log_odds_of(answerer.log_proba(some)[0], first, second) for some in (whole, changed))
    return strongest_evidence(names, kept - lost, top)


def _explain(scored: Scored, decision: Decision, top: int, weigh: Weigh) -> list[Reason]:
    """Return the reasons of answers; `weigh` tells what speaks in a row for one class against another."""
    if top < 1:
        raise ValueError(f"top must be at least 1. Got {top} instead.")
    found, reasons = decision.predictions(scored, max(top, 2)), list[Reason]()
    for row, (first, second) in enumerate(found.ranked[:, :2].tolist()):
        label, against = decision.classes[[first, second]].tolist()
        evidence = WordEvidence(label, against, weigh(row, first, second))
        likeliest = likeliest_classes(decision.classes, found.probabilities[row], top)
        reasons.append(Reason(label, likeliest, bool(found.unsure[row]), None, evidence, bool(scored.mute[row])))
    return reasons


def likeliest_classes(classes: Array, shares: Floats, top: int) -> tuple[tuple[Any, float], ...]:
    """Return the likeliest classes with their probabilities, ties in the order of the classes.

    >>> likeliest_classes(np.array(["a", "b", "c"]), np.array([0.2, 0.2, 0.6]), 2)
    (('c', 0.6), ('a', 0.2))
    """
    best = np.argsort(-shares, kind="stable")[:top]
    return tuple(zip(classes[best].tolist(), shares[best].tolist(), strict=True))
