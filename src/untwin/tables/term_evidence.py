"""Terms that are typical of one side against another, by the 2 x 2 table (this side or that, with the term or not)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.tables.measures import chi2

if TYPE_CHECKING:
    from untwin._types import Array, Integers


class TermEvidence(NamedTuple):
    """One term that is typical of a side: its chi2, and the share of documents with the term on either side.

    >>> TermEvidence("puck", 9.5, inside=0.4, outside=0.1).term
    'puck'
    """

    term: Any
    score: float
    inside: float
    outside: float


class Side(NamedTuple):
    """One or several classes: in how many of their documents each term occurs (length m), and how many they are."""

    documents: Integers
    size: int


def evidence(side: Side, other: Side, names: Array, n: int) -> list[TermEvidence]:
    """Return the `n` terms with the highest chi2 among those that are commoner on `side`; ties in column order."""
    with_term, total = side.documents + other.documents, side.size + other.size
    commoner = np.flatnonzero(side.documents * other.size > other.documents * side.size)
    scores = chi2(side.documents[commoner], with_term[commoner], np.asarray(side.size), total)
    best = np.argsort(-scores, kind="stable")[:n]
    columns = commoner[best]
    inside = side.documents[columns] / side.size
    outside = other.documents[columns] / other.size
    parts = names[columns].tolist(), scores[best].tolist(), inside.tolist(), outside.tolist()
    return [TermEvidence(*row) for row in zip(*parts, strict=True)]
