"""Sets of classes that hold the right one with a promised chance: adaptive prediction sets, regularised.

A class gets into the set of a row as long as the likelier classes of that row have together less probability than a
threshold, and each of them makes it a little harder (`penalty`). The threshold comes from the scores of the true
classes of held-out rows, by the rank that conformal prediction asks for: of n rows the ceil((n + 1) * coverage)-th
smallest.

Glossary
--------
P         n x C   probabilities
score     n x C   what a class of a row has against it: the probability of all likelier classes + penalty * (rank - 1)
true      n       score of the true class of each held-out row
table             scores of held-out rows at some of their ranks, for each penalty, and the mean size of sets there
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats, Indices

PENALTIES = (0.005, 0.02, 0.1, 0.5)
GROUP_PENALTY = 0.1
MOST_POINTS = 500
MOST_GROUP_POINTS = 100
ROUNDING = 1e-9  # of sums of probabilities


class Shortlists(NamedTuple):
    """Sets of classes, one for each row.

    Attributes
    ----------
    classes : (C,) array
    ranked : (n, k) array of numbers of classes
        The likeliest classes of each row, the likeliest first.
    inside : (n, k) array of bool
        Which of these belong to the set.

    Examples
    --------
    >>> found = Shortlists(np.array(["ape", "bee", "cat"]), np.array([[2, 0], [1, 2]]), np.array([[1, 1], [1, 0]]) > 0)
    >>> found.lists(), found.sizes.tolist(), found.hold(np.array(["ape", "ape"])).tolist()
    ([['cat', 'ape'], ['bee']], [2, 1], [True, False])
    """

    classes: Array
    ranked: Indices
    inside: Flags

    @property
    def sizes(self) -> Indices:
        """How many classes each set has."""
        return np.asarray(self.inside.sum(axis=1))

    def lists(self) -> list[list[Any]]:
        """Return the classes of each set, the likeliest first."""
        names = self.classes[self.ranked[self.inside]].tolist()
        ends = np.cumsum(self.sizes).tolist()
        return [names[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def hold(self, labels: Array) -> Flags:
        """Tell which sets hold the label of their row."""
        return np.asarray(((self.classes[self.ranked] == np.asarray(labels)[:, np.newaxis]) & self.inside).any(axis=1))


class RankedClasses(NamedTuple):
    """The classes of rows by number (n x C), the likeliest first, and the probability of all likelier ones."""

    ranked: Indices
    before: Floats

    @classmethod
    def of(cls, P: Array) -> Self:
        """Rank classes; ties in the order of the classes."""
        ranked = np.argsort(-P, axis=1, kind="stable")
        shares = np.take_along_axis(P, ranked, axis=1).astype(np.float64)
        return cls(ranked, np.cumsum(shares, axis=1) - shares)

    def scores(self, penalty: float) -> Floats:
        """Return the scores of all classes, in the order of `ranked`."""
        return np.asarray(self.before + penalty * np.arange(self.before.shape[1]))

    def at(self, codes: Array) -> TrueClasses:
        """Return the place of one class in each row, and the probability of those before it."""
        places = np.asarray((self.ranked == np.asarray(codes)[:, np.newaxis]).argmax(axis=1))
        return TrueClasses(places, self.before[np.arange(len(places)), places])


class TrueClasses(NamedTuple):
    """The true classes of held-out rows: the place of each among those of its row, from 0 on, and what is before it."""

    places: Indices
    before: Floats

    def scores(self, penalty: float) -> Floats:
        """Return their scores."""
        return np.asarray(self.before + penalty * self.places)


@dataclass(frozen=True, slots=True, eq=False)
class SetScores:
    """Scores of the true classes of held-out rows, from which any coverage gets its threshold.

    `n_rows` were held out; `ranks` (k) are the ranks kept, from 1 on, rising, `scores` (penalties x k) the scores
    there, and `sizes` (penalties x k) the mean size of sets with such a threshold.

    Examples
    --------
    >>> P = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.5, 0.4, 0.1]])
    >>> held = SetScores.of(RankedClasses.of(P).at(np.array([0, 0, 1])), P)
    >>> held.n_rows, held.rule(0.5)
    (3, SetRule(penalty=0.005, threshold=0.0))
    >>> held.rule(0.99).threshold
    inf
    """

    n_rows: int
    ranks: Indices
    scores: Floats
    sizes: Floats

    @classmethod
    def of(cls, true: TrueClasses, P: Array) -> Self:
        """Return the scores of held-out rows; sizes are those of the sets of rows with the probabilities `P`."""
        rows, n_rows = RankedClasses.of(P), len(true.places)
        ranks = kept_ranks(n_rows, MOST_POINTS)
        scores, sizes = np.empty((len(PENALTIES), len(ranks))), np.empty((len(PENALTIES), len(ranks)))
        for number, penalty in enumerate(PENALTIES):
            scores[number] = np.sort(true.scores(penalty))[ranks - 1]
            of_all = np.sort(rows.scores(penalty), axis=None)
            sizes[number] = np.searchsorted(of_all, scores[number] + ROUNDING, side="right") / max(len(P), 1)
        return cls(n_rows, ranks, scores, sizes)

    def rule(self, coverage: float) -> SetRule:
        """Return the rule that promises a coverage with the smallest sets."""
        place = place_of_rank(self.ranks, self.n_rows, coverage)
        if place is None:
            return SetRule(PENALTIES[0], float("inf"))
        best = int(self.sizes[:, place].argmin())
        return SetRule(PENALTIES[best], float(self.scores[best, place]))

    def threshold(self, penalty: float, coverage: float) -> float:
        """Return the threshold of a coverage with one of the penalties; infinity if so few rows cannot promise it."""
        place = place_of_rank(self.ranks, self.n_rows, coverage)
        return float("inf") if place is None else float(self.scores[PENALTIES.index(penalty), place])


class Must(NamedTuple):
    """What sets hold whatever the threshold: the number of the answer; of rows without evidence, all classes."""

    answers: Array
    no_evidence: Flags

    def sets(self, rows: RankedClasses, inside: Flags, classes: Array) -> Shortlists:
        """Return sets without the places that no set reaches."""
        inside = inside | (rows.ranked == np.asarray(self.answers)[:, np.newaxis]) | self.no_evidence[:, np.newaxis]
        longest = int(np.flatnonzero(inside.any(axis=0)).max(initial=0)) + 1
        return Shortlists(classes, rows.ranked[:, :longest], inside[:, :longest])


class SetRule(NamedTuple):
    """Which classes get into the sets of rows."""

    penalty: float
    threshold: float

    def shortlists(self, P: Array, classes: Array, must: Must) -> Shortlists:
        """Return the sets of rows."""
        rows = RankedClasses.of(P)
        return must.sets(rows, rows.scores(self.penalty) <= self.threshold + ROUNDING, classes)

    @classmethod
    def exact(cls, P: Array, codes: Array, coverage: float, penalty: float) -> Self:
        """Return the rule of split-conformal prediction by rows that nothing else was learnt from.

        If they and new rows are exchangeable, the sets of new rows hold the right class with at least this chance.
        """
        scores = np.sort(RankedClasses.of(P).at(codes).scores(penalty))
        rank = conformal_rank(len(scores), coverage)
        return cls(penalty, float(scores[rank - 1]) if rank <= len(scores) else float("inf"))


@dataclass(frozen=True, slots=True, eq=False)
class GroupScores:
    """Scores of the true classes of held-out rows, group by group of classes, so that each group gets its promise.

    `group_of` (C) is the group of each class; group g had `n_rows[g]` rows, and its scores are `scores[starts[g] :
    starts[g + 1]]` at as many ranks, evenly from the first to the last.
    """

    group_of: Indices
    n_rows: Indices
    starts: Indices
    scores: Floats

    @classmethod
    def of(cls, true: TrueClasses, codes: Array, group_of: Array) -> Self:
        """Return the scores of held-out rows, whose classes have the numbers `codes`."""
        groups, scores = np.asarray(group_of)[codes], true.scores(GROUP_PENALTY)
        n_rows = np.bincount(groups, minlength=int(np.max(group_of)) + 1)
        by_group = np.split(scores[np.lexsort((scores, groups))], np.cumsum(n_rows)[:-1])
        kept = [part[kept_ranks(len(part), MOST_GROUP_POINTS) - 1] for part in by_group]
        return cls(np.asarray(group_of), n_rows, np.cumsum([0, *map(len, kept)]), np.concatenate(kept))

    def shortlists(self, P: Array, classes: Array, must: Must, coverage: float, *, least: float) -> Shortlists:
        """Return the sets of rows; a group with too few rows for its own promise takes the threshold `least`."""
        limits = np.full(len(self.n_rows), least)
        for group, n_rows in enumerate(self.n_rows.tolist()):
            place = place_of_rank(kept_ranks(n_rows, MOST_GROUP_POINTS), n_rows, coverage)
            if place is not None:
                limits[group] = self.scores[self.starts[group] + place]
        rows = RankedClasses.of(P)
        inside = rows.scores(GROUP_PENALTY) <= limits[self.group_of[rows.ranked]] + ROUNDING
        return must.sets(rows, inside, classes)


def conformal_rank(n_rows: int, coverage: float) -> int:
    """Return which of the scores of so many rows is the threshold of a coverage; more than there are: none is.

    >>> conformal_rank(99, 0.95), conformal_rank(10, 0.95)
    (95, 11)
    """
    if not 0 < coverage < 1:
        raise ValueError(f"coverage must be a share between 0 and 1. Got {coverage} instead.")
    return max(1, ceil((n_rows + 1) * coverage - ROUNDING))


def kept_ranks(n_rows: int, most: int) -> Indices:
    """Return the ranks that are kept of so many scores: all, or `most` evenly from the first to the last.

    >>> kept_ranks(3, 10).tolist(), kept_ranks(9, 3).tolist()
    ([1, 2, 3], [1, 5, 9])
    """
    return np.linspace(1, n_rows, min(n_rows, most)).round().astype(np.intp)


def place_of_rank(ranks: Indices, n_rows: int, coverage: float) -> int | None:
    """Return the place of the rank of a coverage, or of the next one that was kept; None if there is none."""
    rank = conformal_rank(n_rows, coverage)
    return int(np.searchsorted(ranks, rank)) if rank <= n_rows else None
