"""A cut tree that grows: where classes go that were not there when it was cut.

Glossary
--------
moved      C_old    new code of each class that was there
newcomers  c        codes of the classes that were not
siblings   c        for each of them the class that was there whose centroid is nearest

A newcomer becomes the sibling of its nearest class: one more child of the branch that decides about that class, in the
same groups above. Branches elsewhere decide as before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from untwin.classify.multilevel.descent import branch_key
from untwin.classify.multilevel.groups import Branch

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from untwin._types import Indices
    from untwin.classify.experts import Expert
    from untwin.classify.multilevel.descent import ExpertTree


def nearest_classes(centroids: Any, moved: Indices, newcomers: Indices) -> Indices:
    """Return for each newcomer the code of the nearest class that was there; `centroids` (C x m) are unit rows."""
    cosines = centroids[newcomers] @ centroids[moved].T
    sparse: bool = issparse(cosines)
    return np.asarray(moved[(cosines.toarray() if sparse else cosines).argmax(axis=1)])


def extend_branch(branch: Branch, moved: Indices, newcomers: Indices, siblings: Indices) -> Branch:
    """Return a branch by new codes, with the newcomers whose siblings it has.

    >>> pets = Branch(np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([1, -1]))  # ape and bee in a group, cat alone
    >>> extend_branch(pets, np.array([0, 1, 3]), np.array([2, 4]), np.array([1, 3]))  # bug like bee, cod like cat
    Branch(classes=array([0, 1, 2, 3, 4]), child=array([0, 0, 0, 1, 2]), below=array([ 1, -1, -1]))
    """
    classes = moved[branch.classes]
    here = np.isin(siblings, classes)
    child = branch.child[np.searchsorted(classes, siblings[here])]
    alone = np.flatnonzero(branch.below[child] < 0)
    child[alone] = len(branch.below) + np.arange(len(alone))
    classes = np.concatenate([classes, newcomers[here]])
    order = np.argsort(classes)
    below = np.concatenate([branch.below, np.full(len(alone), -1)])
    return Branch(classes[order], np.concatenate([branch.child, child])[order], below)


def earlier_experts(trees: Sequence[ExpertTree], moved: Indices) -> dict[Hashable, Expert]:
    """Return the experts of all trees by the keys of their branches, in new codes."""
    return {
        branch_key(number, branch._replace(classes=moved[branch.classes])): expert
        for tree in trees
        for number, (branch, expert) in enumerate(zip(tree.branches, tree.experts, strict=True))
    }
