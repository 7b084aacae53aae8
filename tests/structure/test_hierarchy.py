"""Hierarchy: trees against plain loops, ties, cuts, orders, drawings and round trips."""

import json
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from untwin.structure.hierarchy import Hierarchy
from untwin.structure.linkage import SCIPY_METHODS, inflection
from untwin.tables.confusion import Confusion
from untwin.tables.contingency import Contingency

few = settings(max_examples=30, deadline=None)
LINKAGES = sorted(SCIPY_METHODS)


@st.composite
def confusions(draw):
    """Small counts: exact ties everywhere."""
    n = draw(st.integers(1, 9))
    rows = draw(st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=n, max_size=n))
    return Confusion(rows, [f"c{i}" for i in range(n)])


def random_distances(n, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.random((n, 3))
    return np.abs(points[:, None] - points).sum(axis=2)


def blocks(n_blocks, size, rng):
    """A confusion of n_blocks groups of classes that confuse each other."""
    n = n_blocks * size
    counts = rng.poisson(0.02, (n, n))
    for b in range(n_blocks):
        inside = slice(b * size, (b + 1) * size)
        counts[inside, inside] += rng.poisson(3.0, (size, size))
    return Confusion(counts + np.diag(rng.poisson(60, n)), np.arange(n))


def chain(n):
    """Classes at 0, 1, 3, 6, ... : single linkage adds one at a time."""
    places = np.cumsum(np.arange(n, dtype=float))
    return Hierarchy.from_distances(np.abs(np.subtract.outer(places, places)), np.arange(n), linkage="single")


def literal_ward(D):
    """Ward's recurrence on the dissimilarities as they are, by plain loops; distinct distances only."""
    alive = {(i,): {} for i in range(len(D))}
    distance = {frozenset([(i,), (j,)]): D[i, j] for i in range(len(D)) for j in range(i)}
    merged = []
    while len(alive) > 1:
        a, b = min((pair for pair in distance if len(pair) == 2), key=distance.get)
        height = distance.pop(frozenset([a, b]))
        new = tuple(sorted(a + b))
        del alive[a], alive[b]
        for c in alive:
            d_ac, d_bc = distance.pop(frozenset([a, c])), distance.pop(frozenset([b, c]))
            weighted = (len(a) + len(c)) * d_ac + (len(b) + len(c)) * d_bc - len(c) * height
            distance[frozenset([new, c])] = weighted / (len(a) + len(b) + len(c))
        alive[new] = {}
        merged.append((new, height))
    return merged


def test_ward_is_wards_recurrence_on_the_distances_as_they_are():
    D = random_distances(15)
    tree = Hierarchy.from_distances(D, np.arange(15))
    ours = [(tuple(sorted(tree.members(15 + i))), h) for i, h in enumerate(tree.heights)]
    expected = literal_ward(D)
    assert [members for members, _ in ours] == [members for members, _ in expected]
    np.testing.assert_allclose([h for _, h in ours], [h for _, h in expected], rtol=1e-12)


@pytest.mark.parametrize("how", ["ward-squared", "single", "complete", "average"])
def test_the_other_linkages_are_scipys(how):
    D = random_distances(30)
    tree = Hierarchy.from_distances(D, np.arange(30), linkage=how)
    expected = linkage(squareform(D), SCIPY_METHODS[how])
    np.testing.assert_array_equal(tree.merge_distances(), expected[:, 2])
    for n_groups in (2, 5, 11):
        labels = fcluster(expected, n_groups, "maxclust")
        groups = {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}
        assert {frozenset(group) for group in tree.cut(n_groups)} == groups


@few
@given(confusions(), st.sampled_from(LINKAGES), st.randoms(use_true_random=False))
def test_permuting_classes_changes_nothing(confusion, how, random):
    names = confusion.classes.tolist()
    random.shuffle(names)
    shuffled = confusion.reordered(names)
    for metric in ("l1", "l2", "kl"):
        tree = Hierarchy.from_confusion(confusion, metric=metric, linkage=how)
        other = Hierarchy.from_confusion(shuffled, metric=metric, linkage=how)
        assert other == tree
        assert other.order().tolist() == tree.order().tolist()
        assert other.cut() == tree.cut()
    D = confusion.distances("l1")
    assert Hierarchy.from_distances(shuffled.distances("l1"), names, linkage=how) == Hierarchy.from_distances(
        D, confusion.classes, linkage=how
    )
    known = {name: f"p{int(name[1:]) % 3}" for name in names}
    assert other.also_see(known) == tree.also_see(known)
    assert other.group_range(n_bootstrap=3) == tree.group_range(n_bootstrap=3)


@few
@given(confusions(), st.sampled_from(LINKAGES))
def test_every_tree_is_in_order(confusion, how):
    tree = Hierarchy.from_confusion(confusion, linkage=how)
    n = len(tree.classes)
    assert sorted(tree.order().tolist()) == confusion.classes.tolist()
    assert (np.diff(tree.heights) >= 0).all()
    meeting = tree.cophenetic()
    for i in range(n):
        for j in range(i):
            holders = [h for k, h in enumerate(tree.heights) if {f"c{i}", f"c{j}"} <= set(tree.members(n + k))]
            assert meeting[i, j] == meeting[j, i] == holders[0]


@few
@given(confusions())
def test_cuts_are_nested_and_partition_the_classes_in_tree_order(confusion):
    tree = Hierarchy.from_confusion(confusion)
    coarser = tree.cut(1)
    for n_groups in range(1, len(tree.classes) + 1):
        groups = tree.cut(n_groups)
        assert len(groups) == n_groups
        assert [name for group in groups for name in group] == tree.order().tolist()
        assert all(any(set(group) <= set(parent) for parent in coarser) for group in groups)
        coarser = groups
    for height in tree.heights:
        merged = sum(h <= height for h in tree.heights)
        assert tree.cut(height=height) == tree.cut(len(tree.classes) - merged)


def test_cut_refuses_what_cannot_be():
    tree = chain(4)
    for wrong in (0, 5, "knee"):
        with pytest.raises(ValueError, match="groups must be 'inflection' or 1 to 4"):
            tree.cut(wrong)


def literal_inflection(heights):
    """Largest t (merges counted from 1) with c_{t-1} < 0 <= c_t; C - t groups."""
    h = dict(enumerate(heights, start=1))
    c = {t: h[t + 1] - 2 * h[t] + h[t - 1] for t in range(2, len(h))}
    turning = [t for t in c if t - 1 in c and c[t - 1] < 0 <= c[t]]
    return len(h) + 1 - max(turning) if turning else None


@pytest.mark.parametrize("seed", range(10))
def test_inflection_by_a_plain_loop(seed):
    heights = np.cumsum(np.random.default_rng(seed).random(20))
    assert inflection(heights) == literal_inflection(heights)


def test_inflection_of_few_classes_and_of_straight_lines():
    assert [inflection(np.ones(n)) for n in (0, 1, 2)] == [1, 2, 2]
    assert all(2 <= inflection(np.linspace(0, 1, n)) <= max(2, (n + 1) // 2) for n in range(3, 80))
    assert inflection(np.zeros(60)) >= 2


@pytest.mark.parametrize(("n_blocks", "size"), [(6, 10), (10, 15), (25, 8)])
def test_many_classes_in_clear_blocks_are_cut_into_the_blocks(n_blocks, size):
    confusion = blocks(n_blocks, size, np.random.default_rng(0))
    tree = Hierarchy.from_confusion(confusion)
    known = {c: int(c) // size for c in range(n_blocks * size)}
    assert abs(len(tree.cut()) - n_blocks) <= 1
    assert tree.agreement(known).adjusted_rand == 1
    assert tree.agreement(known).purity == 1


def test_breakpoint_by_a_plain_loop():
    heights = np.sort(np.random.default_rng(1).gamma(0.5, size=79))
    late = heights[39:]

    def error(y):
        x = np.arange(len(y))
        return np.sum((y - np.polyval(np.polyfit(x, y, min(1, len(y) - 1)), x)) ** 2)

    best = min(range(1, len(late)), key=lambda k: error(late[:k]) + error(late[k:]))
    assert inflection(heights) == min(max(len(late) - best + 1, 2), 40)


def test_order_is_optimal_up_to_500_classes():
    D = random_distances(40)
    tree = Hierarchy.from_distances(D, np.arange(40), linkage="average")
    expected = leaves_list(optimal_leaf_ordering(linkage(squareform(D), "average"), squareform(D)))
    assert tree.order().tolist() == expected.tolist()


def test_above_500_classes_the_bigger_subtree_comes_first_and_ties_go_by_name():
    tree = Hierarchy.from_distances(random_distances(600), np.arange(600))
    for left, right in tree.merges[::10].tolist():
        a, b = tree.members(left), tree.members(right)
        assert len(a) > len(b) or (len(a) == len(b) and min(a) < min(b))


def test_a_chain_of_thousands_needs_no_recursion():
    tree = chain(3000)
    assert tree.members(5998) == tuple(tree.order().tolist())
    assert tree.to_newick().count("(") == 2999
    assert len(tree.edges()) == 5998
    assert len(tree.cut(1500)) == 1500
    assert Hierarchy.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree
    assert len(tree.draw(max_rows=30).splitlines()) <= 31


def test_the_range_of_groups_is_seeded():
    confusion = blocks(3, 4, np.random.default_rng(0))
    tree = Hierarchy.from_confusion(confusion)
    found = tree.group_range(n_bootstrap=20)
    assert found == tree.group_range(n_bootstrap=20)
    assert found.low <= found.high
    with pytest.raises(ValueError, match="from_confusion"):
        chain(5).group_range()


def test_centroids_are_compared_by_their_cosine():
    centroids = np.array([[3.0, 0, 1], [1, 4, 0], [6, 0, 2], [0, 0, 0]])
    tree = Hierarchy.from_centroids(centroids, ["a", "b", "twin", "void"], linkage="average")
    assert tree.members(4) == ("a", "twin")
    assert tree.heights[0] == pytest.approx(0, abs=1e-12)
    cosine = 3 / np.sqrt(10 * 17)
    assert tree.cophenetic()[0, 1] == pytest.approx(1 - cosine)


def test_groups_are_named_by_the_terms_that_set_them_apart():
    X = [[3, 0, 0, 0, 1], [0, 2, 0, 0, 1], [1, 1, 0, 0, 0], [0, 0, 2, 0, 1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 0]]
    terms = ["purr", "fur", "wheel", "rail", "the"]
    contingency = Contingency.from_counts(X, ["cat", "lynx", "cat", "bus", "tram", "tram"], terms=terms)
    counts = [[7, 3, 0, 0], [4, 6, 0, 0], [0, 1, 8, 1], [0, 0, 2, 8]]
    tree = Hierarchy.from_confusion(Confusion(counts, ["cat", "lynx", "bus", "tram"]))
    names = dict(zip(tree.cut(2), tree.name_groups(contingency, 2, n_terms=2), strict=True))
    assert set(names["cat", "lynx"].split(", ")) == {"purr", "fur"}
    assert set(names["bus", "tram"].split(", ")) == {"wheel", "rail"}
    nodes = [tree.members(4 + i) for i in range(3)]
    assert tree.name_groups(contingency, nodes)[-1] == "4 classes: cat, lynx, ..."  # nothing sets all apart
    drawn = tree.draw(2, names=tree.name_groups(contingency, 2, n_terms=1))
    assert drawn.splitlines()[0].startswith("1. ")
    with pytest.raises(ValueError, match="one name for each of 2 groups"):
        tree.draw(2, names=["a"])


def leaves_of_newick(text):
    """Read a Newick text: {name: distance from the root}, by a small parser."""
    tokens = re.findall(r"'(?:[^']|'')*'|:[^,();]+|[(),;]", text)
    depth, waiting = {}, [[]]
    for token in tokens:
        if token == "(":
            waiting.append([])
        elif token == ")":
            inner = waiting.pop()
            waiting[-1].append(inner)
        elif token.startswith("'"):
            name = token[1:-1].replace("''", "'")
            depth[name] = 0.0
            waiting[-1].append([name])
        elif token.startswith(":"):
            stack = [waiting[-1][-1]]
            while stack:
                item = stack.pop()
                if isinstance(item, str):
                    depth[item] += float(token[1:])
                else:
                    stack += item
    return depth


@few
@given(confusions(), st.sampled_from(LINKAGES))
def test_round_trips(confusion, how):
    tree = Hierarchy.from_confusion(confusion, linkage=how)
    assert Hierarchy.from_dict(json.loads(json.dumps(tree.to_dict()))) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    depth = leaves_of_newick(tree.to_newick())
    assert list(depth) == tree.order().tolist()
    root = tree.heights[-1] if len(tree.heights) else 0.0
    np.testing.assert_allclose(list(depth.values()), root, atol=1e-8)
    children = [child for _, child in tree.edges()]
    assert sorted(c for c in children if c in tree.classes) == (sorted(tree.classes.tolist()) if children else [])
    assert len(children) == len(set(children)) == 2 * len(tree.classes) - 2
    assert tree.frame().height == len(tree.classes) - 1


@few
@given(confusions(), st.sampled_from([None, "inflection", 1]), st.integers(8, 60))
def test_the_drawing_shows_every_class_once_in_tree_order(confusion, groups, width):
    tree = Hierarchy.from_confusion(confusion)
    lines = tree.draw(groups, width=width).splitlines()
    drawn = [name for line in lines for name in re.findall(r"\bc\d\b", line)]
    assert drawn == tree.order().tolist()
    text = "\n".join(lines)
    assert text.count("┐") + text.count("┬") >= (len(tree.classes) > 1)
    assert not set(text) & set("╴╶╵╷└┌")  # no loose ends


def test_a_large_tree_is_drawn_by_its_groups():
    tree = Hierarchy.from_confusion(blocks(6, 20, np.random.default_rng(0)))
    lines = tree.draw().splitlines()
    assert len(lines) == len(tree.cut()) + 1
    assert lines[0].startswith("group 1 (20 classes: ")
    assert "<pre>" in tree._repr_html_()


def test_awkward_names_survive():
    names = ["it's", "a,b", "x(y):z;", "uni_code é", "<b>"]
    tree = Hierarchy.from_distances(random_distances(5), names)
    assert list(leaves_of_newick(tree.to_newick())) == tree.order().tolist()
    assert "&lt;b&gt;" in tree._repr_html_()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heights": [2.0, 1.0]}, "never decrease"),
        ({"merges": [[0, 1], [0, 2]]}, "exactly once"),
        ({"merges": [[0, 3], [1, 2]]}, "exist before"),
        ({"merges": [[0, 1]]}, "must have 2 merges"),
        ({"classes": ["b", "a", "c"]}, "sorted by name"),
    ],
)
def test_what_is_no_tree_is_refused(change, message):
    good = {"classes": ["a", "b", "c"], "merges": [[0, 1], [3, 2]], "heights": [1.0, 2.0]}
    assert Hierarchy.from_dict(good).cut(2) == [("a", "b"), ("c",)]
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_dict(good | change)


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (np.zeros((2, 3)), "as there are classes"),
        ([[0, -1], [-1, 0]], "not negative"),
        ([[0, 1], [2, 0]], "symmetric"),
        ([[1, 1], [1, 0]], "zero diagonal"),
    ],
)
def test_what_is_no_distance_is_refused(D, message):
    with pytest.raises(ValueError, match=message):
        Hierarchy.from_distances(D, ["a", "b"])
    with pytest.raises(ValueError, match="linkage must be one of"):
        Hierarchy.from_distances(np.zeros((2, 2)), ["a", "b"], linkage="centroid")


def test_it_is_a_value():
    tree = chain(4)
    with pytest.raises(AttributeError):
        tree.linkage = "ward"
    with pytest.raises(ValueError, match="read-only"):
        tree.heights[0] = 9
    assert tree != chain(5)
    assert repr(tree) == "Hierarchy(4 classes, single)"
