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

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin._wording import format_count, share
from untwin.model.findings.finding import Finding, by_size, records
from untwin.model.findings.noise import enough_rows, fitted_noise
from untwin.model.findings.small import FEW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin._types import Floats, Indices
    from untwin.model.findings.evidence import Evidence

SURPRISING = 2.7  # labels without noise reach it once in twenty cases (half of chi2 with one degree of freedom)
MOST_NAMED = 2  # times the wrong labels that the noise stands for


def label_errors(evidence: Evidence) -> Finding | None:
    """Return the rows with the least belief in their own label, as many as are confidently of another class."""
    rows = suspected_rows(evidence)
    if rows.size == 0:
        return None
    n_judged = int(evidence.answers.held.sum())
    return Finding(
        "label-error",
        f"{format_count(rows.size, 'row seems', 'rows seem')} to carry a wrong label "
        f"({share(rows.size, n_judged)} of those judged), as far as this model can tell.",
        _records(evidence, rows),
        "Read them from the top and correct the label where it is wrong; stop where most of them are right. A model "
        "that errs more (another preset) also doubts more labels: those that several models name are the surest.",
        by_size(rows.size, n_judged),
    )


class Believed(NamedTuple):
    """Of each row the belief in its own label, the class that is believed in most, and the belief in that."""

    own: Floats
    best: Indices
    most: Floats


def suspected_rows(evidence: Evidence) -> Indices:
    """Return the rows that probably have a wrong label, the most certain first."""
    answers = evidence.answers
    rows = np.flatnonzero(answers.held & (answers.sizes >= FEW)[answers.true])
    believed, y = _believed(evidence, rows), answers.true[rows]
    doubted = np.flatnonzero(believed.best != y)
    n_errors = _number_of_errors(evidence, rows) if doubted.size else 0
    trust = _trust(believed.own, y, len(answers.classes))
    return rows[doubted[np.argsort(trust[doubted], kind="stable")[:n_errors]]]


def label_trust(evidence: Evidence) -> Floats:
    """Return the trust in each row's label, 1 as usual; NaN where a row was never held out."""
    rows, answers = np.flatnonzero(evidence.answers.held), evidence.answers
    trust = np.full(len(answers.rows), np.nan)
    trust[rows] = _trust(_believed(evidence, rows).own, answers.true[rows], len(answers.classes))
    return trust


def _in_blocks(evidence: Evidence, rows: Indices) -> Iterator[Indices]:
    """Yield the rows, as many at a time as all classes of all of them may be made."""
    for block in evidence.answers.scores.take(rows).blocks():
        yield rows[block]


def _believed(evidence: Evidence, rows: Indices) -> Believed:
    """Return what is believed of rows."""
    found = [Believed(np.empty(0), np.empty(0, dtype=np.intp), np.empty(0))]
    for some in _in_blocks(evidence, rows):
        B = _belief(evidence, some)
        found.append(Believed(_own(B, evidence.answers.true[some]), B.argmax(axis=1), B.max(axis=1)))
    return Believed(*map(np.concatenate, zip(*found, strict=True)))


def _belief(evidence: Evidence, rows: Indices) -> Floats:
    """Return B of some rows."""
    P = evidence.probabilities_of(rows)
    if evidence.neighbours is None:
        return P
    near = evidence.neighbours[rows]
    present, n_classes = near >= 0, P.shape[1]
    row, place = np.nonzero(present)
    votes = np.bincount(row * n_classes + evidence.answers.true[near[row, place]], minlength=P.size).reshape(P.shape)
    B = P * np.sqrt(votes / np.maximum(present.sum(axis=1, keepdims=True), 1) + 1 / n_classes)
    return np.asarray(B / B.sum(axis=1, keepdims=True))


def _own(B: Floats, y: Indices) -> Floats:
    return B[np.arange(len(y)), y]


def _usual(own: Floats, y: Indices, n_classes: int) -> Floats:
    """Return t; infinite for a class without rows, so that no row counts as confidently of it."""
    size = np.bincount(y, minlength=n_classes)
    total = np.bincount(y, own, minlength=n_classes)
    usual: Floats = np.divide(total, size, out=np.full(len(size), np.inf), where=size > 0)
    return usual


def _trust(own: Floats, y: Indices, n_classes: int) -> Floats:
    return own / np.maximum(_usual(own, y, n_classes)[y], np.finfo(float).tiny)


def _number_of_errors(evidence: Evidence, rows: Indices) -> int:
    y, n_classes = evidence.answers.true[rows], len(evidence.answers.classes)
    enough = enough_rows(y, n_classes)
    noise = fitted_noise(evidence.probabilities_of(rows[enough]), y[enough])
    if noise.surprise < SURPRISING:
        return 0
    return min(_confident_errors(evidence, rows), round(MOST_NAMED * noise.wrong(n_classes) * len(y)))


def _confident_errors(evidence: Evidence, rows: Indices) -> int:
    true, n_classes = evidence.answers.true, len(evidence.answers.classes)
    blocks = list(_in_blocks(evidence, rows))
    own = np.concatenate([_own(evidence.probabilities_of(some), true[some]) for some in blocks])
    usual, n_errors = _usual(own, true[rows], n_classes), 0
    for some in blocks:
        P = evidence.probabilities_of(some)
        confident = np.where(usual <= P, P, -1.0)
        n_errors += int(((confident.argmax(axis=1) != true[some]) & (confident.max(axis=1) > 0)).sum())
    return n_errors


def _records(evidence: Evidence, rows: Indices) -> tuple[dict[str, Any], ...]:
    believed, y, classes = _believed(evidence, rows), evidence.answers.true[rows], evidence.answers.classes
    columns = {
        "row": evidence.ids_of(rows),
        "label": classes[y].tolist(),
        "rather": classes[believed.best].tolist(),
        "belief in label": believed.own.tolist(),
        "belief in other": believed.most.tolist(),
        "text": evidence.texts_of(rows),
    }
    return records(columns)
