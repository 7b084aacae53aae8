"""Orthonormal bases: orthonormal, spanning the block, and honest about dependent columns."""

from __future__ import annotations

import numpy as np
import pytest

from untwin.linalg.orthonormal import orthonormal

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_badly_scaled_columns(dtype, tolerance):
    block = (RNG.normal(size=(400, 6)) * [1e6, 1, 1e-6, 3, 1e3, 1e-4]).astype(dtype)
    Q, R = orthonormal(block)
    assert Q.dtype == dtype
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=tolerance)
    np.testing.assert_allclose(
        (Q @ R) / np.linalg.norm(block, axis=0), block / np.linalg.norm(block, axis=0), atol=tolerance
    )


def test_nearly_parallel_columns():
    a, b = RNG.normal(size=(2, 500))
    Q, R = orthonormal(np.stack([a, a + 1e-6 * b], axis=1))
    np.testing.assert_allclose(Q.T @ Q, np.eye(2), atol=1e-13)
    np.testing.assert_allclose(Q @ R, np.stack([a, a + 1e-6 * b], axis=1), atol=1e-9)


def test_dependent_columns_are_left_out():
    block = RNG.normal(size=(50, 3)) @ RNG.normal(size=(3, 7))
    Q, R = orthonormal(block)
    assert Q.shape == (50, 3)
    np.testing.assert_allclose(Q @ R, block, atol=1e-12)


def test_short_columns_are_left_out():
    block = np.eye(4)[:, :3] * [1.0, 1e-7, 2.0]
    Q, R = orthonormal(block, shortest=1e-5)
    assert Q.shape == (4, 2)
    np.testing.assert_allclose(abs(R), [[1, 0, 0], [0, 0, 2]], atol=1e-12)


@pytest.mark.parametrize("width", [0, 3])
def test_nothing_in_nothing_out(width):
    Q, R = orthonormal(np.zeros((5, width)))
    assert (Q.shape, R.shape) == ((5, 0), (0, width))
