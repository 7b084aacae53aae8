"""Rows that show a class: typical ones, and borderline ones.

typical      answered right by models that had not seen them, the most confident first
borderline   the class and another one are about as likely, the closest first
Rows whose label looks wrong (`label-error`) show nothing. Of equal texts the first is taken; empty ones are left out.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._wording import ELLIPSIS, cut
from untwin.model.briefs.parts import BriefExample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from untwin._types import Array, Floats, Indices
    from untwin.model.findings import Finding
    from untwin.model.findings.evidence import Evidence

    Quote = Callable[[int], str]

LONGEST = 240  # characters of a quoted text
POSSIBLE = 0.1  # least probability of the other class of a borderline row
MOST_TRIED = 50  # rows looked at for so many different texts


class ExampleRows:
    """Chooses examples of classes; `quote` returns the text of a row, None: none may be quoted."""

    def __init__(self, evidence: Evidence, findings: Sequence[Finding], *, quote: Quote | None) -> None:
        self._evidence, self._quote = evidence, quote
        ids = evidence.ids_of(np.arange(len(evidence.answers.rows)))
        doubted = {record["row"] for one in findings if one.code == "label-error" for record in one.evidence}
        self._ids = ids
        sound = np.array([name not in doubted for name in ids], dtype=np.bool_)
        usable = np.flatnonzero(evidence.answers.held & sound)
        true = evidence.answers.true[usable]
        by_class = np.argsort(true, kind="stable")
        ends = np.searchsorted(true[by_class], np.arange(len(evidence.answers.classes) + 1))
        self._rows = [usable[by_class[a:b]] for a, b in pairwise(ends.tolist())]

    def typical(self, number: int, n: int) -> tuple[BriefExample, ...]:
        """Return typical rows of a class, given by its number."""
        rows = self._rows[number]
        rows = rows[self._evidence.answers.said[rows] == number]
        P = self._probabilities(rows)[:, number]
        order = np.argsort(-P, kind="stable")
        return self._first(rows[order], P[order], [None] * len(rows), n)

    def borderline(self, number: int, n: int) -> tuple[BriefExample, ...]:
        """Return borderline rows of a class, given by its number."""
        rows, classes = self._rows[number], self._evidence.answers.classes
        if len(classes) < 2:
            return ()
        P = self._probabilities(rows)
        own, P[:, number] = P[:, number].copy(), -1.0
        other = P.argmax(axis=1)
        rival = P.max(axis=1, initial=-1.0)
        possible = np.flatnonzero((rival >= POSSIBLE) & (own >= POSSIBLE))
        order = possible[np.argsort(np.abs(own - rival)[possible], kind="stable")]
        return self._first(rows[order], own[order], classes[other[order]].tolist(), n)

    def _probabilities(self, rows: Indices) -> Floats:
        return np.asarray(np.exp(self._evidence.answers.log_p[rows].astype(np.float64)))

    def _first(self, rows: Indices, P: Array, others: list[Any], n: int) -> tuple[BriefExample, ...]:
        """Return the first rows with different texts."""
        found: dict[Any, BriefExample] = {}
        candidates = zip(rows[:MOST_TRIED].tolist(), P[:MOST_TRIED].tolist(), others[:MOST_TRIED], strict=True)
        for row, probability, other in candidates:
            text = self._text(row)
            key = row if text is None else " ".join(text.casefold().split())
            if key == "" or len(found) == n:
                continue
            found.setdefault(key, BriefExample(self._ids[row], text, probability, other))
        return tuple(found.values())

    def _text(self, row: int) -> str | None:
        return None if self._quote is None else cut(self._quote(row), LONGEST, ELLIPSIS)
