"""Neighbours against the literal computation: all pairs, then a stable sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from untwin.classify.knn import neighbours
from untwin.classify.knn.neighbours import make_searchable, nearest

METRICS = ["cosine", "euclidean"]


def literal(N, Q, metric, k):
    """Compare all pairs in double precision; equal ones stay in row order."""
    N, Q = np.asarray(N, dtype=np.float64), np.asarray(Q, dtype=np.float64)
    if metric == "euclidean":
        near = -np.sqrt(((Q[:, None] - N) ** 2).sum(axis=-1))
    else:
        lengths = np.linalg.norm(Q, axis=1)[:, None] * np.linalg.norm(N, axis=1)
        near = np.divide(Q @ N.T, lengths, out=np.zeros(lengths.shape), where=lengths > 0).round(12)
    order = np.argsort(-near, axis=1, kind="stable")[:, :k]
    values = np.take_along_axis(near, order, axis=1)
    return (values if metric == "cosine" else -values), order


@st.composite
def integer_rows(draw):
    """Small whole numbers, so that sums are exact and ties are many."""
    n, b, m = draw(st.integers(1, 25)), draw(st.integers(1, 6)), draw(st.integers(1, 6))
    whole = st.integers(draw(st.sampled_from([-2, 0])), 2)
    return draw(arrays(np.int64, (n, m), elements=whole)), draw(arrays(np.int64, (b, m), elements=whole))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", METRICS)
@given(integer_rows(), st.data())
@settings(max_examples=40, deadline=None)
def test_equals_the_literal_computation(metric, dtype, form, rows, data):
    N, Q = rows
    k = data.draw(st.integers(1, len(N)))
    values, found = nearest(make_searchable(form(N.astype(dtype)), metric), form(Q.astype(dtype)), k, n_jobs=1)
    expected, order = literal(N, Q, metric, k)
    assert values.dtype == dtype
    np.testing.assert_array_equal(found, order)
    np.testing.assert_allclose(values, expected, atol=1e-12 if dtype == np.float64 else 1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("metric", METRICS)
def test_real_numbers_in_many_groups(metric, form, dtype):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3100, 12)).astype(dtype)
    N, Q = rows[:3000], rows[3000:]
    values, found = nearest(make_searchable(form(N), metric), form(Q), 7)
    expected, order = literal(N, Q, metric, 7)
    np.testing.assert_array_equal(found, order)
    np.testing.assert_allclose(values, expected, rtol=1e-6 if dtype == np.float32 else 1e-11)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("metric", METRICS)
def test_repeated_rows_come_in_row_order_whatever_the_blocks_and_threads(monkeypatch, metric, form):
    rng = np.random.default_rng(1)
    distinct = rng.standard_normal((40, 33)).astype(np.float32)
    copies = rng.integers(0, 40, 2500)
    N = make_searchable(form(distinct[copies]), metric)
    Q = form(distinct + rng.normal(0, 0.01, (40, 33)).astype(np.float32))
    monkeypatch.setattr(neighbours, "PAIR_CELLS", 1 << 12)
    values, rows = nearest(N, Q, 90, n_jobs=1)
    same = values[:, 1:] == values[:, :-1]
    assert same.mean() > 0.9
    assert (rows[:, 1:] > rows[:, :-1])[same].all()
    for n_jobs, block_rows in [(1, (1, 1)), (2, (1, 3)), (2, (7, 7))]:
        monkeypatch.setattr(neighbours, "BLOCK_ROWS", block_rows)
        again = nearest(N, Q, 90, n_jobs=n_jobs)
        np.testing.assert_array_equal(again[0], values)
        np.testing.assert_array_equal(again[1], rows)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("metric", METRICS)
def test_dense_and_sparse_columns_add_up(monkeypatch, metric, share):
    rng = np.random.default_rng(2)
    counts = rng.poisson(np.linspace(0.01, 3, 50), (600, 50)).astype(np.float64)
    monkeypatch.setattr(neighbours, "COMMON", share)
    values, rows = nearest(make_searchable(csr_array(counts[:500]), metric), csr_array(counts[500:]), 10)
    expected, order = literal(counts[:500], counts[500:], metric, 10)
    np.testing.assert_array_equal(rows, order)
    np.testing.assert_allclose(values, expected, rtol=1e-11)


def test_short_texts_share_no_term_with_nearly_all_others(monkeypatch):
    """Thousands of similarities of exactly zero tie; only the first of them are measured."""
    N = csr_array((np.ones(4000), np.arange(4000) % 2000, np.arange(4001)), shape=(4000, 2000))
    measured = []
    kept = neighbours._products
    monkeypatch.setattr(neighbours, "_products", lambda a, b: measured.append(a.shape[0]) or kept(a, b))
    values, rows = nearest(make_searchable(N, "cosine"), N[[5, 1999]], 4)
    assert rows.tolist() == [[5, 2005, 0, 1], [1999, 3999, 0, 1]]
    assert values.tolist() == [[1, 1, 0, 0]] * 2
    assert sum(measured) <= 2 * (4 + 2)


@pytest.mark.parametrize("shift", [1e4, 0.0])
def test_far_from_the_origin_single_precision_is_not_enough(shift):
    rng = np.random.default_rng(3)
    rows = (rng.standard_normal((2000, 5)) + shift).astype(np.float32)
    if not shift:
        rows[7] = 1e7
    N = make_searchable(rows[:1900], "euclidean")
    assert N.dense.dtype == np.float64
    values, found = nearest(N, rows[1900:], 5)
    expected, order = literal(rows[:1900], rows[1900:], "euclidean", 5)
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, expected, rtol=1e-6)
    np.testing.assert_array_equal(found, order)


def test_a_row_of_zeros_gets_the_first_rows_at_similarity_zero():
    N = make_searchable(np.eye(4), "cosine")
    values, rows = nearest(N, np.array([[0.0, 0, 0, 0], [0, 0, 2, 0]]), 3)
    assert values.tolist() == [[0, 0, 0], [1, 0, 0]]
    assert rows.tolist() == [[0, 1, 2], [2, 0, 1]]
    assert nearest(N, np.zeros((2, 4)), 1)[1].tolist() == [[0], [0]]


@pytest.mark.parametrize(("fitted", "asked"), [(csr_array, np.asarray), (np.asarray, csr_array)])
def test_sparse_may_meet_dense(fitted, asked):
    rng = np.random.default_rng(4)
    N, Q = rng.poisson(1, (30, 6)).astype(float), rng.poisson(1, (5, 6)).astype(float)
    _, rows = nearest(make_searchable(fitted(N), "cosine"), asked(Q), 3)
    np.testing.assert_array_equal(rows, literal(N, Q, "cosine", 3)[1])


def test_progress_is_reported(monkeypatch):
    from untwin import _progress

    monkeypatch.setattr(neighbours, "BLOCK_ROWS", (2, 2))
    seen = []
    with _progress.listening(lambda *step: seen.append(step)):
        nearest(make_searchable(np.eye(3), "euclidean"), np.eye(3), 1)
    assert seen == [("neighbours", 1, 2), ("neighbours", 2, 2)]
