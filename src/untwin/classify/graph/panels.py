"""Panels of one-vs-rest experts: which experts score a row, and the margin of each of its candidates.

Glossary
--------
found             candidates (classify/candidates.py): n x k tables of codes, scores and what is open
margins  n x k    decision values of the experts for each candidate; minus infinity where a candidate is not open
sub-graph of i    class i and its neighbours in the confusion graph

`ClassPanel` has one expert for a class. It is trained on its own rows and on those that the base classifier, out of
fold, has among its candidates: the kind of rows that it will score. So k experts are trained on each row, however many
classes there are. `SubgraphPanel` has the experts of paper 2: for each sub-graph as many as it has classes, trained on
all rows of these classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from untwin.classify.experts import Expert, Job, fit_experts
from untwin.classify.graph.candidates import by_expert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array

    from untwin._types import Floats, Indices
    from untwin.classify.graph.candidates import Candidates

NOBODY = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """The rows that experts are trained on: the rows `rows` of X, of the classes `codes[rows]`.

    A class may have none of them. It still has an expert, which is never used, so that experts are in the order of the
    classes.
    """

    estimator: Any
    X: Any
    codes: Indices
    rows: Indices
    n_jobs: int | None

    def experts(self, jobs: Sequence[Job]) -> list[Expert]:
        """Return an expert for each job."""
        return fit_experts(self.estimator, self.X, jobs, n_jobs=self.n_jobs)

    def rows_by_class(self) -> list[Indices]:
        """Return the rows of each class."""
        places = dict(by_expert(self.codes[self.rows]))
        return [self.rows[places.get(code, NOBODY)] for code in range(self.codes.max() + 1)]


@dataclass(frozen=True, slots=True, eq=False)
class ClassPanel:
    """One expert for each class."""

    experts: list[Expert]

    @classmethod
    def fit(cls, training: TrainingRows, found: Candidates) -> Self:
        """Train the expert of a class on its rows against the others that have it among their candidates."""
        codes, rows = training.codes, training.rows
        row, column = np.nonzero(found.open[rows])
        own = np.flatnonzero(~found[rows].hits(codes[rows]).any(axis=1))
        pupils = rows[np.concatenate([row, own])]
        experts = np.concatenate([found.codes[rows[row], column], codes[rows[own]]])
        asked, jobs = dict(by_expert(experts)), []
        for code in range(codes.max() + 1):
            chosen = pupils[asked.get(code, NOBODY)]
            if (codes[chosen] == code).all():  # nobody takes others for this class: it learns from all of them
                chosen = rows
            jobs.append(Job(chosen, (codes[chosen] == code).astype(np.intp)))
        return cls(training.experts(jobs))

    def margins(self, X: Any, found: Candidates) -> Floats:
        """Return the decision value of each candidate's expert."""
        margins = np.full(found.codes.shape, -np.inf)
        row, column = np.nonzero(found.open)
        for code, places in by_expert(found.codes[row, column]):
            rows = row[places]
            margins[rows, column[places]] = self.experts[code].margins(X[rows])[:, 1]
        return margins


@dataclass(frozen=True, slots=True, eq=False)
class SubgraphPanel:
    """For each class an expert for its sub-graph: each class of it against the rest."""

    experts: list[Expert]

    @classmethod
    def fit(cls, training: TrainingRows, subgraphs: csr_array) -> Self:
        """Train an expert for each row of `subgraphs`, C x C with ones for the classes of a sub-graph."""
        by_class = training.rows_by_class()
        members = np.split(subgraphs.indices, subgraphs.indptr[1:-1])
        chosen = [np.sort(np.concatenate([by_class[code] for code in codes])) for codes in members]
        return cls(training.experts([Job(rows, training.codes[rows]) for rows in chosen]))

    def margins(self, X: Any, found: Candidates) -> Floats:
        """Return the decision values of the experts of the sub-graph of the class in column 0."""
        margins = np.full(found.codes.shape, -np.inf)
        for code, rows in by_expert(found.codes[:, 0]):
            expert, asked = self.experts[code], found.codes[rows]
            place = np.minimum(np.searchsorted(expert.classes, asked), len(expert.classes) - 1)
            known = found.open[rows] & (expert.classes[place] == asked)
            margins[rows] = np.where(known, np.take_along_axis(expert.margins(X[rows]), place, axis=1), -np.inf)
        return margins
