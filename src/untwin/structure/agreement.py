"""How far a learnt tree agrees with a known one: the measures, over plain arrays.

Glossary
--------
paths    of every class, its ancestors in the known tree, from the top to its parent.
labels   of every class, the number of its group.
merges   the learnt tree, see `linkage`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.sparse import coo_array, triu

from untwin.structure.linkage import group_labels, leaf_order, meeting_heights, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scipy.sparse import csr_array

    from untwin._types import Array, Floats, Indices


class Agreement(NamedTuple):
    """How far a tree agrees with a known one: 1 is full agreement; by chance, 0 for the first and the last.

    `adjusted_rand` compares the groups when the tree is cut into as many groups as the known one has. `purity` is the
    dendrogram purity: take two classes of one known group and the smallest subtree that holds both; what share of it is
    of that group? `cophenetic_correlation` compares the heights at which pairs of classes meet (nan where all pairs of
    the known tree meet at one height).
    """

    n_groups: int
    adjusted_rand: float
    purity: float
    cophenetic_correlation: float


class SoftLink(NamedTuple):
    """Two classes that confuse each other although the known tree keeps them apart: an "also see"."""

    a: Any
    b: Any
    mutual_complexity: float
    height: float
    known_a: str
    known_b: str


class KnownTree(NamedTuple):
    """A known tree: the path of every class, and the distances between classes (computed at first use)."""

    paths: Sequence[tuple[str, ...]]
    distances: Callable[[], Floats]

    @classmethod
    def from_parents(cls, known: Mapping[Any, object], classes: Array) -> Self:
        """Return the tree of a mapping from class to its parent's name, or to a tuple of ancestors, the top first."""
        missing = [name for name in classes.tolist() if name not in known]
        if missing:
            raise ValueError(f"known must have a parent for every class. Got none for {missing[0]!r} instead.")
        parents = [known[name] for name in classes.tolist()]
        paths = [tuple(map(str, p)) if isinstance(p, tuple | list) else (str(p),) for p in parents]
        return cls(paths, lambda: path_distances(paths))


def agreement_with(known: KnownTree, merges: Indices, cophenetic: Floats) -> Agreement:
    """Compare a learnt tree with a known one, at the cut that has as many groups."""
    labels = path_labels(known.paths)
    n_groups = len(np.unique(labels))
    upper = np.triu_indices(len(labels), 1)
    return Agreement(
        n_groups,
        adjusted_rand(group_labels(merges, n_groups), labels),
        dendrogram_purity(merges, labels),
        correlation(cophenetic[upper], known.distances()[upper]),
    )


def soft_links(
    known: KnownTree, confused: csr_array, classes: Array, *, merges: Indices, heights: Floats, top: int
) -> list[SoftLink]:
    """Return the pairs that `confused` (C x C, symmetric) ranks highest among those with different paths."""
    labels = path_labels(known.paths)
    pairs = triu(confused, 1).tocoo()
    a, b = pairs.coords
    apart = np.flatnonzero((labels[a] != labels[b]) & (pairs.data > 0))
    best = apart[np.lexsort([b[apart], a[apart], -pairs.data[apart]])[:top]]  # equal ones by name
    a, b = a[best], b[best]
    weights, meeting = pairs.data[best].tolist(), meeting_heights(merges, heights, a, b).tolist()
    names, parents = classes.tolist(), ["/".join(path) for path in known.paths]
    return [
        SoftLink(names[i], names[j], weight, height, parents[i], parents[j])
        for i, j, weight, height in zip(a, b, weights, meeting, strict=True)
    ]


def path_labels(paths: Sequence[tuple[str, ...]]) -> Indices:
    """Return a number for every path, equal where the paths are."""
    number = {path: i for i, path in enumerate(sorted(set(paths)))}
    return np.array([number[path] for path in paths], dtype=np.intp)


def path_distances(paths: Sequence[tuple[str, ...]]) -> Floats:
    """Return C x C: how many levels above the deepest parent two classes first meet."""
    depth = max(map(len, paths))
    distances = np.full((len(paths), len(paths)), depth, dtype=np.float64)
    for level in range(1, depth + 1):
        labels = path_labels([path[:level] for path in paths])
        deep = np.array([len(path) >= level for path in paths])
        distances -= (labels[:, np.newaxis] == labels) & deep & deep[:, np.newaxis]
    return distances


def adjusted_rand(a: Indices, b: Indices) -> float:
    """Return the adjusted Rand index of two groupings (Hubert and Arabie 1985)."""
    table = coo_array((np.ones(len(a)), (a, b))).tocsr()
    together, in_a, in_b = (float((x * (x - 1) / 2).sum()) for x in (table.data, table.sum(axis=1), table.sum(axis=0)))
    expected = in_a * in_b / max(len(a) * (len(a) - 1) / 2, 1)
    best = (in_a + in_b) / 2
    return 1.0 if best == expected else (together - expected) / (best - expected)


def dendrogram_purity(merges: Indices, labels: Indices) -> float:
    """Return the mean purity of the smallest subtree around every pair of leaves of one group (nan without pairs)."""
    n = len(labels)
    start, size = spans(merges)
    seen = np.zeros((n + 1, labels.max() + 1))
    np.cumsum(np.eye(labels.max() + 1)[labels[leaf_order(merges)]], axis=0, out=seen[1:])
    inside = seen[start + size] - seen[start]  # node x group: leaves of the group below the node
    left, right = merges.T
    pairs = inside[left] * inside[right]  # pairs of one group that meet at the merge
    purity = inside[n:] / size[n:, np.newaxis]
    return float((pairs * purity).sum() / pairs.sum()) if pairs.any() else float("nan")


def correlation(a: Floats, b: Floats) -> float:
    """Return Pearson's correlation, nan where one side is constant."""
    if len(a) == 0 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])
