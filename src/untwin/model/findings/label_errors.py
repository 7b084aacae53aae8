"""Rows that probably carry a wrong label (`label-error`).

Glossary
--------
P        n x C    out-of-fold calibrated probabilities
V        n x C    shares of the labels among a row's neighbours from other folds
B        n x C    belief, rows of P sqrt(V + 1/C) divided by their sums: the neighbours, found by the same words as the
                  classifier uses, count half; 1/C is for a label that none of them has; P without neighbours
t        C        mean of a class's column over the rows that carry its label
trust    n        belief in a row's own label divided by t of that label: 1 as usual, 0 no belief in it

Neither P nor V comes from a model trained on the row: such a model would repeat its label. *Whether* any row is named
depends on errors that P does not explain (`noise`): where classes overlap or are too small to be learnt, rows with
right labels are errors too. *How many* rows are named is the count of confident learning (Northcutt, Jiang and
Chuang 2021): rows for which the likeliest class among those with P at least t is another one; at most twice as many as
random labels would explain, since wrong labels of people are nearer to the truth than random ones. *Which* rows are
named depends on trust, lowest first: a row between twins has some belief in its own label too, while a wrong label
usually has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._wording import format_count, share
from untwin.model.findings.finding import Finding, by_size, records
from untwin.model.findings.noise import fitted_noise
from untwin.model.findings.small import FEW

if TYPE_CHECKING:
    from untwin._types import Floats, Indices
    from untwin.model.findings.evidence import Evidence

SURPRISING = 2.7  # labels without noise reach it once in twenty cases (half of chi2 with one degree of freedom)
MOST_NAMED = 2  # times the wrong labels that the noise stands for


def label_errors(evidence: Evidence) -> Finding | None:
    """Return the rows with the least belief in their own label, as many as are confidently of another class."""
    B = _belief(evidence)
    rows = _suspected(evidence, B)
    if rows.size == 0:
        return None
    n_judged = int(evidence.answers.held.sum())
    return Finding(
        "label-error",
        f"{format_count(rows.size, 'row seems', 'rows seem')} to carry a wrong label "
        f"({share(rows.size, n_judged)} of those judged), as far as this model can tell.",
        _records(evidence, B, rows),
        "Read them from the top and correct the label where it is wrong; stop where most of them are right. A model "
        "that errs more (another preset) also doubts more labels: those that several models name are the surest.",
        by_size(rows.size, n_judged),
    )


def suspected_rows(evidence: Evidence) -> Indices:
    """Return the rows that probably have a wrong label, the most certain first."""
    return _suspected(evidence, _belief(evidence))


def _suspected(evidence: Evidence, B: Floats) -> Indices:
    answers = evidence.answers
    rows = np.flatnonzero(answers.held & (answers.sizes >= FEW)[answers.true])
    B, y = B[rows], answers.true[rows]
    doubted = np.flatnonzero(B.argmax(axis=1) != y)
    n_errors = _number_of_errors(evidence.probabilities[rows], y) if doubted.size else 0
    return rows[doubted[np.argsort(_trust(B, y)[doubted], kind="stable")[:n_errors]]]


def label_trust(evidence: Evidence) -> Floats:
    """Return the trust in each row's label, 1 as usual; NaN where a row was never held out."""
    rows = evidence.answers.held
    trust = np.full(len(rows), np.nan)
    trust[rows] = _trust(_belief(evidence)[rows], evidence.answers.true[rows])
    return trust


def _belief(evidence: Evidence) -> Floats:
    P, near = evidence.probabilities, evidence.neighbours
    if near is None:
        return P
    present, n_classes = near >= 0, P.shape[1]
    row, place = np.nonzero(present)
    votes = np.bincount(row * n_classes + evidence.answers.true[near[row, place]], minlength=P.size).reshape(P.shape)
    B = P * np.sqrt(votes / np.maximum(present.sum(axis=1, keepdims=True), 1) + 1 / n_classes)
    return np.asarray(B / B.sum(axis=1, keepdims=True))


def _own(B: Floats, y: Indices) -> Floats:
    return B[np.arange(len(y)), y]


def _usual(B: Floats, y: Indices) -> Floats:
    """Return t; infinite for a class without rows, so that no row counts as confidently of it."""
    size = np.bincount(y, minlength=B.shape[1])
    total = np.bincount(y, _own(B, y), minlength=B.shape[1])
    usual: Floats = np.divide(total, size, out=np.full(len(size), np.inf), where=size > 0)
    return usual


def _trust(B: Floats, y: Indices) -> Floats:
    return _own(B, y) / np.maximum(_usual(B, y)[y], np.finfo(float).tiny)


def _number_of_errors(P: Floats, y: Indices) -> int:
    noise = fitted_noise(P, y)
    if noise.surprise < SURPRISING:
        return 0
    return min(_confident_errors(P, y), round(MOST_NAMED * noise.wrong(P.shape[1]) * len(y)))


def _confident_errors(P: Floats, y: Indices) -> int:
    confident = np.where(_usual(P, y) <= P, P, -1.0)
    return int(((confident.argmax(axis=1) != y) & (confident.max(axis=1) > 0)).sum())


def _records(evidence: Evidence, B: Floats, rows: Indices) -> tuple[dict[str, Any], ...]:
    B, y, classes = B[rows], evidence.answers.true[rows], evidence.answers.classes
    best = B.argmax(axis=1)
    columns = {
        "row": evidence.ids_of(rows),
        "label": classes[y].tolist(),
        "rather": classes[best].tolist(),
        "belief in label": _own(B, y).tolist(),
        "belief in other": _own(B, best).tolist(),
        "text": evidence.texts_of(rows),
    }
    return records(columns)
