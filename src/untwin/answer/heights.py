"""Answers at the right height: the class, or the smallest group around it of which the model can be sure.

Glossary
--------
n rows, C classes, N nodes: the classes first, then groups, each after all that is inside it, last the root, which holds
all of them. A node of more than half of the classes says less than one bit and is no answer
parents  N       the next larger node around each; the root is its own
order    C       classes as the leaves of the tree, so that those of a node stand side by side
start    N       where they begin in this order; there are `size` of them
level    N       0 a class, 1 inside a group, 2 larger, 3 no answer
path             of a row: the nodes around its answer, from the class up to the last one that is an answer
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.answer.error_curve import ErrorCurve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from untwin._types import Array, Flags, Floats, Indices

LEVELS = ("class", "group", "larger group", "cannot say")
NO_ANSWER = 3
ROUNDING = 1e-9  # of sums of probabilities


@dataclass(frozen=True, eq=False)
class ClassTree:
    """A tree of classes by the parent of each node, and the level of each.

    Examples
    --------
    >>> tree = ClassTree.of([4, 4, 5, 5, 6, 6, 6], [0, 0, 1, 1])  # (0, 1) and (2, 3)
    >>> tree.members(4).tolist(), [LEVELS[level] for level in tree.levels]
    ([0, 1], ['class', 'class', 'class', 'class', 'group', 'group', 'cannot say'])
    """

    parents: Indices
    levels: Indices

    @classmethod
    def of(cls, parents: Any, group_of: Any) -> ClassTree:
        """Return the tree of these parents; a node whose classes all have one of the groups `group_of` is a group."""
        tree = cls(np.asarray(parents, dtype=np.intp), np.zeros(len(parents), dtype=np.intp))
        groups = np.asarray(group_of)[tree.order]
        changes = np.concatenate([[0], np.cumsum(groups[1:] != groups[:-1])])
        mixed = changes[tree.start] != changes[tree.start + tree.size - 1]
        levels = np.where(mixed, 2, 1)
        levels[: tree.n_classes] = 0
        levels[2 * tree.size > max(tree.n_classes, 2)] = NO_ANSWER
        return cls(tree.parents, levels)

    @cached_property
    def n_classes(self) -> int:
        """How many classes there are: nodes that are nobody's parent."""
        return int(self.parents.min())

    @cached_property
    def size(self) -> Indices:
        """How many classes each node has."""
        size = [1] * self.n_classes + [0] * (len(self.parents) - self.n_classes)
        for node, parent in enumerate(self.parents[:-1].tolist()):
            size[parent] += size[node]
        return np.array(size, dtype=np.intp)

    @cached_property
    def start(self) -> Indices:
        """Where the classes of each node begin."""
        start, taken = [0] * len(self.parents), [0] * len(self.parents)
        size, parents = self.size.tolist(), self.parents.tolist()
        for node in range(len(parents) - 2, -1, -1):  # a parent before what is inside it
            parent = parents[node]
            taken[parent] += size[node]
            start[node] = start[parent] + size[parent] - taken[parent]
        return np.array(start, dtype=np.intp)

    @cached_property
    def order(self) -> Indices:
        """The classes as the leaves of the tree."""
        return np.argsort(self.start[: self.n_classes], kind="stable")

    def members(self, node: int) -> Indices:
        """Return the numbers of the classes of a node, in the order of the classes."""
        return np.sort(self.order[self.start[node] : self.start[node] + self.size[node]])

    def climb(self, P: Array, answers: Array, threshold: float) -> tuple[Indices, Floats]:
        """Return the smallest node around each answer whose probability reaches the threshold, and this probability."""
        chosen, found = np.full(len(P), len(self.parents) - 1), np.ones(len(P))
        open_ = np.ones(len(P), dtype=np.bool_)
        for nodes, shares in self._path(P, answers):
            reached = open_ & (shares >= threshold - ROUNDING) & (self.levels[nodes] < NO_ANSWER)
            chosen[reached], found[reached] = nodes[reached], shares[reached]
            open_ &= ~reached
            if not open_.any():
                break
        return chosen, found

    def curve(self, P: Array, answers: Array, codes: Array) -> ErrorCurve:
        """Return what thresholds do to held-out rows, whose classes have the numbers `codes`."""
        return ErrorCurve.of(*self.limits(P, answers, codes))

    def limits(self, P: Array, answers: Array, codes: Array) -> tuple[Floats, Floats]:
        """Return up to which threshold each row is answered, and up to which one wrong."""
        answered_at, wrong_at = np.zeros(len(P)), np.full(len(P), -np.inf)
        place = self.start[np.asarray(codes)]
        for nodes, shares in self._path(P, answers):
            said = self.levels[nodes] < NO_ANSWER
            answered_at[said] = shares[said]
            misses = said & ((place < self.start[nodes]) | (place >= self.start[nodes] + self.size[nodes]))
            wrong_at[misses] = shares[misses]
        return answered_at, wrong_at

    def _path(self, P: Array, answers: Array) -> Iterator[tuple[Indices, Floats]]:
        """Yield the nodes around each answer, from the classes up, and their probabilities."""
        rows = np.arange(len(P))
        summed = np.zeros((len(P), P.shape[1] + 1))
        np.cumsum(P[:, self.order], axis=1, out=summed[:, 1:])
        nodes, shares = np.asarray(answers, dtype=np.intp), P[rows, np.asarray(answers)].astype(np.float64)
        while (self.levels[nodes] < NO_ANSWER).any():
            yield nodes, shares
            nodes = self.parents[nodes]
            inside = summed[rows, self.start[nodes] + self.size[nodes]] - summed[rows, self.start[nodes]]
            shares = np.maximum(shares, inside)  # rounding must not make a larger node less likely


