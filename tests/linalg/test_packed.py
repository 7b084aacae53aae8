"""Two bits an entry: packing and products against plain int8 matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csc_array

from untwin.linalg import packed
from untwin.linalg.packed import Signs

matrices = arrays(np.int8, st.tuples(st.integers(1, 20), st.integers(0, 11)), elements=st.integers(-1, 1))


@given(matrices)
def test_unpacking_restores(signs):
    kept = Signs.of(signs)
    np.testing.assert_array_equal(kept.unpacked(), signs)
    assert kept.shape == signs.shape
    assert kept.bits.nbytes == len(signs) * -(-signs.shape[1] // 4)


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_products_are_those_of_the_plain_matrix(block, monkeypatch):
    monkeypatch.setattr(packed, "UNPACKED_ENTRIES", block)
    rng = np.random.default_rng(0)
    signs = rng.integers(-1, 2, size=(33, 10))
    kept, V, U = Signs.of(signs), rng.normal(size=(10, 3)), rng.normal(size=(33, 3))
    np.testing.assert_allclose(kept.times(V), signs @ V, atol=1e-13)
    np.testing.assert_allclose(kept.times(V[:, 0]), signs @ V[:, 0], atol=1e-13)
    np.testing.assert_allclose(kept.transposed_times(U), signs.T @ U, atol=1e-13)
    np.testing.assert_allclose(kept.transposed_times(U[:, 0]), signs.T @ U[:, 0], atol=1e-13)
    np.testing.assert_array_equal(kept.gram(), signs.T @ signs)
    for n_empty in (0, 10, 30, 33):
        U[:n_empty] = 0
        np.testing.assert_allclose(kept.transposed_times(csc_array(U)), signs.T @ U, atol=1e-13)
    assert kept.times(V.astype(np.float32)).dtype == kept.times(V[:, 0].astype(np.float32)).dtype == np.float32


@given(matrices, st.data())
def test_rows_are_chosen_and_stacked(signs, data):
    chosen = data.draw(st.lists(st.integers(0, len(signs) - 1)))
    kept = Signs.of(signs)
    np.testing.assert_array_equal(kept.rows(chosen).unpacked(), signs[chosen])
    np.testing.assert_array_equal(kept.above(kept.rows(chosen)).unpacked(), np.vstack([signs, signs[chosen]]))
