"""Whole numbers stand for the weights that floating-point numbers give, and their sums have no order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from untwin.answer.fixed_point import UNIT, CountedRows, PackedWeights, quantise, row_of_entries, weigh
from untwin.answer.kernels import SpreadWeights, score_counts
from untwin.represent.term_weights import TermWeights


@pytest.fixture
def counted():
    rng = np.random.default_rng(0)
    X = csr_array(rng.poisson(0.4, size=(40, 60)))
    return X, CountedRows(*(part.astype(np.int64) for part in (X.indptr, X.indices, X.data)))


@pytest.fixture(params=[np.int8, np.int16], ids=["added up in 32 bits", "in double precision"])
def packed(request):
    rng, most = np.random.default_rng(1), np.iinfo(request.param).max
    W = csr_array(rng.integers(-most, most + 1, size=(60, 7)) * (rng.random((60, 7)) < 0.4))
    return PackedWeights(W.indptr.astype(np.int64), W.indices.astype(np.uint8), W.data.astype(request.param), 7), W


def test_sums_that_32_bits_cannot_hold_are_exact():
    n_terms = 1 << 19
    rows = CountedRows(np.array([0, n_terms]), np.arange(n_terms), np.ones(n_terms, dtype=np.int64))
    weights = PackedWeights(np.arange(n_terms + 1), np.zeros(n_terms, np.uint8), np.full(n_terms, 127, np.int8), 1)
    blocks = np.arange(n_terms) % 4
    idf = np.full(n_terms, 2000)
    values = weigh(rows, idf, blocks, 4)
    products, _, _ = score_counts(rows, idf, blocks, weights, SpreadWeights.of(weights))
    assert products.tolist() == [[127 * values.sum()]]
    assert products[0, 0] > np.iinfo(np.int32).max


def test_values_are_those_of_term_weights(counted):
    X, rows = counted
    blocks = np.arange(60) % 3
    weights = TermWeights(min_df=2, block_of=blocks).fit(X)
    idf = np.rint(weights.idf_.astype(np.float64) * 1024).astype(np.int64)
    values = csr_array((weigh(rows, idf, blocks, 3) / UNIT, X.indices, X.indptr), shape=X.shape)
    np.testing.assert_allclose(values.toarray(), weights.transform(X).toarray(), atol=2e-3)


def test_a_row_of_unused_terms_has_no_values(counted):
    _, rows = counted
    assert not weigh(rows, np.zeros(60, dtype=np.int64), np.zeros(60, dtype=np.int8), 1).any()


def test_products_are_exact_in_any_order(counted, packed):
    X, rows = counted
    weights, W = packed
    values = weigh(rows, np.full(60, 2000), np.zeros(60, dtype=np.int8), 1)
    literal = csr_array((values, X.indices, X.indptr), shape=X.shape).toarray() @ W.toarray()
    np.testing.assert_array_equal(weights.products(row_of_entries(rows), rows.columns, values, 40), literal)
    for spread in (SpreadWeights.of(weights), SpreadWeights(np.full(60, -1, np.int32), np.zeros((0, 7), np.float32))):
        products, units, used = score_counts(rows, np.full(60, 2000), np.zeros(60, dtype=np.int8), weights, spread)
        np.testing.assert_array_equal(products, literal)
        np.testing.assert_array_equal(units, np.bincount(row_of_entries(rows), weights=values, minlength=40))
        np.testing.assert_array_equal(used, units > 0)
    entries = row_of_entries(rows)[::-1], rows.columns[::-1], values[::-1]
    np.testing.assert_array_equal(weights.products(*entries, 40), literal)


@pytest.mark.parametrize("largest", [127, 32767])
def test_whole_numbers_are_as_near_as_they_can_be(largest):
    W = np.random.default_rng(0).normal(size=(50, 4)) * [1, 10, 0.1, 0]
    numbers, scale = quantise(W, largest)
    assert np.abs(numbers).max() <= largest
    assert (np.abs(numbers * scale - W) <= scale / 2 + 1e-12).all()
