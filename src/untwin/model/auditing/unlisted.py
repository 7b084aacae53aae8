"""Answers that name no class (`unlisted-answers`): invented labels, and labels that are only spelled otherwise.

A language model that is asked for a class may answer with anything. Such an answer is wrong; it is told what class it
is nearest to, so that the owner may read it as that class, or ask in another way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwin._wording import format_count, share
from untwin.data.alike import fold_label
from untwin.model.findings.finding import Finding, by_size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from untwin._types import Array

MOST_ANSWERS = 200  # different ones that are listed, those of most rows first
N_ROWS = 5
LOOKED_AT = 8  # classes whose spelling is compared in full: those that share most runs of three characters
ALIKE = 0.8  # of the characters are the same, in the same order
LONGEST = 1_000  # characters of an answer that are looked at


class NearClass(NamedTuple):
    """The class that an answer probably means, and why: "spelling", "contains" or "similar"; None: none is near."""

    name: Any
    why: str | None


class Speller:
    """Finds the class that an answer probably means.

    >>> speller = Speller(np.array(["late_fee", "refund"]))
    >>> [speller.near(answer) for answer in ("Late fee", "The answer is: refund.", "refnud", "weather")]
    [NearClass(name='late_fee', why='spelling'), NearClass(name='refund', why='contains'),
     NearClass(name='refund', why='similar'), NearClass(name=None, why=None)]
    """

    def __init__(self, classes: Array) -> None:
        self._folded = [(fold_label(str(name)), name) for name in classes.tolist()]
        times = Counter(folded for folded, _ in self._folded)
        self._by_spelling = {folded: name for folded, name in self._folded if times[folded] == 1}
        self._with_run: dict[str, list[int]] = defaultdict(list)
        for number, (folded, _) in enumerate(self._folded):
            for run in _runs(folded):
                self._with_run[run].append(number)

    def near(self, answer: str) -> NearClass:
        """Return the class that is meant by an answer, by its spelling, by containing it alone, or by similarity."""
        folded = fold_label(answer[:LONGEST])
        if folded in self._by_spelling:
            return NearClass(self._by_spelling[folded], "spelling")
        within = self._named_in(folded)
        if len(within) == 1:
            return NearClass(within[0], "contains")
        if within or not folded:
            return NearClass(None, None)
        similar = [(SequenceMatcher(None, folded, self._folded[n][0]).ratio(), n) for n in self._candidates(folded)]
        best = max(similar, default=(0.0, 0), key=lambda pair: (pair[0], -pair[1]))
        return NearClass(self._folded[best[1]][1], "similar") if best[0] >= ALIKE else NearClass(None, None)

    def _named_in(self, folded: str) -> list[Any]:
        """Return the classes whose whole name stands in a longer answer, without those inside a longer name."""
        numbers = sorted({n for run in _runs(folded) for n in self._with_run.get(run, ())})
        within = [one for one in (self._folded[n] for n in numbers) if one[0] and one[0] in folded]
        found = [one for one in within if re.search(rf"(?<!\w){re.escape(one[0])}(?!\w)", folded)]
        longest = [one for one in found if not any(one[0] != other[0] and one[0] in other[0] for other in found)]
        return [name for _, name in longest]

    def _candidates(self, folded: str) -> list[int]:
        votes = Counter(n for run in _runs(folded) for n in self._with_run.get(run, ()))
        return [number for number, _ in sorted(votes.items(), key=lambda item: (-item[1], item[0]))[:LOOKED_AT]]


def unlisted_answers(classes: Array, y: Array, said: Array, ids: Sequence[Any]) -> Finding | None:
    """Return the answers that are none of the classes, those of most rows first."""
    rows = np.flatnonzero(~np.isin(said, classes))
    if not rows.size:
        return None
    answers, group, times = np.unique(said[rows], return_inverse=True, return_counts=True)
    order = np.argsort(-times, kind="stable")[:MOST_ANSWERS]
    speller = Speller(classes)
    by_group = np.split(rows[np.argsort(group, kind="stable")], np.cumsum(times)[:-1])
    records = tuple(_record(speller, str(answers[n]), y, ids, by_group[n]) for n in order.tolist())
    empty = int((np.char.strip(answers.astype(np.str_)) == "").astype(int) @ times)
    near = sum(record["rows"] for record in records if record["near"] is not None)
    told = f"{format_count(rows.size, 'answer names', 'answers name')} no class ({share(rows.size, len(y))} of the rows"
    told += f"; {len(answers):,} different" if len(answers) > 1 else ""
    told += f"; {empty:,} empty" if empty else ""
    told += f"; {near:,} near a class by their spelling" if near else ""
    return Finding(
        "unlisted-answers",
        f"{told}).",
        records,
        "They count as wrong. Read those near a class as that class if you agree, or let whoever answers choose from a "
        "list of the exact names; what is left was invented, or is a class that the list lacks.",
        by_size(rows.size, len(y), "serious"),
    )


def _record(speller: Speller, answer: str, y: Array, ids: Sequence[Any], rows: Array) -> dict[str, Any]:
    near = speller.near(answer)
    return {
        "answer": answer,
        "rows": len(rows),
        "near": near.name,
        "by": near.why,
        "right if read so": None if near.name is None else int((y[rows] == near.name).sum()),
        "some rows": [ids[row] for row in rows[:N_ROWS].tolist()],
    }


def _runs(folded: str) -> set[str]:
    """Return the runs of three characters of a name, its ends among them; of a shorter one all of it."""
    padded = f" {folded} "
    return {padded[start : start + 3] for start in range(max(len(padded) - 2, 1))}
