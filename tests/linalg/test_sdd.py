"""The semi-discrete decomposition against its definition, written out on small matrices."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array, random_array

from untwin._progress import listening
from untwin.linalg.sdd import SemiDiscrete, best_signs, semi_discrete


def documents(n=40, m=25, seed=0):
    return random_array((n, m), density=0.25, rng=seed).toarray()


def written_out(found):
    return (found.P.unpacked() * found.d) @ found.Q.unpacked().T


def squared(A):
    return float((A * A).sum())


@given(arrays(float, st.integers(1, 6), elements=st.integers(-5, 5).map(float)))
@settings(deadline=None)
def test_the_best_signs_are_the_best_of_all(s):
    signs = best_signs(s)
    assert set(signs.tolist()) <= {-1.0, 0.0, 1.0}
    best = max((x @ s) ** 2 / (x @ x) for x in map(np.array, product([-1.0, 0.0, 1.0], repeat=len(s))) if x.any())
    if s.any():
        np.testing.assert_allclose((signs @ s) ** 2 / (signs @ signs), best, rtol=1e-12)


@pytest.mark.parametrize("sparse", [True, False])
def test_every_term_takes_its_gain_off_the_residual(sparse):
    A = documents()
    given_A = csr_array(A) if sparse else A
    before = squared(A)
    for k in range(1, 12):
        found = semi_discrete(given_A, k)
        p, q = found.P.unpacked()[:, -1], found.Q.unpacked()[:, -1]
        after = squared(A - written_out(found))
        gain = found.d[-1] ** 2 * np.count_nonzero(p) * np.count_nonzero(q)
        np.testing.assert_allclose(after, before - gain, rtol=1e-10)
        np.testing.assert_allclose(found.squared_residual(given_A), after, rtol=1e-10)
        assert found.d[-1] > 0
        before = after


def test_each_side_of_a_term_settles():
    A = documents()
    start = semi_discrete(A, 5)
    found = semi_discrete(A, 6)
    R = A - written_out(start)
    p, q = found.P.unpacked()[:, -1].astype(float), found.Q.unpacked()[:, -1].astype(float)
    np.testing.assert_array_equal(q, best_signs(R.T @ p))  # the last half-step is the best one
    better = best_signs(R @ q)
    gain, next_gain = ((x @ R @ q) ** 2 / ((x @ x) * (q @ q)) for x in (p, better))
    assert gain <= next_gain <= 1.02 * gain
    np.testing.assert_allclose(found.d[-1], p @ R @ q / ((p @ p) * (q @ q)), rtol=1e-12)


def test_with_enough_terms_nothing_is_left():
    A = documents(8, 6)
    found = semi_discrete(A, 400)
    assert squared(A - written_out(found)) < 1e-12 * squared(A)
    residuals = [semi_discrete(A, k).squared_residual(A) for k in (5, 10, 20, 40)]
    assert all(b < a for a, b in pairwise(residuals))


def test_it_stops_where_nothing_is_left():
    A = np.outer([1, -1, 0, 1], [2.5, 0, -2.5])
    found = semi_discrete(A, 10)
    assert found.d.tolist() == [2.5]
    np.testing.assert_array_equal(written_out(found), A)
    assert semi_discrete(np.zeros((3, 2)), 4).d.size == 0


def test_going_on_is_the_same_as_starting_with_more_terms():
    A = documents()
    whole, part = semi_discrete(A, 12), semi_discrete(A, 5)
    went_on = semi_discrete(A, 12, start=part)
    np.testing.assert_allclose(went_on.d, whole.d, rtol=1e-10)
    np.testing.assert_array_equal(went_on.P.unpacked(), whole.P.unpacked())
    np.testing.assert_array_equal(went_on.Q.unpacked(), whole.Q.unpacked())


def test_products_are_those_of_the_matrix_written_out():
    found, rng = semi_discrete(documents(), 7), np.random.default_rng(1)
    plain = written_out(found)
    for V in (rng.normal(size=25), rng.normal(size=(25, 4))):
        np.testing.assert_allclose(found.times(V), plain @ V, atol=1e-12)
    for U in (rng.normal(size=40), rng.normal(size=(40, 4))):
        np.testing.assert_allclose(found.transposed_times(U), plain.T @ U, atol=1e-12)


def test_two_bits_an_entry():
    found = semi_discrete(documents(), 8)
    assert found.nbytes == (40 + 25) * 2 + 8 * 8


def test_rows_and_columns_are_deleted_as_they_stand():
    found = semi_discrete(documents(), 7)
    plain = written_out(found)
    np.testing.assert_array_equal(written_out(found.without_rows([0, 39])), plain[1:39])
    np.testing.assert_array_equal(written_out(found.without_columns([3])), np.delete(plain, 3, axis=1))


def best_rows(found: SemiDiscrete, B):
    """Give each row its signs term by term, by trying all three."""
    fitted = np.zeros_like(B)
    for i, row in enumerate(B):
        for weight, q in zip(found.d, found.Q.unpacked().T, strict=True):
            fitted[i] += min(
                (weight * sign * q for sign in (0.0, 1.0, -1.0)), key=lambda t: squared(row - fitted[i] - t)
            )
    return fitted


@pytest.mark.parametrize("sparse", [True, False])
def test_new_rows_and_columns_get_the_signs_that_fit_best_term_by_term(sparse):
    made = csr_array if sparse else np.asarray
    found, B, C = semi_discrete(documents(), 9), documents(6, 25, seed=1), documents(40, 6, seed=2)
    below = found.with_rows(made(B))
    np.testing.assert_array_equal(written_out(below)[:40], written_out(found))
    np.testing.assert_allclose(written_out(below)[40:], best_rows(found, B), atol=1e-12)
    right = found.with_columns(made(C))
    np.testing.assert_allclose(written_out(right)[:, 25:], best_rows(found.transpose(), C.T).T, atol=1e-12)


def test_more_terms_mend_what_new_rows_fitted_badly():
    A, B = documents(), documents(10, seed=3)
    union = np.vstack([A, B])
    grown = semi_discrete(A, 10).with_rows(B)
    mended = semi_discrete(union, 14, start=grown)
    assert mended.squared_residual(union) < grown.squared_residual(union)
    np.testing.assert_allclose(mended.squared_residual(union), squared(union - written_out(mended)), rtol=1e-10)


def test_progress_is_reported():
    seen = []
    with listening(lambda *event: seen.append(event)):
        semi_discrete(documents(), 3)
    assert seen == [("semi-discrete decomposition", i, 3) for i in (1, 2, 3)]
