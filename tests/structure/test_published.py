"""The figures of paper 2 (Godbole 2002), as printed; Figure 1's two damaged cells are read off Figure 2."""

import numpy as np
import pytest
from papers.hierarchies.published import CONFUSION, NEWSGROUPS
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform

from untwin.structure.graph import ConfusionGraph
from untwin.structure.hierarchy import Hierarchy
from untwin.tables.confusion import Confusion

# The groups of Figure 12, from cutting the dendrogram at its point of inflection.
FIGURE_12_GROUPS = [
    ("alt.atheism", "soc.religion.christian", "talk.religion.misc"),
    ("comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.windows.x"),
    ("comp.sys.mac.hardware", "misc.forsale", "sci.electronics"),
    ("rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.med", "sci.space"),
    ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc"),
]

FIGURE_3_CLASSES = ["R", "G", "B", "Y"]
FIGURE_3 = [[4, 0, 6, 0], [0, 4, 6, 0], [0, 0, 7, 3], [0, 0, 4, 6]]
FIGURE_4_UPPER = [8, 8, 12, 8, 12, 6]
FIGURE_5_UPPER = [32, 26, 56, 26, 56, 18]  # squared; the figure prints 88 for 56

FIGURE_8_CLASSES = ["C1", "C2", "C3", "C4"]
FIGURE_8 = [[1.0, 0, 0, 0], [0.3, 0.4, 0.2, 0.1], [0, 0.1, 0.5, 0.4], [0, 0.1, 0.4, 0.5]]
FIGURE_9 = [[0, 0.3, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.4], [0, 0, 0.4, 0]]


@pytest.fixture
def newsgroups():
    return Confusion(CONFUSION, NEWSGROUPS)


def as_sets(groups):
    return {frozenset(group) for group in groups}


def test_figure_4_is_the_l1_distance_of_the_raw_rows():
    confusion = Confusion(FIGURE_3, FIGURE_3_CLASSES)
    assert squareform(confusion.distances("l1", normalize=False)).tolist() == FIGURE_4_UPPER


def test_figure_5_is_the_squared_l2_distance_of_the_raw_rows():
    confusion = Confusion(FIGURE_3, FIGURE_3_CLASSES)
    assert squareform(confusion.distances("l2", normalize=False)).tolist() == FIGURE_5_UPPER


def test_b_and_y_are_the_first_to_merge():
    tree = Hierarchy.from_confusion(Confusion(FIGURE_3, FIGURE_3_CLASSES))
    assert set(tree.members(4)) == {"B", "Y"}


@pytest.mark.parametrize("threshold", [0.2, 0.25, 0.299])
def test_figure_9_is_the_incidence_of_figure_8(threshold):
    graph = ConfusionGraph.from_confusion(Confusion(FIGURE_8, FIGURE_8_CLASSES), threshold)
    np.testing.assert_allclose(graph.incidence.toarray(), FIGURE_9, rtol=1e-15)
    assert graph.neighbours("C1") == ("C2",)
    assert graph.neighbours("C2") == ()


def test_other_thresholds_give_another_figure():
    confusion = Confusion(FIGURE_8, FIGURE_8_CLASSES)
    edges = [row.n_edges for row in ConfusionGraph.sweep(confusion, [0.19, 0.3])]
    assert edges == [4, 2]


def test_every_newsgroup_has_300_test_documents(newsgroups):
    assert newsgroups.support.tolist() == [300] * 20


def test_the_inflection_gives_the_five_published_groups(newsgroups):
    tree = Hierarchy.from_confusion(newsgroups)
    assert as_sets(tree.cut("inflection")) == as_sets(FIGURE_12_GROUPS)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_classes_changes_nothing(newsgroups, seed):
    shuffled = newsgroups.reordered(np.random.default_rng(seed).permutation(newsgroups.classes))
    assert Hierarchy.from_confusion(shuffled) == Hierarchy.from_confusion(newsgroups)


def test_the_order_puts_each_published_group_in_one_block(newsgroups):
    order = Hierarchy.from_confusion(newsgroups).order().tolist()
    for group in FIGURE_12_GROUPS:
        places = sorted(order.index(name) for name in group)
        assert places == list(range(places[0], places[0] + len(group)))


def test_scipys_plain_ward_finds_two_of_the_five(newsgroups):
    tree = Hierarchy.from_confusion(newsgroups, linkage="ward-squared")
    rates = np.array(CONFUSION) / np.sum(CONFUSION, axis=1, keepdims=True)
    labels = fcluster(linkage(pdist(rates, "cityblock"), "ward"), 5, "maxclust")
    names = np.array(NEWSGROUPS)
    assert as_sets(tree.cut(5)) == as_sets(names[labels == label].tolist() for label in range(1, 6))
    assert len(as_sets(tree.cut(5)) & as_sets(FIGURE_12_GROUPS)) == 2


def test_the_number_of_groups_is_fragile_and_says_so(newsgroups):
    found = Hierarchy.from_confusion(newsgroups).group_range()
    assert found.n_groups == 5
    assert 2 <= found.low < 5 < found.high <= 8
