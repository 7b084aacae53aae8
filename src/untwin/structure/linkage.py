"""Binary merge trees as plain arrays: build them, order their children, cut them. No class names are used here.

Glossary
--------
C        number of leaves (classes); leaves are the nodes 0 .. C - 1.
merges   (C - 1) x 2: row i joins its left and its right child into node C + i, as in SciPy.
heights  C - 1 merge distances that never decrease.
D        C x C dissimilarities, symmetric, with a zero diagonal.
start    of every node, where its leaves begin in tree order; they end at start + size.

Trees may be chains of thousands of nodes, so nothing here recurses. SciPy's clustering is imported where it is needed:
a tree that is only read, as that of a loaded model, does without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Indices

SCIPY_METHODS: dict[str, Literal["ward", "single", "complete", "average"]] = {
    "ward": "ward",
    "ward-squared": "ward",
    "single": "single",
    "complete": "complete",
    "average": "average",
}

LARGEST_OPTIMAL_ORDER = 500  # SciPy's optimal leaf ordering is cubic or worse: 0.1 s here, minutes at 5,000 classes
FEWEST_FOR_BREAKPOINT = 50  # below, a line through half of the heights has too few points


def build_tree(D: Floats, linkage: str) -> tuple[Indices, Floats]:
    """Return merges and heights of the tree over `D`; equal distances are settled by the order of the leaves.

    "ward" applies Ward's recurrence to the dissimilarities as they are. SciPy squares what it is given, so it is given
    square roots, and its heights are squared; "ward-squared" is SciPy's own.
    """
    from scipy.cluster.hierarchy import linkage as scipy_linkage
    from scipy.spatial.distance import squareform

    if linkage not in SCIPY_METHODS:
        raise ValueError(f"linkage must be one of {', '.join(SCIPY_METHODS)}. Got {linkage!r} instead.")
    if len(D) < 2:
        return np.empty((0, 2), dtype=np.intp), np.empty(0)
    condensed = squareform(D, checks=False)
    as_they_are = linkage == "ward"
    tree = scipy_linkage(np.sqrt(condensed) if as_they_are else condensed, SCIPY_METHODS[linkage])
    return tree[:, :2].astype(np.intp), tree[:, 2] ** 2 if as_they_are else tree[:, 2]


def order_children(merges: Indices, heights: Floats, D: Floats) -> Indices:
    """Return the merges with children turned so that similar classes stand next to each other in tree order.

    Up to `LARGEST_OPTIMAL_ORDER` leaves by SciPy's optimal leaf ordering, above by size: the bigger child first, the
    one with the first leaf where they are equal.
    """
    from scipy.cluster.hierarchy import optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if not len(merges):
        return merges
    size = sizes(merges)
    if len(D) <= LARGEST_OPTIMAL_ORDER:
        tree = np.column_stack([merges, heights, size[len(D) :]])
        return optimal_leaf_ordering(tree, squareform(D, checks=False))[:, :2].astype(np.intp)
    first = np.arange(len(size))
    for node, (left, right) in enumerate(merges.tolist(), start=len(D)):
        first[node] = min(first[left], first[right])
    left, right = merges.T
    swap = (size[left] < size[right]) | ((size[left] == size[right]) & (first[left] > first[right]))
    return np.where(swap[:, np.newaxis], merges[:, ::-1], merges)


def sizes(merges: Indices) -> Indices:
    """Return the number of leaves below every node."""
    n = len(merges) + 1
    size = [1] * (2 * n - 1)
    for node, (left, right) in enumerate(merges.tolist(), start=n):
        size[node] = size[left] + size[right]
    return np.array(size, dtype=np.intp)


def spans(merges: Indices) -> tuple[Indices, Indices]:
    """Return `start` and `size` of every node: its leaves stand at start .. start + size - 1 in tree order."""
    n = len(merges) + 1
    size = sizes(merges)
    start = np.zeros(2 * n - 1, dtype=np.intp)
    for i in range(n - 2, -1, -1):  # parents before children
        left, right = merges[i]
        start[left] = start[n + i]
        start[right] = start[n + i] + size[left]
    return start, size


def leaf_order(merges: Indices) -> Indices:
    """Return the leaves in tree order."""
    return np.argsort(spans(merges)[0][: len(merges) + 1])


def group_roots(merges: Indices, n_groups: int) -> Indices:
    """Return the nodes that are left when the last `n_groups - 1` merges are undone, in tree order."""
    n = len(merges) + 1
    kept = n - n_groups
    top = np.ones(n + kept, dtype=bool)
    top[merges[:kept]] = False
    roots = np.flatnonzero(top)
    return roots[np.argsort(spans(merges)[0][roots])]


def group_labels(merges: Indices, n_groups: int) -> Indices:
    """Return the group of every leaf, groups numbered in tree order."""
    labels = np.empty(len(merges) + 1, dtype=np.intp)
    labels[leaf_order(merges)] = np.repeat(np.arange(n_groups), sizes(merges)[group_roots(merges, n_groups)])
    return labels


def inflection(heights: Floats) -> int:
    """Return the number of groups that the heights themselves suggest; a hint to start from, not a truth.

    Fewer than 50 leaves: the paper's point of inflection, read as the last merge t at which the curvature of the
    heights turns from negative to not negative; C - t groups are left. Otherwise, and where there is no such merge: the
    breakpoint of the best pair of lines through the last half of the heights.
    """
    n = len(heights) + 1
    if n < 4:
        return min(n, 2)
    curvature = np.diff(heights, 2)  # curvature[i] belongs to merge t = i + 2, counting merges from 1
    curvature[np.abs(curvature) < 1e-12 * heights[-1]] = 0.0  # the last bit must not decide
    bends = np.flatnonzero((curvature[:-1] < 0) & (curvature[1:] >= 0))
    if n < FEWEST_FOR_BREAKPOINT and len(bends):
        return n - (int(bends[-1]) + 3)
    return _breakpoint(heights)


def _breakpoint(heights: Floats) -> int:
    """Return the number of groups at the break of the best fit by two lines to the last half of the heights."""
    n = len(heights) + 1
    late = heights[(n - 1) // 2 :]
    if len(late) < 3:
        return 2
    before, after = _line_residuals(late), _line_residuals(late[::-1])[::-1]
    first_steep = 1 + int(np.argmin(before[:-1] + after[1:]))
    return int(np.clip(len(late) - first_steep + 1, 2, n // 2))


def _line_residuals(y: Floats) -> Floats:
    """Return, for every prefix of `y`, the squared error of its least-squares line."""
    count = np.arange(1.0, len(y) + 1)
    x = count - count.mean()
    y = y - y.mean()
    sum_x, sum_y = np.cumsum(x), np.cumsum(y)
    var_x = np.cumsum(x * x) - sum_x**2 / count
    var_y = np.cumsum(y * y) - sum_y**2 / count
    cov = np.cumsum(x * y) - sum_x * sum_y / count
    var_x[0] = 1.0  # one point: no slope, no error
    return np.asarray(np.maximum(var_y - cov**2 / var_x, 0.0))


def meeting_heights(merges: Indices, heights: Floats, a: Indices, b: Indices) -> Floats:
    """Return the height at which each leaf of `a` meets the leaf beside it in `b`."""
    if not len(a):
        return np.empty(0)
    n = len(merges) + 1
    start, size = spans(merges)
    low, high = np.minimum(start[a], start[b]), np.maximum(start[a], start[b])
    holds_both = (start[n:] <= low[:, np.newaxis]) & (high[:, np.newaxis] < (start + size)[n:])
    return np.asarray(heights[np.argmax(holds_both, axis=1)])  # the first merge that holds both is the lowest


def check_tree(classes: Array, merges: Indices, heights: Floats) -> None:
    """Raise ValueError for anything but a tree over sorted classes."""
    n = len(classes)
    if n == 0 or merges.shape != (n - 1, 2) or heights.shape != (n - 1,):
        raise ValueError(f"A tree of {n} classes must have {n - 1} merges. Got {len(merges)} instead.")
    if not np.array_equal(np.sort(merges, axis=None), np.arange(2 * n - 2)):
        raise ValueError("Every node but the root must be merged exactly once. Got other merges instead.")
    if (merges >= np.arange(n, 2 * n - 1)[:, np.newaxis]).any():
        raise ValueError("A merge must join nodes that exist before it. Got a later node instead.")
    if not np.isfinite(heights).all() or (np.diff(heights) < 0).any():
        raise ValueError("heights must be finite and never decrease. Got other heights instead.")
    if not np.array_equal(classes, np.sort(classes)):
        raise ValueError("classes must be sorted by name. Use Hierarchy.from_distances to grow a tree over any order.")


def check_distances(D: Floats, classes: Array) -> None:
    """Raise ValueError for anything but a matrix of distances between the classes."""
    if D.shape != (len(classes), len(classes)):
        raise ValueError(
            f"D must be {len(classes)} x {len(classes)}, as there are classes. Got shape {D.shape} instead."
        )
    if not np.isfinite(D).all() or (D < 0).any():
        raise ValueError("D must hold finite distances that are not negative. Got others instead.")
    if np.diagonal(D).any() or not np.allclose(D, D.T, rtol=1e-8, atol=1e-12):
        raise ValueError("D must be symmetric with a zero diagonal. Got another matrix instead.")
