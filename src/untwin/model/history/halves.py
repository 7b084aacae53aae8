"""The two halves that a class would be split into: proposed by the finding, and which of their rows are sure.

The halves are the sides of the best cut of the class along its leading directions (`findings/split_class`). A model of
the two is trained on the rows of some folds, and asked about those of the others: rows that it puts on their own side
with a high probability are sure. How often it is right says how well the halves can be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._compat import rows_of
from untwin._errors import InputError
from untwin._wording import option
from untwin.classify.linear import LogisticModel
from untwin.crossfit import out_of_fold
from untwin.model.findings.split_class import halves_of
from untwin.model.history.naming import names_of
from untwin.model.selection.comparison import binomial_interval

if TYPE_CHECKING:
    from untwin.model.classifier import UntwinClassifier

SURE = 0.8  # probability of its own side from which on a row moves
FOLDS = 5
FEWEST = 10  # rows of a half


@dataclass(frozen=True, slots=True)
class Halves:
    """The rows of both halves that are sure, by ids, all rows, and how well the halves are told apart out of fold."""

    sure: tuple[tuple[str, ...], tuple[str, ...]]
    n_rows: int
    separability: float
    low: float
    high: float


def proposed_halves(model: UntwinClassifier, label: Any) -> Halves:
    """Return the halves of a class; raise InputError if it has too few rows or no two sides."""
    evidence = model.evidence_
    parts = halves_of(evidence, label)
    if parts is None or min(map(len, parts)) < FEWEST:
        hint = f"Say which rows go to each new class: {option('rows')}."
        message = f"Class {label!r} has too few rows that were held out to be split by itself."
        raise InputError(message, code="class-change", hint=hint)
    rows = np.sort(np.concatenate(parts))
    side = np.isin(rows, parts[1]).astype(np.int64)
    found = out_of_fold(LogisticModel(), rows_of(evidence.X, rows), side, cv=FOLDS)
    margin = np.zeros(len(rows)) if found.scores is None else found.scores[:, 1].astype(np.float64)
    own = 1 / (1 + np.exp(np.where(side == 1, -margin, margin)))
    sure, right = found.predicted & (own >= SURE), (own > 0.5)[found.predicted]
    ids = np.array(names_of(model.state_.ids[evidence.answers.rows[rows]]), dtype=object)
    halves = (tuple(ids[sure & (side == 0)].tolist()), tuple(ids[sure & (side == 1)].tolist()))
    if not all(halves):
        message = f"The two sides of {label!r} cannot be told apart in rows that were held out."
        raise InputError(message, code="class-change", hint="Say which rows go to each new class, or leave it whole.")
    size = int((model.state_.y == label).sum())
    return Halves(halves, size, float(right.mean()), *binomial_interval(right, folds=FOLDS))
