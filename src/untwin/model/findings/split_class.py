"""Classes that seem to consist of two different things (`split-class`).

Glossary
--------
space    n x d    leading directions of the rows (LSI), rows of unit length
t                 rows of a class along one of its own principal directions in that space
left              share of the variance of t that is left within the better of all cuts of t in two (2-means on a line)

One hill cut in two leaves 0.36 of its variance if it is a Gaussian, 0.25 if it is uniform, the flattest that one hill
can be; two hills leave less. A class is named when `left` is below what uniform samples of its size reach by chance,
with the chance shared among all the classes and directions that were tried. Columns that say that a cell of a table
holds a value are left out: rows that have one or another of a few values make hills whatever the class is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.stats import norm

from untwin._values import positions
from untwin._wording import format_count
from untwin.model.findings.finding import Finding
from untwin.model.findings.row_space import row_space
from untwin.model.findings.telling import ASKED, telling_terms
from untwin.tables.contingency import Contingency

if TYPE_CHECKING:
    from untwin._types import Flags, Floats, Indices
    from untwin.model.findings.evidence import Evidence
    from untwin.model.findings.row_space import RowSpace

DIRECTIONS = 3
FEWEST_ROWS = 40  # two parts that are worth a class each
SMALLEST_PART = 0.15
EQUAL = 1e-6  # rows of the space have unit length: what differs by less along a line differs by rounding
CHANCE = 0.01  # of naming any class at all where none is two things
DRAWN = 400
MOST_DRAWN = 1_000  # larger classes are held to what samples of this size do: stricter than need be, and cheap
MOST_KNOWN = 20  # cuts that are kept, for each class: of what its rows were before
N_TERMS = 5
N_ROWS = 5


class Cut(NamedTuple):
    """The best cut of numbers into two parts: its position, and the share of their variance left within the parts."""

    at: float
    left: float


def best_cut(t: Floats) -> Cut:
    """Return the cut with the least variance within both sides, neither side smaller than a seventh or so of all.

    Equal numbers are never parted; a cut that would have to leaves all of the variance.

    >>> best_cut(np.array([0.0, 1.0, 9.0, 10.0]))
    Cut(at=5.0, left=0.01...)
    >>> best_cut(np.zeros(4))
    Cut(at=0.0, left=1.0)
    """
    ordered, fewest = np.sort(t), _fewest(len(t))
    parts_equals = np.diff(ordered)[fewest - 1 : len(t) - fewest] <= EQUAL
    left = np.where(parts_equals, 1.0, _left(ordered))
    place = int(np.argmin(left))
    first = fewest + place
    return Cut(float(ordered[first - 1 : first + 1].mean()), float(left[place]))


def _fewest(n: int) -> int:
    return max(int(np.ceil(SMALLEST_PART * n)), 1)


def _left(ordered: Floats) -> Floats:
    """Return the share of variance left by each allowed cut of sorted numbers (the last axis)."""
    n = ordered.shape[-1]
    centred = ordered - ordered.mean(axis=-1, keepdims=True)
    below = np.arange(_fewest(n), n - _fewest(n) + 1)
    sums = np.cumsum(centred, axis=-1)[..., below - 1]
    between = sums**2 * (1 / below + 1 / (n - below))  # the sides' sums are opposite
    total = np.maximum((centred**2).sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(1 - between / total)


@lru_cache(maxsize=256)
def flat_hill(n: int) -> tuple[float, float]:
    """Return mean and standard deviation of the share of variance that the best cut of n uniform numbers leaves."""
    samples = np.sort(np.random.default_rng(n).random((DRAWN, n)), axis=1)
    left = _left(samples).min(axis=1)
    return float(left.mean()), float(left.std())


class Parts(NamedTuple):
    """Rows of a class on both sides of its best cut, and how many deviations that is better than one flat hill."""

    code: int
    lower: Indices
    upper: Indices
    left: float
    deviations: float


def split_classes(evidence: Evidence) -> Finding | None:
    """Return classes whose rows have two peaks along one of their leading directions."""
    large = np.flatnonzero(evidence.answers.sizes >= FEWEST_ROWS).tolist()
    X = evidence.X if evidence.cells is None else evidence.X[:, ~evidence.cells]
    if not large or X.shape[1] == 0:
        return None
    space = row_space(X)
    enough = norm.isf(CHANCE / (len(large) * DIRECTIONS))
    if len(space.known) > MOST_KNOWN * len(large):
        space.known.clear()
    parts = [_parted(space, np.flatnonzero(evidence.answers.true == code), code) for code in large]
    found = sorted((part for part in parts if part.deviations >= enough), key=lambda part: -part.deviations)
    if not found:
        return None
    return Finding(
        "split-class",
        f"{format_count(len(found), 'class looks', 'classes look')} like two things under one name.",
        tuple(_record(evidence, part) for part in found),
        "Read a few rows of both parts. If the difference matters to you, make two classes of them; if not, leave it.",
        "info",
    )


def halves_of(evidence: Evidence, label: Any) -> tuple[Indices, Indices] | None:
    """Return the rows on both sides of the best cut of a class; None if it has too few to be cut."""
    X = evidence.X if evidence.cells is None else evidence.X[:, ~evidence.cells]
    code = int(positions([label], evidence.answers.classes)[0])
    rows = np.flatnonzero(evidence.answers.true == code)
    if len(rows) < FEWEST_ROWS or X.shape[1] == 0:
        return None
    parts = _parted(row_space(X), rows, code)
    return parts.lower, parts.upper


def _parted(space: RowSpace, rows: Indices, code: int) -> Parts:
    """Return the best cut of a class along one of its own leading directions; known where its rows are the same."""
    key = rows.tobytes()
    found = space.known.get(key)
    if found is None:
        found = space.known[key] = _cut_in_two(space.coordinates[rows])
    above, left, deviations = found
    return Parts(code, rows[~above], rows[above], left, deviations)


def _cut_in_two(points: Floats) -> tuple[Flags, float, float]:
    """Return which points are above the best cut along one of their leading directions, and how good it is."""
    centred = points - points.mean(axis=0)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, : -DIRECTIONS - 1 : -1]
    lines = (centred @ directions).T
    cuts = [best_cut(t) for t in lines]
    best = int(np.argmin([cut.left for cut in cuts]))
    mean, deviation = flat_hill(min(len(points), MOST_DRAWN))
    return lines[best] > cuts[best].at, cuts[best].left, (mean - cuts[best].left) / deviation


def _record(evidence: Evidence, part: Parts) -> dict[str, Any]:
    terms_of_one, terms_of_other = _terms(evidence, part)
    return {
        "class": evidence.answers.classes.tolist()[part.code],
        "rows of one": len(part.lower),
        "rows of other": len(part.upper),
        "variance left": part.left,
        "deviations": part.deviations,
        "terms of one": terms_of_one,
        "terms of other": terms_of_other,
        "some of one": evidence.ids_of(part.lower[:N_ROWS]),
        "some of other": evidence.ids_of(part.upper[:N_ROWS]),
    }


def _terms(evidence: Evidence, part: Parts) -> tuple[list[Any], list[Any]]:
    if evidence.terms is None:
        return [], []
    present = (evidence.X[np.concatenate([part.lower, part.upper])] != 0).astype(np.int64)
    side = np.repeat([0, 1], [len(part.lower), len(part.upper)])
    found = Contingency.from_counts(present, side, terms=evidence.terms).between(0, 1, ASKED * N_TERMS)
    one, other = ([evidence.spell(term.term) for term in telling_terms(terms, N_TERMS)] for terms in found)
    return one, other
