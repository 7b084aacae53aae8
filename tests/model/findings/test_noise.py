from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from untwin.model.findings import noise
from untwin.model.findings.noise import LEAST, SHARES, SHARPNESS, fitted_noise


def drawn(seed, n=4_000, n_classes=5, share=0.0, flattened=1.0):
    """Probabilities, and labels drawn from them; a share of the labels comes from a hat."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_classes, 0.2), n) + 1e-9
    P /= P.sum(axis=1, keepdims=True)
    y = np.minimum((P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), n_classes - 1)
    y = np.where(rng.random(n) < share, rng.integers(0, n_classes, n), y)
    told = P ** (1 / flattened)
    return told / told.sum(axis=1, keepdims=True), y


@pytest.mark.parametrize("seed", range(5))
def test_labels_as_the_probabilities_say_have_no_noise(seed):
    found = fitted_noise(*drawn(seed))
    assert found.share < 0.01
    assert found.surprise < 4


@pytest.mark.parametrize("flattened", [1.0, 1.5])
@pytest.mark.parametrize("share", [0.03, 0.1, 0.2])
def test_noise_is_measured_also_where_it_has_flattened_the_probabilities(share, flattened):
    found = fitted_noise(*drawn(0, share=share, flattened=flattened))
    assert found.share == pytest.approx(share, rel=0.3)
    assert found.sharpness == pytest.approx(flattened, rel=0.15)
    assert found.wrong(5) == pytest.approx(0.8 * found.share)
    assert found.surprise > 50


def test_many_rows_are_settled_by_a_sample(monkeypatch):
    P, y = drawn(0, share=0.1)
    monkeypatch.setattr(noise, "ENOUGH_CELLS", 1)
    assert fitted_noise(P, y).share == pytest.approx(0.1, rel=0.4)


def test_no_chance_at_all_is_no_failure():
    found = fitted_noise(np.eye(3)[[0, 1, 2, 0, 1, 2]], np.array([0, 1, 2, 0, 1, 0]))
    assert np.isfinite(found.surprise)
    assert found.surprise > 0


def literal(P, y):
    """The grid, cell by cell as in the glossary."""
    log_P = np.log(np.maximum(P, LEAST))
    likelihoods = np.array(
        [
            [np.log(np.maximum((1 - e) * Q[np.arange(len(y)), y] + e / P.shape[1], LEAST)).sum() for e in SHARES]
            for Q in (softmax(a * log_P, axis=1) for a in SHARPNESS)
        ]
    )
    best_a, best_e = np.unravel_index(np.argmax(likelihoods), likelihoods.shape)
    return SHARES[best_e], SHARPNESS[best_a], 2 * (likelihoods.max() - likelihoods[:, 0].max())


@pytest.mark.parametrize("n", [1, 7, 8, 1_003])
@pytest.mark.parametrize("kept", [1, 3, 12])
def test_few_cells_and_few_logarithms_find_what_all_of_them_do(n, kept):
    """Cells that share what is left are equal: they are taken once; 12 classes keep all of theirs."""
    P, y = drawn(n, n=n, n_classes=12, share=0.1)
    rest = np.sort(P, axis=1)[:, : 12 - kept].mean(axis=1, keepdims=True) if kept < 12 else 0
    P = np.where(np.argsort(np.argsort(-P, axis=1), axis=1) < kept, P, rest)
    found, wanted = fitted_noise(P, y), literal(P, y)
    assert (found.share, found.sharpness) == (wanted[0], wanted[1])
    assert found.surprise == pytest.approx(wanted[2], abs=1e-8)


def test_impossible_labels_are_counted_as_literally():
    P, y = np.eye(4)[np.arange(40) % 4], (np.arange(40) + (np.arange(40) < 30)) % 4
    found, wanted = fitted_noise(P, y), literal(P, y)
    assert found.share == wanted[0]
    assert found.surprise == pytest.approx(wanted[2], rel=1e-9)
