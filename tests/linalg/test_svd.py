"""Truncated SVD: every solver against LAPACK on the matrix written out, with and without sprinkled columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.sparse import csr_array, random_array

from untwin._progress import listening
from untwin.linalg.blocks import Blocks
from untwin.linalg.svd import truncated_svd

SOLVERS = ["gram", "randomized", "arpack"]


def documents(n, m, n_classes=5, seed=0):
    """Return sparse documents whose classes prefer terms of their own, and the indicator of the classes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_classes, size=n)
    X = random_array((n, m), density=0.1, rng=rng, format="csr").toarray()
    X += (rng.random((n, m)) < 0.3) * (np.arange(m) % n_classes == labels[:, None])
    return csr_array(X), csr_array(np.eye(n_classes)[labels])


def projector(V):
    return V @ V.T


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(120, 45), (45, 120)])
@pytest.mark.parametrize("dense", [True, False])
def test_a_solver_finds_what_lapack_finds(solver, shape, dense):
    X, Y = documents(*shape)
    F = csr_array(np.diag([1.0, 2, 3, 4, 5]))
    A = np.hstack([X.toarray(), (Y @ F).toarray()])
    U, S, V = truncated_svd(Blocks(X.toarray() if dense else X, Y, F), 5, solver=solver, random_state=0)
    left, values, right = np.linalg.svd(A, full_matrices=False)
    np.testing.assert_allclose(S, values[:5], rtol=1e-9)
    np.testing.assert_allclose(projector(U), projector(left[:, :5]), atol=1e-9)
    np.testing.assert_allclose(projector(V), projector(right[:5].T), atol=1e-9)
    np.testing.assert_allclose(U * S @ V.T, (left[:, :5] * values[:5]) @ right[:5], atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@given(counts=st.lists(st.integers(0, 12), min_size=4, max_size=4), seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_a_kernel_does_what_literal_copies_do(solver, counts, seed):
    X, Y = documents(40, 25, n_classes=4, seed=seed)
    copies = np.hstack([X.toarray(), np.repeat(Y.toarray(), counts, axis=1)])
    U, S, V = truncated_svd(Blocks(X, Y, csr_array(np.diag(np.sqrt(counts)))), 20, solver=solver, random_state=0)
    left, values, right = np.linalg.svd(copies, full_matrices=False)
    np.testing.assert_allclose(S, values[:20], atol=1e-9)
    gaps = -np.diff(values[:21])
    widest = int(np.argmax(gaps)) + 1  # projectors are defined where singular values differ
    np.testing.assert_allclose(projector(U[:, :widest]), projector(left[:, :widest]), atol=1e-9)
    terms = right[:widest, :25]  # the copies themselves are columns that the kernel joins
    np.testing.assert_allclose(V[:25, :widest] @ V[:25, :widest].T, terms.T @ terms, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_kernel_adds_to_the_gram_matrix(solver):
    X, Y = documents(60, 30)
    F = csr_array(np.random.default_rng(0).normal(size=(5, 5)))
    _, S, _ = truncated_svd(Blocks(X, Y, F), 10, solver=solver, random_state=0)
    kernel = (X @ X.T).toarray() + Y.toarray() @ (F @ F.T).toarray() @ Y.toarray().T
    np.testing.assert_allclose(S**2, np.linalg.eigvalsh(kernel)[::-1][:10], rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_factors_are_orthonormal_and_keep_the_dtype(solver, dtype, tolerance):
    X, Y = documents(200, 300)
    parts = truncated_svd(Blocks(X.astype(dtype), Y, csr_array(3 * np.eye(5))), 30, solver=solver, random_state=0)
    assert [part.dtype for part in parts] == [dtype] * 3
    np.testing.assert_allclose(parts.U.T @ parts.U, np.eye(30), atol=tolerance)
    np.testing.assert_allclose(parts.V.T @ parts.V, np.eye(30), atol=tolerance)
    assert (np.diff(parts.S) <= 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_seed_gives_the_same_numbers_and_signs_are_fixed(solver):
    A = Blocks(documents(150, 80)[0])
    one, two, other = (truncated_svd(A, 6, solver=solver, random_state=seed) for seed in (0, 0, 1))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(one.V, other.V, atol=1e-3)
    assert (one.V.max(axis=0) >= -one.V.min(axis=0)).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_fewer_directions_where_the_rank_is_lower(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 50))
    U, S, V = truncated_svd(Blocks(X), 10, solver=solver, random_state=0)
    assert len(S) == 3
    np.testing.assert_allclose(U * S @ V.T, X, atol=1e-11)


@pytest.mark.parametrize("solver", SOLVERS)
def test_more_directions_than_there_are_rows(solver):
    X = np.random.default_rng(0).normal(size=(7, 30))
    assert len(truncated_svd(Blocks(X), 100, solver=solver, random_state=0).S) == 7


def test_no_solver_stumbles_over_zeros():
    for solver in SOLVERS:
        assert len(truncated_svd(Blocks(np.zeros((6, 4))), 4, solver=solver).S) == 0


@pytest.mark.parametrize("spread", [0, 1e-9, 1e-3])
def test_krylov_finds_a_cluster_wider_than_its_blocks(spread):
    values = np.r_[1000 + np.linspace(0, spread, 60), np.linspace(0, 1, 340)]
    _, S, _ = truncated_svd(Blocks(np.diag(values)), 50, solver="randomized", random_state=0)
    np.testing.assert_allclose(S, np.sort(values)[::-1][:50], rtol=1e-9)


@pytest.mark.parametrize("strength", [0.0, 1.0, 30.0])
def test_krylov_captures_the_energy_of_a_flat_spectrum(strength):
    X, Y = documents(1000, 800, n_classes=12)
    A = Blocks(X, Y, csr_array(strength * np.eye(12)))
    found = truncated_svd(A, 60, solver="randomized", random_state=0).S ** 2
    exact = truncated_svd(A, 60, solver="gram").S ** 2
    assert (1 - found / exact).mean() < 5e-3  # each direction by its own size: a few huge ones hide nothing
    assert (found <= exact * (1 + 1e-9)).all()


def test_auto_takes_the_gram_matrix_for_a_short_side_only(monkeypatch):
    called = []
    for name in ("_by_gram", "_by_krylov"):
        find = getattr(__import__("untwin.linalg.svd", fromlist=[name]), name)
        monkeypatch.setattr(
            f"untwin.linalg.svd.{name}", lambda *a, find=find, name=name: called.append(name) or find(*a)
        )
    for shape, k in [((2000, 50), 5), ((1100, 1200), 5), ((1100, 1200), 300)]:
        truncated_svd(Blocks(random_array(shape, density=0.02, rng=0, format="csr")), k, random_state=0)
    assert called == ["_by_gram", "_by_krylov", "_by_gram"]


def test_progress_is_reported():
    seen = []
    with listening(lambda *event: seen.append(event)):
        truncated_svd(Blocks(documents(300, 200)[0]), 5, solver="randomized", random_state=0)
    assert seen
    assert all(stage == "decomposing" and done <= total for stage, done, total in seen)


def test_a_matrix_on_which_the_search_for_some_vectors_gives_up(monkeypatch):
    """LAPACK's fastest way says "Internal Error" of a few matrices, as it did of texts that share all their words."""

    def gives_up(gram, *, subset_by_index=None, driver=None):
        if subset_by_index is not None:
            raise np.linalg.LinAlgError("Internal Error.")
        return eigh(gram, driver=driver)

    A = Blocks(np.random.default_rng(0).normal(size=(12, 7)))
    expected = truncated_svd(A, 3, solver="gram")
    monkeypatch.setattr("untwin.linalg.svd.eigh", gives_up)
    for found, wanted in zip(truncated_svd(A, 3, solver="gram"), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-10)
