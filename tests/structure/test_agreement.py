"""Known trees: agreement and soft links against plain loops and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from untwin.structure.agreement import adjusted_rand, path_distances
from untwin.structure.hierarchy import Hierarchy
from untwin.tables.confusion import Confusion

few = settings(max_examples=30, deadline=None)


def random_distances(n, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.random((n, 3))
    return np.abs(points[:, None] - points).sum(axis=2)


def literal_purity(tree, known):
    """Dendrogram purity by all pairs of one known group."""
    n, shares = len(tree.classes), []
    for i, a in enumerate(tree.classes.tolist()):
        for b in tree.classes[:i].tolist():
            if known[a] == known[b]:
                subtree = next(m for m in (tree.members(n + k) for k in range(n - 1)) if a in m and b in m)
                shares.append(np.mean([known[c] == known[a] for c in subtree]))
    return np.mean(shares)


@pytest.mark.parametrize("seed", range(5))
def test_agreement_by_plain_loops(seed):
    rng = np.random.default_rng(seed)
    tree = Hierarchy.from_distances(random_distances(12, seed), np.arange(12))
    known = {c: f"p{rng.integers(3)}" for c in range(12)}
    found = tree.agreement(known)
    cut = {c: g for g, group in enumerate(tree.cut(found.n_groups)) for c in group}
    both = [[mapping[c] for c in range(12)] for mapping in (cut, known)]
    assert found.adjusted_rand == pytest.approx(adjusted_rand_score(*both))
    assert found.purity == pytest.approx(literal_purity(tree, known))
    upper = np.triu_indices(12, 1)
    apart = np.array([[float(known[a] != known[b]) for b in range(12)] for a in range(12)])
    assert found.cophenetic_correlation == pytest.approx(np.corrcoef(tree.cophenetic()[upper], apart[upper])[0, 1])


@few
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_adjusted_rand_is_scikit_learns(pairs):
    a, b = np.array(pairs).T
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b))


def test_a_tree_agrees_with_itself():
    tree = Hierarchy.from_distances(random_distances(12), np.arange(12))
    found = tree.agreement(tree)
    assert found.adjusted_rand == found.purity == 1
    assert found.cophenetic_correlation == pytest.approx(1)
    flat = tree.agreement(dict.fromkeys(range(12), "all"))
    assert np.isnan(flat.cophenetic_correlation)
    with pytest.raises(ValueError, match="Got none for 3"):
        tree.agreement({0: "a", 1: "a", 2: "a"})


def test_paths_are_as_far_apart_as_the_level_where_they_meet():
    paths = [("sci", "med"), ("sci", "med"), ("sci", "space"), ("rec",), ("rec",)]
    expected = [[0, 0, 1, 2, 2], [0, 0, 1, 2, 2], [1, 1, 0, 2, 2], [2, 2, 2, 1, 1], [2, 2, 2, 1, 1]]
    assert path_distances(paths).tolist() == expected


def test_also_see_links_what_the_known_tree_keeps_apart():
    counts = [[7, 3, 0, 0], [4, 6, 0, 0], [0, 1, 8, 1], [0, 0, 2, 8]]
    confusion = Confusion(counts, ["cat", "lynx", "bus", "tram"])
    tree = Hierarchy.from_confusion(confusion)
    known = {"cat": ("animals", "pets"), "lynx": ("animals", "wild"), "bus": "traffic", "tram": "traffic"}
    first, second = tree.also_see(known)
    assert first == ("cat", "lynx", pytest.approx(0.35), tree.heights[0], "animals/pets", "animals/wild")
    assert second[:3] == ("bus", "lynx", pytest.approx(0.05))
    assert second.height == tree.heights[-1]
    assert tree.also_see(known, top=1) == [first]
    assert [link[:2] for link in tree.also_see(tree)] == [("bus", "lynx")]
    assert tree.also_see(dict.fromkeys(known, "all")) == []
