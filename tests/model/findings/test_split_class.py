from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array, hstack

from untwin.model.findings import row_space
from untwin.model.findings.split_class import best_cut, flat_hill, split_classes

N_TERMS = 60


def documents(rng, favourites, n):
    """Rows of 12 words, half of them favourites of their class, half any."""
    words = np.where(rng.random((n, 12)) < 0.5, rng.choice(favourites, (n, 12)), rng.integers(0, N_TERMS, (n, 12)))
    return np.apply_along_axis(np.bincount, 1, words, minlength=N_TERMS)


def case(evidence, seed=0, n=60, **given):
    """Five topics of ten terms; the class "mixed" has rows of two of them."""
    rng = np.random.default_rng(seed)
    topics = np.arange(50).reshape(5, 10)
    X = np.vstack([documents(rng, topic, n) for topic in topics])
    y = np.repeat(["mixed", "mixed", "one", "two", "three"], n)
    return evidence(y, X=csr_array(X), terms=np.array([f"t{term}" for term in range(N_TERMS)]), **given)


@pytest.mark.parametrize("seed", range(3))
def test_a_class_of_two_topics_is_found_with_its_parts(evidence, seed):
    (split,) = split_classes(case(evidence, seed)).evidence
    assert split["class"] == "mixed"
    assert sorted([split["rows of one"], split["rows of other"]]) == pytest.approx([60, 60], abs=6)
    sides = [{int(term[1:]) // 10 for term in split[side]} for side in ("terms of one", "terms of other")]
    assert sorted(sides, key=min) == [{0}, {1}]
    assert split["variance left"] < 0.2


def test_rows_are_told_by_their_ids(evidence):
    (by_place,) = split_classes(case(evidence)).evidence
    (by_id,) = split_classes(case(evidence, ids=1000 + np.arange(300))).evidence
    assert by_id["some of one"] == [1000 + row for row in by_place["some of one"]]
    assert by_id["some of other"] == [1000 + row for row in by_place["some of other"]]


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_one_topic_are_left_alone(evidence, seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([documents(rng, topic, 60) for topic in np.arange(60).reshape(6, 10)])
    assert split_classes(evidence(np.repeat(list("abcdef"), 60), X=csr_array(X))) is None


def test_a_part_that_is_too_small_is_not_filled_up_with_rows_equal_to_the_rest(evidence):
    X = np.repeat([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]], [8, 52, 60], axis=0)
    y = np.repeat(["mostly b", "c"], 60)
    assert split_classes(evidence(y, X=csr_array(X), terms=np.array([*"abc"]))) is None


def test_cells_of_a_table_are_left_out(evidence):
    """A column of two values makes two hills of any class; texts beside it are judged as without it."""
    rng = np.random.default_rng(0)
    alone = case(evidence)
    cells = np.eye(2)[rng.integers(0, 2, len(alone.answers.y))]
    known = evidence(
        alone.answers.y, X=hstack([alone.X, 5 * cells], format="csr"), cells=np.arange(N_TERMS + 2) >= N_TERMS
    )
    assert [part["class"] for part in split_classes(known).evidence] == ["mixed"]
    assert split_classes(evidence(alone.answers.y, X=cells, cells=np.ones(2, dtype=bool))) is None


def test_small_classes_are_not_judged(evidence):
    assert split_classes(case(evidence, n=15)) is None


def test_dense_rows_without_names_of_terms(evidence):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    X[:50, 0] += 8
    X[50:100, 0] -= 8
    (split,) = split_classes(evidence(np.repeat(["two hills", "one hill"], 100), X=X)).evidence
    assert (split["class"], split["terms of one"]) == ("two hills", [])
    assert {split["rows of one"], split["rows of other"]} == {50}


@given(arrays(float, st.integers(2, 30), elements=st.floats(-100, 100).map(lambda x: round(x, 3))))
@settings(deadline=None)
def test_the_best_cut_is_that_of_a_literal_search(t):
    fewest = max(int(np.ceil(0.15 * len(t))), 1)
    ordered = np.sort(t)
    total = ((t - t.mean()) ** 2).sum()
    if total < 1e-6:
        return
    within = [
        sum(((side - side.mean()) ** 2).sum() for side in (ordered[:below], ordered[below:]))
        for below in range(fewest, len(t) - fewest + 1)
        if ordered[below - 1] < ordered[below]
    ]
    cut = best_cut(t)
    assert cut.left == pytest.approx(min(within, default=total) / total, abs=1e-9)
    if within:
        assert fewest <= (t > cut.at).sum() <= len(t) - fewest


def test_one_flat_hill_leaves_a_quarter():
    mean, deviation = flat_hill(2000)
    assert mean == pytest.approx(0.25, abs=0.005)
    assert 0 < deviation < 0.02
    assert flat_hill(50)[1] > deviation


def test_one_hill_of_any_usual_shape_is_not_cut():
    """Gaussian, Laplace and exponential samples all leave more than the flat hill."""
    rng = np.random.default_rng(0)
    for shape in (rng.normal, rng.laplace, rng.exponential):
        assert best_cut(shape(size=500)).left > flat_hill(500)[0]


def test_after_a_correction_the_same_is_found_as_from_nothing(evidence, monkeypatch):
    """The space and the cuts of other classes are those of before; a class with other rows is cut anew."""
    known = case(evidence)
    before = split_classes(known).evidence
    y = known.answers.y.copy()
    y[:7] = "one"
    after = evidence(y, X=known.X, terms=known.terms)
    with monkeypatch.context() as patched:
        patched.setattr("untwin.model.findings.row_space.truncated_svd", None)  # nothing is decomposed again
        again = split_classes(after)
    row_space._kept.clear()
    assert again == split_classes(after)
    assert again.evidence != before


def test_rows_that_changed_have_another_space(evidence):
    known = case(evidence)
    split_classes(known)
    X = known.X.copy()
    X.data[0] += 1
    assert row_space.row_space(X) is not row_space.row_space(known.X)
    assert row_space.row_space(X.toarray()) is not row_space.row_space(X)


def test_large_spaces_are_not_kept(evidence, monkeypatch):
    row_space._kept.clear()
    monkeypatch.setattr(row_space, "MOST_KEPT", 8)
    assert split_classes(case(evidence)) is not None
    assert not row_space._kept
