import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.stats import ortho_group

from untwin.classify.knn.classifier import KNNClassifier

TERMS = [f"word{i}" for i in range(30)]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(30, 2.0), 3)
    labels = rng.integers(0, 3, 120)
    return np.stack([rng.poisson(15 * topics[c]) for c in labels]).astype(float), np.array(["ape", "bee", "cat"])[
        labels
    ]


def total(terms):
    return sum(number for _, number in terms)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_contributions_add_up_to_the_similarity(counts, form):
    X, y = counts
    model = KNNClassifier().fit(form(X[:100]), y[:100])
    similarities, rows = model.kneighbors(form(X[100:]))
    for i, why in enumerate(model.explain(form(X[100:]), top=30)):
        assert [near.row for near in why.neighbours] == rows[i].tolist()
        assert [near.label for near in why.neighbours] == y[rows[i]].tolist()
        np.testing.assert_allclose([near.value for near in why.neighbours], similarities[i])
        np.testing.assert_allclose([total(near.terms) for near in why.neighbours], similarities[i], atol=1e-11)
        np.testing.assert_allclose(sum(near.vote for near in why.neighbours), 1)


def test_each_contribution_is_the_literal_product(counts):
    X, y = counts
    model = KNNClassifier(n_neighbors=3).fit(X[:100], y[:100])
    (why,) = model.explain(X[100:101], top=30, feature_names=TERMS)
    for near in why.neighbours:
        x, n = X[100], X[near.row]
        literal = x * n / np.linalg.norm(x) / np.linalg.norm(n)
        assert dict(near.terms) == pytest.approx({TERMS[t]: literal[t] for t in np.flatnonzero(literal)}, rel=1e-12)
        sizes = [number for _, number in near.terms]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_through_a_term_map_they_add_up_to_the_similarity_in_the_space(counts, form):
    X, y = counts
    term_map = ortho_group.rvs(30, random_state=0)[:6]
    model = KNNClassifier().fit(X[:100] @ term_map.T, y[:100])
    similarities, rows = model.kneighbors(X[100:] @ term_map.T)
    for i, why in enumerate(model.explain(form(X[100:]), top=30, term_map=term_map, feature_names=TERMS)):
        assert [near.row for near in why.neighbours] == rows[i].tolist()
        np.testing.assert_allclose([total(near.terms) for near in why.neighbours], similarities[i], atol=1e-11)
        assert {term for near in why.neighbours for term, _ in near.terms} <= {
            TERMS[t] for t in np.flatnonzero(X[100 + i])
        }


def test_evidence_adds_up_to_the_difference_of_the_votes(counts):
    X, y = counts
    model = KNNClassifier(n_neighbors=20).fit(X[:100], y[:100])
    similarities, rows = model.kneighbors(X[100:])
    seen = 0
    for i, why in enumerate(model.explain(X[100:], top=30)):
        if len(why.shares) > 1:
            (best, first), (second, next_one) = why.shares[:2]
            votes = [similarities[i][y[rows[i]] == name].sum() for name in (best, second)]
            np.testing.assert_allclose(total(why.evidence), votes[0] - votes[1], atol=1e-10)
            np.testing.assert_allclose((votes[0] - votes[1]) / similarities[i].sum(), first - next_one, atol=1e-10)
            seen += 1
        assert why.prediction == why.shares[0][0] == model.predict(X[100 + i : 101 + i])[0]
    assert seen > 5


def test_top_limits_what_is_shown(counts):
    X, y = counts
    (why,) = KNNClassifier().fit(X[:100], y[:100]).explain(X[100:101], top=2)
    assert len(why.neighbours) == 2
    assert all(len(near.terms) == 2 for near in why.neighbours)
    assert len([number for _, number in why.evidence if number > 0]) <= 2


def test_names_come_from_the_frame_or_are_numbers(counts):
    X, y = counts
    named = KNNClassifier().fit(pl.DataFrame(X[:100], schema=TERMS), y[:100])
    (why,) = named.explain(pl.DataFrame(X[100:101], schema=TERMS), top=1)
    (plain,) = KNNClassifier().fit(X[:100], y[:100]).explain(X[100:101], top=1)
    assert why.neighbours[0].terms[0][0].replace("word", "term ") == plain.neighbours[0].terms[0][0]
    assert why != plain
    assert why == named.explain(pl.DataFrame(X[100:101], schema=TERMS), top=1)[0]


def test_text_frame_and_html(counts):
    X, y = counts
    y = np.char.add("<", y)
    (why,) = KNNClassifier().fit(X[:100], y[:100]).explain(X[100:101], top=3, feature_names=TERMS)
    lines = str(why).splitlines()
    assert lines[0].startswith(f"{why.prediction} {why.shares[0][1]:.2f}")
    assert lines[1].startswith(f"  row {why.neighbours[0].row}")
    assert lines[4].startswith(f"  for {why.prediction}: word")
    frame = why.frame()
    assert frame.columns == ["row", "label", "similarity", "vote", "term", "contribution"]
    assert frame.height == 9
    assert frame["contribution"].to_list() == [number for near in why.neighbours for _, number in near.terms]
    assert "&lt;" in why._repr_html_()
    assert why.prediction not in why._repr_html_()
    assert repr(why) == f"Explanation({why.prediction!r}, 3 neighbours)"


def test_distances_are_called_so(counts):
    X, y = counts
    model = KNNClassifier(metric="euclidean").fit(X[:100], y[:100])
    (why,) = model.explain(X[100:101], top=30)
    near = why.neighbours[0]
    x, n = X[100], X[near.row]
    assert near.value == pytest.approx(np.linalg.norm(x - n))
    assert total(near.terms) == pytest.approx(x @ n / np.linalg.norm(x) / np.linalg.norm(n))
    assert "distance" in why.frame().columns
    assert "distance" in str(why)


def test_nobody_votes_for_an_empty_row(counts):
    X, y = counts
    (why,) = KNNClassifier().fit(X, y).explain(np.zeros((1, 30)))
    assert (why.neighbours, why.evidence) == ((), ())
    assert str(why).startswith("no neighbours; shares of the training rows: ")
    assert why.frame().height == 0
    term_map = np.eye(30)
    assert KNNClassifier().fit(X, y).explain(np.zeros((1, 30)), term_map=term_map) == [why]


def test_several_labels_are_shown_together():
    Y = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    (why,) = KNNClassifier(n_neighbors=2).fit(np.array([[1.0, 1], [0, 1], [1, 0]]), Y).explain(np.array([[1.0, 3]]))
    assert why.prediction == (1,)
    assert {near.label for near in why.neighbours} == {(1,), (0, 1)}
    assert why.frame()["label"].to_list()[0] == "1"
    assert [name for name, _ in why.shares] == [1, 0]
    (bare,) = KNNClassifier(n_neighbors=1).fit(np.eye(2), np.array([[0, 0], [1, 1]])).explain(np.array([[1.0, 0]]))
    assert (bare.prediction, bare.shares, bare.evidence) == ((), (), ())
    assert len(bare.neighbours) == 1
