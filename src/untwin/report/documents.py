"""View 6: documents: what was thought of them before they were seen, their neighbours, evidence for A against B.

Evidence is what words add to the log-odds in the model that answers, which has learnt the document since.

Which ones: the examples of the pairs, rows whose label looks wrong, then errors, a cell of the matrix giving its most
confident one in every round, until the page is full.

Glossary
--------
shared    k x m    row i has what each term adds to the cosine of a document and its neighbour i (of k)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from untwin.model.findings.telling import is_function_word
from untwin.report.record import Record, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from untwin._types import Indices
    from untwin.report.classes import Classes
    from untwin.report.pairs import Pairs
    from untwin.report.study import Study

MANY_CLASSES = 300  # the page may be larger from here on
FEW_BYTES, MANY_BYTES = 1_600_000, 4_500_000  # that documents may take up to so many classes, and beyond
MOST = 3_000
BATCH = 200
MOST_A_CELL = 20
N_CLASSES = 5
N_NEIGHBOURS = 5
N_SHARED = 4
N_EVIDENCE = 5
SNIPPET = 120


@dataclass(frozen=True)
class Near(Record):
    """A neighbour from another fold: what it is called, its label (number of a class), cosine, and the terms shared."""

    id: int | str
    label: int
    similarity: float
    terms: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Document(Record):
    """A training row as models saw it that had not learnt it; classes are numbers.

    `position` is what other views call it by, `id` what it is called (`ids_`); `confidence` is the probability of
    the answer (`said`), `classes` are the likeliest ones with their `probabilities`. `evidence` is what each word or
    cell adds to the log-odds of the answer against the class `against`: its label if the answer is wrong, else the
    second-best class.
    """

    position: int
    id: int | str
    true: int
    said: int
    confidence: float
    text: str
    classes: tuple[int, ...]
    probabilities: tuple[float, ...]
    neighbours: tuple[Near, ...]
    against: int
    evidence: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Documents(Record):
    """The documents that the page shows, of `errors` errors in all."""

    names: tuple[str, ...]
    errors: int
    documents: tuple[Document, ...]

    @classmethod
    def of(cls, study: Study, pairs: Pairs, classes: Classes) -> Documents:
        """Choose the documents and say all about them."""
        named = chain(
            chain.from_iterable((*pair.examples_a, *pair.examples_b) for pair in pairs.pairs),
            chain.from_iterable(one.doubtful for one in classes.classes),
            in_rounds(study),
        )
        return cls(study.names, len(study.wrong), tuple(within_budget(study, named)))

    def frame(self) -> pl.DataFrame:
        """Return one row a document."""
        return table(
            [
                {
                    "row": one.id,
                    "label": self.names[one.true],
                    "answer": self.names[one.said],
                    "confidence": one.confidence,
                    "text": one.text,
                }
                for one in self.documents
            ]
        )


def in_rounds(study: Study) -> list[int]:
    """Return errors: the surest of every cell, then the second of every cell ...; in a round large cells come first."""
    answers, wrong = study.answers, study.wrong
    cell = answers.true[wrong] * len(study.names) + answers.said[wrong]
    by_cell = np.argsort(cell, kind="stable")  # the surest first within a cell
    _, start, size = np.unique(cell[by_cell], return_index=True, return_counts=True)
    rank = np.arange(len(wrong)) - np.repeat(start, size)
    order = np.lexsort([-np.repeat(size, size), rank])
    order = order[rank[order] < MOST_A_CELL]
    return [int(position) for position in wrong[by_cell[order]]]


def within_budget(study: Study, named: Iterable[int]) -> Iterator[Document]:
    """Yield documents, each once, until the page has no room for more."""
    left = MANY_BYTES if len(study.names) > MANY_CLASSES else FEW_BYTES
    asked = [position for position in dict.fromkeys(named) if study.answers.said[position] >= 0][:MOST]
    for start in range(0, len(asked), BATCH):
        for document in _batch(study, asked[start : start + BATCH]):
            left -= len(json.dumps(document.to_dict(), ensure_ascii=False).encode("utf-8", "replace"))
            if left < 0:
                return
            yield document


def _batch(study: Study, positions: list[int]) -> Iterator[Document]:
    """Yield documents; what they share with all their neighbours comes from one product."""
    known, rows = study.evidence, np.asarray(positions)
    near = known.neighbours[rows] if known.neighbours is not None else np.empty((len(rows), 0), dtype=np.intp)
    present = near >= 0
    sides = known.X[rows[np.nonzero(present)[0]]], known.X[near[present]]
    ours, theirs = (csr_array(normalize(side) if present.any() else side) for side in sides)
    shared = csr_array(ours.multiply(theirs))
    ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).tolist()
    for number, position in enumerate(positions):
        yield _document(study, position, near[number][present[number]], shared[ends[number] : ends[number + 1]])


def _document(study: Study, position: int, near: Indices, shared: csr_array) -> Document:
    answers, rows = study.answers, study.training_rows
    P = np.exp(answers.scores.take(np.array([position])).dense()[0].astype(np.float64))
    best = np.argsort(-P, kind="stable")[:N_CLASSES]
    true, said = int(answers.true[position]), int(answers.said[position])
    against = true if true != said else next(int(number) for number in best if number != said)
    return Document(
        position=position,
        id=study.ids[position],
        true=true,
        said=said,
        confidence=float(answers.confidence[position]),
        text=study.text(position),
        classes=tuple(best.tolist()),
        probabilities=tuple(P[best].tolist()),
        neighbours=tuple(_near(study, int(row), shared, place) for place, row in enumerate(near[:N_NEIGHBOURS])),
        against=against,
        evidence=() if rows is None else rows.evidence(int(answers.rows[position]), said, against, N_EVIDENCE),
    )


def _near(study: Study, position: int, shared: csr_array, place: int) -> Near:
    here = slice(shared.indptr[place], shared.indptr[place + 1])
    terms, values = shared.indices[here], shared.data[here]
    return Near(
        study.ids[position],
        int(study.answers.true[position]),
        float(values.sum()),
        tuple(term for term, _ in _strongest(study, terms, values, N_SHARED)),
        study.text(position, SNIPPET),
    )


def _strongest(study: Study, terms: Any, weights: Any, n: int) -> list[tuple[str, float]]:
    """Return the names of the heaviest terms with their weights; none where terms have no names."""
    if study.evidence.terms is None:
        return []
    best = np.argsort(-abs(weights), kind="stable")
    names = study.evidence.terms[terms[best]].tolist()
    told = [place for place, name in enumerate(names) if not _is_for_grammar(str(name))][:n]
    kept = told or range(min(n, len(names)))
    return [(str(study.evidence.spell(names[place])), float(weights[best[place]])) for place in kept]


def _is_for_grammar(term: str) -> bool:
    """Tell whether a term consists of function words: it may count, and says nothing to a reader."""
    return all(map(is_function_word, term.split()))
