"""Updates of a truncated SVD: DESIGN 3.9's identities against LAPACK on the matrix written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from untwin.linalg.svd import TruncatedSVD
from untwin.linalg.update import (
    fold_in_columns,
    fold_in_rows,
    loss_of_orthogonality,
    with_change,
    with_columns,
    with_rows,
    without_columns,
    without_rows,
)


def exact(A, k):
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    return TruncatedSVD(U[:, :k], S[:k], Vt[:k].T)


def product(decomposition):
    U, S, V = decomposition
    return (U * S) @ V.T


def best(A, k):
    return product(exact(A, k))


def spectral(A):
    return np.linalg.norm(A, 2)


def low_rank(n, m, rank, rng):
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))


def documents(n, m, rng):
    return random_array((n, m), density=0.2, rng=rng).toarray()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


# ---------------------------------------------------------------------- one update is exact


@pytest.mark.parametrize("sparse", [True, False])
@given(
    sizes=st.tuples(st.integers(1, 25), st.integers(1, 25), st.integers(1, 12)),
    rank=st.integers(1, 6),
    keep=st.integers(1, 12),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=40, deadline=None)
def test_one_update_is_the_svd_of_the_union_when_the_old_rank_fits(sparse, sizes, rank, keep, seed):
    n, m, b = sizes
    rng = np.random.default_rng(seed)
    A, B, C = low_rank(n, m, rank, rng), documents(b, m, rng), documents(n, b, rng)
    made = csr_array if sparse else np.asarray
    old = exact(A, min(rank, n, m))
    for union, (new, discarded) in (
        (np.vstack([A, B]), with_rows(old, made(B), keep)),
        (np.hstack([A, C]), with_columns(old, made(C), keep)),
        (A + C @ B, with_change(old, made(C), made(B.T), keep)),
    ):
        values = np.linalg.svd(union, compute_uv=False)
        size = values[0] if values[0] > 0 else 1.0
        np.testing.assert_allclose(new.S, values[: len(new.S)], atol=1e-12 * size)
        np.testing.assert_allclose(values[len(new.S) : len(new.S) + len(discarded)], discarded, atol=1e-12 * size)
        assert (
            spectral(union - product(new)) <= values[min(keep, len(values) - 1)] * (keep < len(values)) + 1e-11 * size
        )
        assert loss_of_orthogonality(new.U) < 1e-11
        assert loss_of_orthogonality(new.V) < 1e-11


def test_unseen_terms_are_zeros_for_old_rows(rng):
    A, B = low_rank(20, 12, 4, rng), documents(5, 17, rng)
    U, S, V = exact(A, 4)
    wider = TruncatedSVD(U, S, np.vstack([V, np.zeros((5, 4))]))
    new, _ = with_rows(wider, csr_array(B), 6)
    union = np.vstack([np.hstack([A, np.zeros((20, 5))]), B])
    np.testing.assert_allclose(product(new), best(union, 6), atol=1e-11)


def test_signs_are_fixed_and_the_dtype_stays(rng):
    A, B = low_rank(20, 12, 4, rng), documents(5, 12, rng)
    for dtype, tolerance in ((np.float64, 1e-11), (np.float32, 2e-5)):
        old = TruncatedSVD(*(part.astype(dtype) for part in exact(A, 4)))
        new, _ = with_rows(old, csr_array(B.astype(dtype)), 6)
        assert [part.dtype for part in new] == [dtype] * 3
        assert (new.V.max(axis=0) >= -new.V.min(axis=0)).all()
        np.testing.assert_allclose(product(new), best(np.vstack([A, B]), 6), atol=tolerance)


@pytest.mark.parametrize("outside", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
def test_rows_that_hardly_leave_the_space_cost_no_orthogonality(outside, rng):
    A = low_rank(30, 20, 5, rng)
    B = rng.normal(size=(4, 30)) @ A + outside * rng.normal(size=(4, 20))
    B[3] = B[2] + outside * rng.normal(size=20)
    new, discarded = with_rows(exact(A, 5), B, 20)
    union = np.vstack([A, B])
    assert not discarded.size
    assert loss_of_orthogonality(new.V) < 1e-9
    np.testing.assert_allclose(product(new), union, atol=1e-9 * spectral(union))


def test_repeated_and_empty_rows_bring_no_direction(rng):
    A = low_rank(10, 8, 3, rng)
    B = np.vstack([A[:2], np.zeros((1, 8)), A[:1]])
    new, discarded = with_rows(exact(A, 3), csr_array(B), 8)
    assert len(new.S) == 3
    assert not discarded.size
    np.testing.assert_allclose(product(new), np.vstack([A, B]), atol=1e-12)


# ---------------------------------------------------------------------- chains


@given(rank=st.integers(1, 8), cuts=st.lists(st.integers(1, 39), min_size=1, max_size=5), seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
@example(rank=7, cuts=[1, 7, 12], seed=522)  # a direction that hardly leaves the space leaves 1e-13 behind
def test_a_chain_is_exact_when_the_union_has_the_rank(rank, cuts, seed):
    A = low_rank(40, 25, rank, np.random.default_rng(seed))
    parts = np.split(A, sorted(set(cuts)))
    state = exact(parts[0], min(rank, len(parts[0])))
    for B in parts[1:]:
        state, discarded = with_rows(state, B, rank)
        assert not discarded.size
    np.testing.assert_allclose(product(state), A, atol=1e-10 * spectral(A))
    np.testing.assert_allclose(state.S, np.linalg.svd(A, compute_uv=False)[: len(state.S)], rtol=1e-9)


@given(keep=st.integers(1, 15), steps=st.integers(1, 6), seed=st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_the_error_of_a_chain_is_bounded_by_the_first_discarded_values(keep, steps, seed):
    rng = np.random.default_rng(seed)
    A = documents(60, 30, rng) + low_rank(60, 30, 2, rng) / 10
    parts = np.array_split(A, steps + 1)
    first = np.linalg.svd(parts[0], compute_uv=False)
    state, bound = exact(parts[0], keep), float(first[keep]) if keep < len(first) else 0.0
    for B in parts[1:]:
        state, discarded = with_rows(state, csr_array(B), keep)
        bound += float(discarded[:1].sum())
    assert spectral(A - product(state)) <= bound * (1 + 1e-9) + 1e-12
    assert loss_of_orthogonality(state.U) < 1e-10  # it drifts, yet stays orthonormal
    assert loss_of_orthogonality(state.V) < 1e-10


def test_energy_is_kept_or_told(rng):
    parts = np.array_split(documents(60, 30, rng), 4)
    state = exact(parts[0], 5)
    energy = (state.S**2).sum()
    for B in parts[1:]:
        state, discarded = with_rows(state, B, 5)
        energy += (B**2).sum() - (discarded**2).sum()
    np.testing.assert_allclose((state.S**2).sum(), energy, rtol=1e-12)


# ---------------------------------------------------------------------- there and back


@pytest.mark.parametrize("spare", [0, 1, 2])
@pytest.mark.parametrize("rank", [1, 2])
def test_relabelling_and_back_restores_only_with_spare_dimensions(rank, spare, rng):
    """One document that changes its class is a change of rank one; two with different new classes, of rank two."""
    old = exact(documents(30, 20, rng), 6)
    P, R = np.zeros((30, rank)), np.zeros((20, rank))
    for i in range(rank):
        P[3 + i, i], R[15, i], R[16 + i, i] = 1, -1.5, 1.5
    there, _ = with_change(old, csr_array(P), csr_array(R), 6 + spare)
    back, _ = with_change(there, csr_array(P), csr_array(-R), 6 + spare)
    error = abs(product(back) - product(old)).max()
    assert (error < 1e-12) if spare >= rank else (error > 1e-4)


def test_withdrawn_rows_are_gone_and_nothing_else(rng):
    A = documents(30, 20, rng)
    old = exact(A, 6)
    new = without_rows(old, [2, 7, 29])
    np.testing.assert_allclose(product(new), np.delete(product(old), [2, 7, 29], axis=0), atol=1e-12)
    assert loss_of_orthogonality(new.U) < 1e-12
    assert loss_of_orthogonality(new.V) < 1e-12
    assert (np.diff(new.S) <= 0).all()


def test_a_direction_of_one_row_alone_goes_with_it():
    A = np.zeros((5, 4))
    A[:4, :3], A[4, 3] = np.arange(12.0).reshape(4, 3), 7.0
    new = without_rows(exact(A, 3), [4])
    assert len(new.S) == 2
    np.testing.assert_allclose(product(new), A[:4], atol=1e-12)


def test_adding_rows_and_withdrawing_them_restores_with_as_many_spare_dimensions(rng):
    A, B = documents(30, 20, rng), documents(3, 20, rng)
    old = exact(A, 6)
    back = without_rows(with_rows(old, B, 9).decomposition, [30, 31, 32])
    np.testing.assert_allclose(product(back), product(old), atol=1e-12)
    lossy = without_rows(with_rows(old, B, 6).decomposition, [30, 31, 32])
    assert abs(product(lossy) - product(old)).max() > 1e-3


def test_columns_are_withdrawn_like_rows(rng):
    old = exact(documents(30, 20, rng), 6)
    new = without_columns(old, [0, 19])
    np.testing.assert_allclose(product(new), np.delete(product(old), [0, 19], axis=1), atol=1e-12)
    assert (new.V.max(axis=0) >= -new.V.min(axis=0)).all()


def test_weights_are_changed_columns(rng):
    A = low_rank(30, 20, 6, rng)
    columns, factor = [3, 8], np.array([0.5, 2.0])
    R = np.zeros((20, 2))
    R[columns, [0, 1]] = 1
    new, _ = with_change(exact(A, 6), A[:, columns] * (factor - 1), csr_array(R), 8)
    weighted = A.copy()
    weighted[:, columns] *= factor
    np.testing.assert_allclose(product(new), weighted, atol=1e-11)


# ---------------------------------------------------------------------- folding-in


def test_folded_rows_are_projections_and_lose_orthogonality(rng):
    A, B = documents(30, 20, rng), documents(10, 20, rng)
    old = exact(A, 6)
    new = fold_in_rows(old, csr_array(B))
    np.testing.assert_allclose(product(new)[30:], B @ old.V @ old.V.T, atol=1e-12)
    assert new.V is old.V
    gram = new.U.T @ new.U
    np.testing.assert_allclose(loss_of_orthogonality(new.U), spectral(gram - np.eye(6)), rtol=1e-9)
    assert loss_of_orthogonality(new.U) > 0.01


def test_folded_columns_are_projections_and_lose_orthogonality(rng):
    A, C = documents(30, 20, rng), documents(30, 5, rng)
    old = exact(A, 6)
    new = fold_in_columns(old, csr_array(C))
    np.testing.assert_allclose(product(new)[:, 20:], old.U @ old.U.T @ C, atol=1e-12)
    assert loss_of_orthogonality(new.V) > 0.01
    assert loss_of_orthogonality(old.V) < 1e-12


def test_updating_is_nearer_to_the_truth_than_folding_in(rng):
    A, B = documents(60, 30, rng), documents(20, 30, rng)
    union, old = np.vstack([A, B]), exact(A, 8)
    error = [np.linalg.norm(union - product(new)) for new in (with_rows(old, B, 8)[0], fold_in_rows(old, B))]
    assert np.linalg.norm(union - best(union, 8)) < error[0] < error[1]
