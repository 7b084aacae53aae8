"""Products of A = [X | Y F] against the matrix written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from untwin.linalg import blocks
from untwin.linalg.blocks import Blocks, product

RNG = np.random.default_rng(0)


def parts(n, m, *, sparse):
    X = random_array((n, m), density=0.3, rng=1, format="csr")
    Y = csr_array(np.eye(4)[RNG.integers(4, size=n)])
    F = csr_array(RNG.normal(size=(4, 3)))
    literal = np.hstack([X.toarray(), Y.toarray() @ F.toarray()])
    return (X if sparse else X.toarray(), Y, F), literal


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_products_gram_and_energy_are_those_of_the_literal_matrix(shape, sparse):
    given, literal = parts(*shape, sparse=sparse)
    A = Blocks(*given)
    V, U = RNG.normal(size=(literal.shape[1], 5)), RNG.normal(size=(literal.shape[0], 5))
    assert A.shape == literal.shape
    np.testing.assert_allclose(A.times(V), literal @ V, atol=1e-13)
    np.testing.assert_allclose(A.transposed_times(U), literal.T @ U, atol=1e-13)
    smaller = literal @ literal.T if literal.shape[0] <= literal.shape[1] else literal.T @ literal
    np.testing.assert_allclose(A.gram(), smaller, atol=1e-13)
    assert A.energy() == pytest.approx((literal**2).sum())


def test_without_sprinkled_columns_it_is_x():
    X = random_array((6, 9), density=0.5, rng=0, format="csr")
    A = Blocks(X)
    assert A.shape == (6, 9)
    np.testing.assert_allclose(A.times(np.eye(9)), X.toarray())
    np.testing.assert_allclose(A.gram(), (X @ X.T).toarray())


@pytest.mark.parametrize("cores", [1, 2, 3, 7])
def test_shared_out_products_are_the_same_numbers(monkeypatch, cores):
    dense = random_array((50, 20), density=0.2, rng=0).toarray()
    dense[10:30] = 0  # a run of empty rows, so that cuts fall into it
    X = csr_array(dense)
    block = RNG.normal(size=(20, 3))
    monkeypatch.setattr(blocks, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(blocks, "cpu_count", lambda: cores)
    np.testing.assert_array_equal(product(X, block), X @ block)
    np.testing.assert_array_equal(product(X, np.asfortranarray(block)), X @ block)


def test_float32_stays_float32(monkeypatch):
    monkeypatch.setattr(blocks, "WORTH_A_THREAD", 1)
    (X, Y, F), _ = parts(8, 5, sparse=True)
    A = Blocks(X.astype(np.float32), Y, F)
    assert A.times(np.ones((8, 2), np.float32)).dtype == np.float32
    assert A.transposed_times(np.ones((8, 2), np.float32)).dtype == np.float32
    assert A.gram().dtype == np.float32
