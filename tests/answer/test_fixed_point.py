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


@pytest.fixture
def packed():
    rng = np.random.default_rng(1)
    W = csr_array(rng.integers(-127, 128, size=(60, 7)) * (rng.random((60, 7)) < 0.4))
    return PackedWeights(W.indptr.astype(np.int64), W.indices.astype(np.uint8), W.data.astype(np.int8), 7), W


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
