"""ConfusionGraph: literal edges, the bound, names, permutations."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untwin.structure.graph import ConfusionGraph
from untwin.tables.confusion import Confusion

few = settings(max_examples=40, deadline=None)


@st.composite
def confusions(draw):
    n = draw(st.integers(2, 7))
    rows = draw(st.lists(st.lists(st.integers(0, 5), min_size=n, max_size=n), min_size=n, max_size=n))
    return Confusion(rows, [f"c{i}" for i in range(n)])


def literal_edges(confusion, threshold):
    counts, names = confusion.toarray(), confusion.classes.tolist()
    return {
        (names[j], names[i]): counts[i, j] / counts[i].sum()
        for i in range(len(names))
        for j in range(len(names))
        if i != j and counts[i].sum() and counts[i, j] / counts[i].sum() > threshold
    }


@few
@given(confusions(), st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5]))
def test_edges_and_bound_by_plain_loops(confusion, threshold):
    graph = ConfusionGraph.from_confusion(confusion, threshold)
    expected = literal_edges(confusion, threshold)
    assert {(edge.predicted, edge.true): edge.weight for edge in graph.edges} == expected
    counts, names = confusion.toarray(), confusion.classes.tolist()
    reachable = sum(
        counts[i, j] for i in range(len(names)) for j in range(len(names)) if i == j or (names[j], names[i]) in expected
    )
    assert graph.upper_bound(confusion) == pytest.approx(reachable / max(counts.sum(), 1))
    assert graph.degrees.tolist() == [sum(p == name for p, _ in expected) for name in names]


@few
@given(confusions())
def test_the_bound_falls_as_the_threshold_rises(confusion):
    rows = ConfusionGraph.sweep(confusion)
    bounds = [row.upper_bound for row in rows]
    assert bounds == sorted(bounds, reverse=True)
    assert all(bound >= confusion.accuracy - 1e-12 for bound in bounds)
    assert bounds[0] == (1 if confusion.total else 0)
    assert [row.n_edges for row in rows] == sorted((row.n_edges for row in rows), reverse=True)


@few
@given(confusions(), st.randoms(use_true_random=False))
def test_permuting_classes_permutes_every_result(confusion, random):
    names = confusion.classes.tolist()
    random.shuffle(names)
    graph = ConfusionGraph.from_confusion(confusion, 0.1)
    other = ConfusionGraph.from_confusion(confusion.reordered(names), 0.1)
    assert other.edges == graph.edges
    assert all(other.neighbours(name) == graph.neighbours(name) for name in names)
    assert other.upper_bound(confusion) == graph.upper_bound(confusion)
    assert dict(zip(other.classes, other.degrees, strict=True)) == dict(zip(graph.classes, graph.degrees, strict=True))


def test_a_share_of_exactly_t_is_no_edge():
    confusion = Confusion([[7, 3], [0, 10]], ["a", "b"])
    assert ConfusionGraph.from_confusion(confusion, 0.3).edges == []
    assert ConfusionGraph.from_confusion(confusion, 0.29).edges == [("b", "a", 0.3)]


def test_neighbours_are_heaviest_first_and_ties_by_name():
    confusion = Confusion([[9, 0, 0, 1], [0, 8, 0, 2], [0, 0, 8, 2], [0, 0, 0, 5]], ["d", "b", "a", "hub"])
    graph = ConfusionGraph.from_confusion(confusion, 0.05)
    assert graph.neighbours("hub") == ("a", "b", "d")
    assert graph.neighbours("a") == ()
    with pytest.raises(ValueError, match="Unknown class 'owl'"):
        graph.neighbours("owl")


def test_the_bound_aligns_by_name_and_a_new_class_cannot_be_saved():
    graph = ConfusionGraph.from_confusion(Confusion([[5, 5], [0, 10]], ["a", "b"]), 0.1)
    other = Confusion([[4, 2, 0], [3, 1, 0], [0, 0, 0]], ["b", "a", "c"])
    assert graph.upper_bound(other) == pytest.approx((4 + 1 + 3) / 10)  # a taken for b is saved, b taken for a is not
    strange = Confusion([[4, 0, 0], [0, 0, 0], [6, 0, 0]], ["b", "a", "new"])
    assert graph.upper_bound(strange) == pytest.approx(0.4)


def test_it_is_a_value():
    confusion = Confusion([[8, 2], [3, 7]], ["a", "b"])
    graph = ConfusionGraph.from_confusion(confusion, 0.1)
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert graph != ConfusionGraph.from_confusion(confusion, 0.25)
    assert graph.frame().columns == ["predicted", "true", "weight"]
    assert ConfusionGraph.from_confusion(confusion, 0.9).frame().height == 0
    assert "heaviest" in graph._repr_html_()
    with pytest.raises(AttributeError):
        graph.threshold = 0.5
    with pytest.raises(ValueError, match="read-only"):
        graph.incidence.data[0] = 1
    with pytest.raises(ValueError, match="threshold must be a share"):
        ConfusionGraph.from_confusion(confusion, 1.5)


def test_thousands_of_classes_stay_sparse():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3000, 20_000)
    confusion = Confusion.from_predictions(true, np.where(rng.random(20_000) < 0.5, true, (true + 1) % 3000))
    graph = ConfusionGraph.from_confusion(confusion, 0.1)
    assert graph.incidence.nnz <= 3000
    assert graph.upper_bound(confusion) > 0.9
