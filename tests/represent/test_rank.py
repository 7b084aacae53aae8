"""The number of directions by MDL and AIC."""

from __future__ import annotations

import numpy as np
import pytest

from untwin.represent.rank import criterion_values
from untwin.represent.sprinkle import SprinkledLSI


def noisy(n=600, m=120, rank=7, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m)) + noise * rng.normal(size=(n, m))


def wax_kailath(values, n, criterion):
    """The published form: ratio of geometric to arithmetic mean of the eigenvalues left over."""
    p = len(values)
    result = []
    for k in range(1, p):
        rest = values[k:]
        ratio = np.log(rest).mean() - np.log(rest.mean())
        parameters = k * p - k * (k - 1) / 2 + 1
        result.append(-(n / 2) * (p - k) * ratio + parameters * (np.log(n) / 2 if criterion == "mdl" else 1))
    return np.array(result)


@pytest.mark.parametrize("criterion", ["mdl", "aic"])
def test_it_is_wax_and_kailaths_criterion_up_to_a_constant(criterion):
    X = noisy(n=300, m=20)
    S = np.linalg.svd(X, compute_uv=False)
    ours = criterion_values(S[:-1], (X**2).sum(), X.shape, criterion)
    difference = ours - wax_kailath(S**2 / len(X), len(X), criterion)
    np.testing.assert_allclose(difference, difference[0], rtol=1e-9)


@pytest.mark.parametrize("rank", [1, 7, 45])
def test_mdl_finds_the_rank_under_noise_also_beyond_the_first_stage(rank):
    assert len(SprinkledLSI(n_components="mdl").fit(noisy(rank=rank)).components_) == rank


def test_aic_keeps_at_least_as_many():
    X = noisy()
    assert len(SprinkledLSI(n_components="aic").fit(X).components_) >= 7


@pytest.mark.parametrize("criterion", ["mdl", "aic"])
@pytest.mark.parametrize("rank", [3, 40])
def test_without_noise_the_rank_is_found_exactly(criterion, rank):
    assert len(SprinkledLSI(n_components=criterion).fit(noisy(rank=rank, noise=0)).components_) == rank


def test_a_square_matrix_of_full_rank_does_not_run_away():
    assert len(SprinkledLSI(n_components="aic").fit(np.diag(2.0 ** np.arange(10))).components_) <= 10
