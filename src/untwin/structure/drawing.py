"""A merge tree as text: a dendrogram for the terminal, and Newick for other programs.

The dendrogram lies on its side: one row a leaf, the root at the right. Each cell of the canvas is a set of arms (left,
right, up, down) kept as bits; lines are laid by adding arms, and crossings take the right box character by themselves.
See `linkage` for `merges` and `heights`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwin.structure.linkage import group_roots, leaf_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Floats, Indices

LEFT, RIGHT, UP, DOWN = 1, 2, 4, 8
BOXES = np.array(list(" ╴╶─╵┘└┴╷┐┌┬│┤├┼"))  # the index is the sum of the arms


def dendrogram(labels: Sequence[str], merges: Indices, heights: Floats, headings: dict[int, str], width: int) -> str:
    """Return the tree as text; `headings` maps a place in tree order to the line that is put above that leaf."""
    order = leaf_order(merges)
    above = np.cumsum([place in headings for place in range(len(order))])
    row = np.empty(len(order), dtype=np.intp)
    row[order] = np.arange(len(order)) + above
    indent = "  " if headings else ""
    left_column = [""] * (int(row.max()) + 1)
    for place, leaf in enumerate(order.tolist()):
        left_column[row[leaf]] = indent + labels[leaf]
        if place in headings:
            left_column[row[leaf] - 1] = headings[place]
    margin = max(map(len, left_column)) + 1
    canvas = _canvas(merges, heights, row, len(left_column), width)
    lines = [(text.ljust(margin) + art).rstrip() for text, art in zip(left_column, canvas, strict=True)]
    return "\n".join([*lines, *_axis(heights, margin, width)])


def _canvas(merges: Indices, heights: Floats, leaf_rows: Indices, n_rows: int, width: int) -> list[str]:
    """Return the lines of the tree, one string a row."""
    n = len(leaf_rows)
    column = np.concatenate([np.zeros(n, dtype=np.intp), _columns(heights, width)])
    row = np.concatenate([leaf_rows, np.empty(len(merges), dtype=np.intp)])
    arms = np.zeros((n_rows, width), dtype=np.intp)
    arms[leaf_rows, 0] = LEFT if len(merges) else 0
    for node, children in enumerate(merges, start=n):
        here = column[node]
        for child in children:
            arms[row[child], column[child] : here] |= RIGHT
            arms[row[child], column[child] + 1 : here + 1] |= LEFT
        upper, lower = row[children]
        arms[upper:lower, here] |= DOWN
        arms[upper + 1 : lower + 1, here] |= UP
        row[node] = (upper + lower) // 2
    return ["".join(line) for line in BOXES[arms]]


def _columns(heights: Floats, width: int) -> Indices:
    """Return the column of every merge: the lowest at 2, the root at the right edge."""
    if not len(heights):
        return np.empty(0, dtype=np.intp)
    span = heights[-1] - heights[0] or 1.0
    return np.asarray(np.rint(2 + (heights - heights[0]) / span * (width - 3)), dtype=np.intp)


def _axis(heights: Floats, margin: int, width: int) -> list[str]:
    """Return the line under the tree that says at which height the first and the last merge stand."""
    if not len(heights) or heights[0] == heights[-1]:
        return []
    first, last = f"{heights[0]:.3g}", f"{heights[-1]:.3g}"
    return [" " * (margin + 2) + first + last.rjust(width - 2 - len(first))]


def prune(merges: Indices, heights: Floats, n_groups: int) -> tuple[Indices, Floats]:
    """Return the tree above a cut, whose leaves are the groups in tree order."""
    n = len(merges) + 1
    number = np.full(2 * n - 1, -1, dtype=np.intp)
    number[group_roots(merges, n_groups)] = np.arange(n_groups)
    number[2 * n - n_groups :] = np.arange(n_groups, 2 * n_groups - 1)
    return number[merges[n - n_groups :]], heights[n - n_groups :]


def newick(names: Sequence[str], merges: Indices, heights: Floats) -> str:
    """Return the tree in Newick format with branch lengths; every name is quoted, quotes inside are doubled."""
    n = len(names)
    height = np.concatenate([np.zeros(n), heights])
    length = np.zeros(2 * n - 1)
    length[merges] = heights[:, np.newaxis] - height[merges]
    written: list[str] = []
    waiting: list[int | str] = [";", 2 * n - 2]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            written.append(item)
            continue
        branch = f":{length[item]:.10g}" if item < 2 * n - 2 else ""
        if item < n:
            written.append("'" + names[item].replace("'", "''") + "'" + branch)
        else:
            left, right = merges[item - n].tolist()
            waiting += [")" + branch, right, ",", left, "("]
    return "".join(written)
