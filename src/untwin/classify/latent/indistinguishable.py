"""Which classes the data cannot tell apart, and why.

Glossary
--------
u_c       m        mean row of class c, brought to unit length
G         C x C    products u_a . u_b; its eigenvalues are the squared singular values of Z with unit columns
noise_c            what |u_c - truth|^2 is on average: v_c / (n_c |mean|^2), v_c the variance of its rows
w         C        a combination of classes; sum_c w_c u_c is zero but for noise if
                   w'Gw <= 1.5 sum_c w_c^2 noise_c: hardly longer than chance alone would make it
                   (chance sets one pair of real twins in six farther apart: these are missed)

Paper 4 takes singular values of Z that are "exceptionally small" as a sign that a class is spurious, or that there are
not data enough. Sampling noise keeps them from being zero; how large it is follows from the rows, so no threshold has
to be guessed. Three kinds of a combination that vanishes are told apart by their signs:

twins               two classes (or more) with the same profile: a = b
mixture             one class is a blend of others: c = 0.6 a + 0.4 b
lack of intervals   several classes on both sides, or fewer terms than classes: none of them is to blame, the terms
                    have too few directions. Only what vanishes exactly is reported as such: among a hundred classes
                    some long combination is always lost in the noise

That a difference is lost in the noise says nothing where the noise would hide any difference. A class with so few rows
that its own profile is a quarter noise is not judged at all; nor are two classes whose noise is as large as what sets
two classes apart (the median of all pairs), as where every row has the same greeting, or the same few cells of a table;
nor is a blend whose noise is more than a quarter of what sets it apart from the mean of all profiles.
Of twins, all must be alike: a like b and b like c does not make a like c. Rows should be of comparable
length, as intervals and tf-idf are: in raw counts of long texts a few huge rows make all profiles uncertain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import complete, fcluster
from scipy.linalg import eigh
from scipy.optimize import nnls
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms

from untwin.classify.latent.class_sums import placement

if TYPE_CHECKING:
    from untwin._types import Flags, Floats, Indices
    from untwin.classify.latent.class_sums import ClassSums

SPARE = 1.5  # random halves of a class lie 0.6 to 1.3 times as far apart as expected, the nearest real classes 1.6 to 3
MOST_NOISE = 0.25  # of the squared length of a profile that is judged
LEAST_PART = 0.05  # of the largest weight; smaller ones are not named
ROUNDING = 1e-12
FAR = 1e9  # ratio; linkage knows no infinity


class Indistinguishable(NamedTuple):
    """Classes that the data cannot tell apart.

    `kind` is "twins", "mixture" (the blend first, then its parts) or "lack of intervals"; `weights` are those with
    which the mean rows add up to nothing, the largest 1; `singular_value` is relative to the largest.
    """

    kind: Literal["twins", "mixture", "lack of intervals"]
    classes: tuple[Any, ...]
    weights: tuple[float, ...]
    singular_value: float


class _Profiles(NamedTuple):
    """Classes, or groups of twins: products of their unit profiles, noise and length of each, named by a class."""

    G: Floats
    noise: Floats
    lengths: Floats
    names: tuple[Any, ...]
    n_terms: int

    def take(self, kept: Indices) -> _Profiles:
        names = tuple(self.names[i] for i in kept)
        return _Profiles(self.G[np.ix_(kept, kept)], self.noise[kept], self.lengths[kept], names, self.n_terms)


def indistinguishable(sums: ClassSums, *, suspected: bool = False) -> tuple[Indistinguishable, ...]:
    """Return all that cannot be told apart: twins first, then mixtures of what is left, then what lacks intervals.

    Twins that are `suspected`, since a classifier does not tell them apart either, are judged whatever the noise hides.

    >>> from untwin.classify.latent.class_sums import ClassSums
    >>> X = np.array([[1.0, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]] * 50)
    >>> y = np.where(X[:, 0] == 0, "other", np.where(np.arange(200) < 100, "cat", "kitten"))
    >>> indistinguishable(ClassSums.of_rows(X, y))
    (Indistinguishable(kind='twins', classes=('cat', 'kitten'), weights=(1.0, -1.0), singular_value=0.0),)
    """
    groups = np.arange(len(sums.classes))
    profiles = _profiles(sums, groups)
    judged = np.flatnonzero(profiles.noise <= MOST_NOISE)
    found, group_of = _twins(profiles.take(judged), suspected=suspected)
    groups[judged] = judged[group_of]
    merged = _profiles(sums, groups)
    representatives = np.unique(groups[judged])
    return (*found, *_find_mixtures(merged.take(representatives)))


def _profiles(sums: ClassSums, groups: Indices) -> _Profiles:
    """Return the profiles of groups of classes; `groups` names each class's group by one of its classes."""
    merging = placement(groups, len(groups))
    sizes, squares = np.asarray(merging @ sums.sizes), np.asarray(merging @ sums.squares)
    merged = csr_array(merging @ sums.sums)
    lengths = row_norms(merged) / np.maximum(sizes, 1)
    scatter, certainty = squares - sizes * lengths**2, (sizes - 1) * sizes * lengths**2
    noise = np.divide(scatter, certainty, out=np.full(len(sizes), np.inf), where=certainty > 0)
    unit, names = normalize(merged), tuple(sums.classes.tolist())
    return _Profiles((unit @ unit.T).toarray(), noise, lengths, names, int(np.count_nonzero(sums.totals)))