class HeightAnswers(NamedTuple):
    """Answers at the right height.

    Attributes
    ----------
    nodes : (n,) array
        Nodes of `tree`; the last one: it cannot be said.
    probabilities : (n,) array
        That the right class is in the node.
    tree : ClassTree
    classes : (C,) array
    """

    nodes: Indices
    probabilities: Floats
    tree: ClassTree
    classes: Array

    @property
    def levels(self) -> Indices:
        """The level of each answer: a position in `LEVELS`."""
        return self.tree.levels[self.nodes]

    @property
    def bits(self) -> Floats:
        """How much each answer tells: the logarithm of all classes over those left open; 0 where it cannot be said."""
        told = np.log2(self.tree.n_classes) - np.log2(self.sizes)
        return np.asarray(np.where(self.levels < NO_ANSWER, told, 0.0))

    @property
    def sizes(self) -> Indices:
        """How many classes each answer leaves open."""
        return self.tree.size[self.nodes]

    def members(self) -> list[tuple[Any, ...]]:
        """Return the classes that each answer leaves open; none where it cannot be said."""
        said: dict[int, tuple[Any, ...]] = {len(self.tree.parents) - 1: ()}
        for node in np.unique(self.nodes).tolist():
            said.setdefault(node, tuple(self.classes[self.tree.members(node)].tolist()))
        return [said[node] for node in self.nodes.tolist()]

    def labels(self) -> Array:
        """Return a class, a tuple of classes, or None for each row."""
        found = np.empty(len(self.nodes), dtype=object)
        found[:] = [one[0] if len(one) == 1 else one or None for one in self.members()]
        return found

    def hold(self, codes: Array) -> Flags:
        """Tell which nodes hold the class of this number in each row; -1 is no class of the tree."""
        codes, start = np.asarray(codes), self.tree.start[self.nodes]
        place = self.tree.start[codes]
        return np.asarray((codes >= 0) & (place >= start) & (place < start + self.sizes))


class TreePromise(NamedTuple):
    """A tree, and what thresholds did to held-out rows on it."""

    tree: ClassTree
    curve: ErrorCurve

    def answers(self, P: Array, answers: Array, classes: Array, error: float, never: Flags) -> HeightAnswers:
        """Return answers of which about the share `error` is wrong; `never` are rows that must not be answered."""
        nodes, shares = self.tree.climb(P, answers, self.curve.threshold(error))
        root = len(self.tree.parents) - 1
        return HeightAnswers(np.where(never, root, nodes), np.where(never, 1.0, shares), self.tree, classes)


def path_tree(paths: Sequence[tuple[Any, ...]]) -> ClassTree:
    """Return the tree of the ancestors of each class, the top first; a name that is above all classes is the root.

    >>> path_tree([("x", "a"), ("x", "a"), ("x", "b"), ("y", "c")]).parents.tolist()
    [4, 4, 5, 6, 7, 7, 8, 9, 9, 9]
    """
    shared = 0
    while len({path[: shared + 1] for path in paths}) == 1 and shared < min(map(len, paths)):
        shared += 1
    inner = {path[shared:depth] for path in paths for depth in range(shared + 1, len(path) + 1)}
    names = sorted(inner, key=lambda name: (-len(name), tuple(map(str, name))))
    number = {name: len(paths) + place for place, name in enumerate(names)}
    root = len(paths) + len(names)
    parents = [number.get(path[shared:], root) for path in paths]
    return ClassTree.of([*parents, *(number.get(name[:-1], root) for name in names), root], parents)


def merge_tree(merges: Array, group_of: Any) -> ClassTree:
    """Return the tree of merges (C - 1 x 2), as `Hierarchy` has them.

    >>> merge_tree(np.array([[0, 2], [1, 3]]), [0, 1, 0]).parents.tolist()
    [3, 4, 3, 4, 4]
    """
    n_classes = len(merges) + 1
    parents = np.full(2 * n_classes - 1, 2 * n_classes - 2)
    parents[np.asarray(merges).ravel()] = np.repeat(np.arange(n_classes, 2 * n_classes - 1), 2)
    return ClassTree.of(parents, group_of)
