"""Groups of classes: a tree cut into branches, each of which one classifier decides.

Glossary
--------
tree              `Hierarchy`: every node has two children; too deep to classify by, so it is cut
place             position of a class in tree order; every node, and every group, is a run of places
branch            some classes, dealt to children; a child is one class or another branch
branches          list, parents before children; number 0, the root, has all classes

Training a branch costs its rows times its children. With C classes in g equal groups that is rows x (g + C / g): least
at g = sqrt(C), little more at twice that, where the root, which has all rows, decides more and errs less. And only if
the groups are of similar size. Trees grown from real confusions are not balanced: of 562 classes cut into 25 groups
one had 146. So by default groups are runs of neighbouring subtrees, filled up to a size.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from untwin.structure.linkage import group_roots, inflection, spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from untwin._types import Array, Indices
    from untwin.structure.hierarchy import Hierarchy

    Cut = int | Literal["balanced", "inflection"]

WIDEST = 64  # classes that one branch may decide between, and children of the root beyond which another level pays
WIDTH = 2.0  # groups of a balanced cut, in roots of the number of classes ...
SMALLEST = 4  # ... but no more than leave so many classes to a group
FEWEST = 4  # classes below which groups make no sense
ROOM = 1.25  # groups may be so much larger than the mean, so that subtrees stay whole


class Branch(NamedTuple):
    """Classes dealt to children.

    `classes` are codes, ascending; `child` says to which child each of them belongs; `below` names the branch that
    decides within a child, -1 for a child of one class.
    """

    classes: Indices
    child: Indices
    below: Indices


def flat_branch(n_classes: int) -> Branch:
    """Return the root of a tree without groups."""
    return Branch(np.arange(n_classes), np.arange(n_classes), np.full(n_classes, -1))


def given_branches(groups: Sequence[Sequence[Any]], classes: Array) -> list[Branch]:
    """Return two levels of the groups given; a class that none of them names is a group of its own.

    >>> root, group = given_branches([["ape", "bee"], ["yak"]], np.array(["ape", "bee", "cat"]))
    >>> root.child.tolist(), root.below.tolist(), group.classes.tolist()
    ([0, 0, 1], [1, -1], [0, 1])
    """
    code_of = {name: code for code, name in enumerate(classes.tolist())}
    named = {name for group in groups for name in group}
    if len(named) < sum(map(len, groups)):
        raise ValueError("groups must name each class once. Got a class in two places instead.")
    codes = [[code_of[name] for name in group if name in code_of] for group in groups]
    alone = [[code] for name, code in code_of.items() if name not in named]
    return _linked([[group for group in codes if group] + alone, *([[code] for code in group] for group in codes)])


def cut_branches(tree: Hierarchy, classes: Array, groups: Cut) -> list[Branch]:
    """Return the branches of a tree; `classes` are sorted names, their positions the codes.

    "balanced" makes levels of about equally many children: two levels up to 4,096 classes. A number or "inflection"
    cuts the root like `Hierarchy.cut`. Groups of more than `WIDEST` classes are cut again, balanced. A class that the
    tree lacks is a group of its own; one that it has beyond `classes` is left out.
    """
    order = tree.order().tolist()
    code_of = {name: code for code, name in enumerate(classes.tolist())}
    known = set(order)
    absent = [[code] for name, code in code_of.items() if name not in known]
    splits: list[list[list[int]]] = []
    todo = [(0, len(order))]
    for run in todo:
        parts = list(_parts(tree, *run, groups if not splits else "balanced"))
        splits.append([[code_of[name] for name in order[a:b] if name in code_of] for a, b in parts])
        todo.extend((a, b) for a, b in parts if b - a > 1)
    splits[0] += absent
    return _linked([[group for group in split if group] for split in splits])


def _parts(tree: Hierarchy, start: int, stop: int, groups: Cut) -> Iterator[tuple[int, int]]:
    """Yield the runs that the run start .. stop falls into."""
    size = stop - start
    whole = size == len(tree.classes)
    if groups != "balanced":
        n_groups = inflection(tree.heights) if groups == "inflection" else min(int(groups), size)
        first, length = spans(tree.merges)
        roots = group_roots(tree.merges, n_groups)
        return zip(first[roots].tolist(), (first + length)[roots].tolist(), strict=True)
    if size < FEWEST or (size <= WIDEST and not whole):
        return pairwise(range(start, stop + 1))
    depth = next(d for d in range(2, 64) if size ** (1 / d) <= WIDEST)
    n_groups = min(ceil(WIDTH * size ** (1 / depth)), max(size // SMALLEST, 2))
    return _packed(tree, start, stop, ceil(ROOM * size / n_groups))


def _packed(tree: Hierarchy, start: int, stop: int, most: int) -> Iterator[tuple[int, int]]:
    """Yield runs of whole neighbouring subtrees, of at most `most` classes each."""
    sizes_at: dict[int, list[int]] = defaultdict(list)
    for first, length in zip(*(part.tolist() for part in spans(tree.merges)), strict=True):
        sizes_at[first].append(length)
    begin, place = start, start
    while place < stop:
        subtree = max(size for size in sizes_at[place] if size <= min(most, stop - place))
        if place + subtree - begin > most:
            yield begin, place
            begin = place
        place += subtree
    yield begin, stop


def _linked(splits: list[list[list[int]]]) -> list[Branch]:
    """Return branches of splits; the groups of several classes in one split are those split later, in order."""
    found: list[Branch] = []
    next_branch = 1
    for split in splits:
        if sum(map(len, split)) < 2 and found:
            continue
        below = np.full(len(split), -1)
        for number, group in enumerate(split):
            if len(group) > 1:
                below[number] = next_branch
                next_branch += 1
        codes = np.array([code for group in split for code in group], dtype=np.intp)
        child = np.repeat(np.arange(len(split)), [len(group) for group in split])
        order = np.argsort(codes)
        found.append(Branch(codes[order], child[order], below))
    return found