def _twins(profiles: _Profiles, *, suspected: bool) -> tuple[list[Indistinguishable], Indices]:
    """Return groups of twins, and for each class the first class of its group."""
    G, noise = profiles.G, profiles.noise
    apart = 2 - 2 * G
    chance = SPARE * (noise[:, None] + noise) + ROUNDING
    pairs = np.triu_indices(len(noise), 1)
    hidden = not suspected and len(noise) > 2 and chance >= np.median(apart[pairs])
    number = _all_alike(np.where(hidden, FAR, apart / chance)[pairs], len(noise))
    _, first, number = np.unique(number, return_index=True, return_inverse=True)
    found = []
    for group in range(len(first)):
        members = np.flatnonzero(number == group)
        if len(members) > 1:
            smallest = eigh(G[np.ix_(members, members)], eigvals_only=True)
            names = tuple(profiles.names[i] for i in members)
            weights = (1.0, *[-1.0 / (len(members) - 1)] * (len(members) - 1))
            found.append(Indistinguishable("twins", names, weights, _relative(smallest)))
    return found, first[number]


def _all_alike(ratios: Floats, n: int) -> Indices:
    """Return a group for each of n classes, in which the ratio of every pair is at most 1 (complete linkage)."""
    if n < 2:
        return np.arange(n)
    return np.asarray(fcluster(complete(ratios), 1.0, criterion="distance"), dtype=np.intp)


def _find_mixtures(profiles: _Profiles) -> list[Indistinguishable]:
    """Return mixtures, taking each blend out as it is found, and what then still depends on one another."""
    found: list[Indistinguishable] = []
    while len(profiles.names) > 2:
        values, vectors = eigh(profiles.G)
        blend = None
        if profiles.n_terms >= len(profiles.names):
            vanishing = values <= SPARE * (vectors**2).T @ profiles.noise + ROUNDING
            points = vectors * np.sqrt(np.maximum(values, 0))  # as good as the profiles: they have the same products
            blend = _best_mixture(profiles, points, _classes_involved(vectors, vanishing))
        if blend is None:
            return found + _find_dependent(profiles, values, vectors)
        whole, parts, weights = blend
        names = tuple(profiles.names[i] for i in (whole, *parts))
        found.append(Indistinguishable("mixture", names, (1.0, *(-weights).tolist()), _relative(values)))
        profiles = profiles.take(np.delete(np.arange(len(profiles.names)), whole))
    return found


def _find_dependent(profiles: _Profiles, values: Floats, vectors: Floats) -> list[Indistinguishable]:
    """Return the classes whose profiles depend on one another exactly, if there are any."""
    involved = _classes_involved(vectors, values <= ROUNDING)
    if involved.size == 0:
        return []
    names = tuple(profiles.names[i] for i in involved)
    weights = vectors[involved, 0] / profiles.lengths[involved]
    weights /= weights[np.argmax(abs(weights))]
    return [Indistinguishable("lack of intervals", names, tuple(weights.tolist()), _relative(values))]


def _classes_involved(vectors: Floats, vanishing: Flags) -> Indices:
    """Return the classes that take part in combinations that vanish."""
    return np.flatnonzero((vectors[:, vanishing] ** 2).sum(axis=1) > LEAST_PART**2)


def _best_mixture(profiles: _Profiles, points: Floats, involved: Indices) -> tuple[int, Indices, Floats] | None:
    """Return the class that is a blend of others, up to noise, with the parts and their weights; None if none is."""
    best, result = 1.0, None
    G = profiles.G
    own = G.diagonal() - 2 * G.mean(axis=0) + G.mean()  # squared distance from the mean profile
    for whole in involved[profiles.noise[involved] <= MOST_NOISE * own[involved] + ROUNDING]:
        others = np.delete(np.arange(len(points)), whole)
        weights, apart = nnls(points[others].T, points[whole])
        chance = SPARE * (profiles.noise[whole] + weights**2 @ profiles.noise[others]) + ROUNDING
        if apart**2 < best * chance:
            named = weights > LEAST_PART * weights.max()
            parts = others[named]
            best = apart**2 / chance
            result = int(whole), parts, weights[named] * profiles.lengths[whole] / profiles.lengths[parts]
    return result


def _relative(values: Floats) -> float:
    """Return the smallest singular value as a share of the largest, from eigenvalues in ascending order."""
    return float(np.sqrt(max(values[0], 0.0) / values[-1]))
