"""Branches: whatever the tree and the cut, every class is reached exactly once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untwin.classify.multilevel import groups
from untwin.classify.multilevel.groups import WIDEST, cut_branches, given_branches
from untwin.classify.multilevel.heldout import held_out_folds
from untwin.structure.hierarchy import Hierarchy


def tree_of(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    return Hierarchy.from_centroids(rng.standard_normal((n_classes, 5)), np.arange(n_classes))


def check_branches(branches, n_classes):
    """Parents come first, a branch holds what its parent's child holds, and all leaves are all classes."""
    assert np.array_equal(branches[0].classes, np.arange(n_classes))
    reached = {0}
    for number, branch in enumerate(branches):
        assert np.array_equal(np.unique(branch.child), np.arange(len(branch.below)))
        for child, below in enumerate(branch.below.tolist()):
            members = branch.classes[branch.child == child]
            assert (below >= 0) == (len(members) > 1)
            if below >= 0:
                assert below > number
                assert np.array_equal(branches[below].classes, members)
                reached.add(below)
    assert reached == set(range(len(branches)))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 150), st.one_of(st.sampled_from(["balanced", "inflection"]), st.integers(1, 20)), st.integers(0, 3)
)
def test_every_class_is_reached_once(n_classes, cut, seed):
    cut = min(cut, n_classes) if isinstance(cut, int) else cut
    check_branches(cut_branches(tree_of(n_classes, seed), np.arange(n_classes), cut), n_classes)


@pytest.mark.parametrize(("n_classes", "depth"), [(40, 2), (200, 3), (600, 4)])
def test_balanced_levels(n_classes, depth, monkeypatch):
    monkeypatch.setattr(groups, "WIDEST", 8)
    branches = cut_branches(tree_of(n_classes), np.arange(n_classes), "balanced")
    check_branches(branches, n_classes)
    assert max(len(branch.below) for branch in branches) <= 2 * groups.WIDEST
    level, levels = [0], 0
    while level:
        level, levels = [below for number in level for below in branches[number].below if below >= 0], levels + 1
    assert levels == depth


def test_a_number_cuts_as_the_tree_does():
    tree = tree_of(30)
    root = cut_branches(tree, np.arange(30), 7)[0]
    groups = {tuple(np.sort(group)) for group in tree.cut(7)}
    assert {tuple(root.classes[root.child == child]) for child in range(7)} == groups


def test_large_groups_are_cut_again():
    branches = cut_branches(tree_of(300), np.arange(300), 2)
    check_branches(branches, 300)
    assert max(len(branch.below) for branch in branches[1:]) <= WIDEST


def test_classes_that_tree_and_labels_do_not_share():
    tree = Hierarchy.from_distances(1.0 - np.eye(6), list("abcxyz"))
    classes = np.array(list("abcde"))
    for cut in ("balanced", 2, "inflection"):
        check_branches(cut_branches(tree, classes, cut), 5)


def test_given_groups():
    branches = given_branches([["a", "c"], ["gone"], ["b", "d"], ["e"]], np.array(list("abcdef")))
    check_branches(branches, 6)
    assert branches[0].child.tolist() == [0, 1, 0, 1, 2, 3]
    with pytest.raises(ValueError, match="name each class once"):
        given_branches([["a", "b"], ["b"]], np.array(["a", "b"]))


def test_few_rows_are_held_out_in_turn_many_once():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((200, 3)), rng.integers(0, 4, 200)
    X[100:150] = X[:50]
    folds, _ = held_out_folds(X, codes, 5, 1000, 0)
    assert sorted(np.unique(folds)) == [0, 1, 2, 3, 4]
    assert np.array_equal(folds[100:150], folds[:50])
    once, _ = held_out_folds(X, codes, 5, 20, 0)
    assert sorted(np.unique(once)) == [-1, 0]
    assert 10 <= (once == 0).sum() <= 40
    assert np.array_equal(once[100:150], once[:50])


def test_nothing_to_hold_out():
    assert held_out_folds(np.eye(3), np.arange(3), 5, 100, 0) is None
    assert held_out_folds(np.ones((4, 2)), np.array([0, 0, 1, 1]), 5, 100, 0) is None


def test_given_folds_are_followed():
    folds = np.array([0, 1, 0, 1, -1, -1])
    held, parts = held_out_folds(np.eye(6), np.array([0, 0, 1, 1, 0, 1]), folds, 2, 0)
    assert np.array_equal(held, folds)
    assert np.array_equal(parts, folds)


def test_nobody_is_asked_about_a_class_that_no_model_would_know():
    """A class of one row is learnt by all models; the temperature would follow its row, which nobody could know."""
    X, codes = np.arange(7.0)[:, np.newaxis], np.array([0, 0, 0, 1, 1, 1, 2])
    folds, parts = held_out_folds(X, codes, 3, 100, 0)
    assert folds.tolist().count(-1) == 1
    assert folds[6] == parts[6] == -1
