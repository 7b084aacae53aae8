"""The chance that a row belongs to no class, as a line of its spread."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from untwin.calibrate.unknown import STEADINESS, chance_of


def surprise(line, x, unknown):
    """Both kinds of rows count half; the prior is normal."""
    odds = line[0] * x + line[1]
    told = np.logaddexp(0, np.where(unknown, -odds, odds))
    halves = sum(told[kind].mean() for kind in (unknown, ~unknown)) * len(x) / 2
    return halves + STEADINESS * (line**2).sum() / 2


@pytest.mark.parametrize("apart", [0.0, 0.5, 2.0, 20.0])
@pytest.mark.parametrize("rate", [0.02, 0.4])
def test_the_line_is_the_likeliest_one(apart, rate):
    """However well the rows are told apart: at 20 they are so without any error."""
    rng = np.random.default_rng(0)
    unknown = rng.random(2000) < rate
    x = np.abs(rng.normal(size=2000)) * 0.5 + apart * unknown
    found = chance_of(np.exp(x), unknown)
    best = minimize(surprise, [0.0, 0.0], args=(x, unknown), bounds=[(0, None), (None, None)], tol=1e-12)
    assert surprise(np.array(found), x, unknown) <= best.fun + 1e-5
    np.testing.assert_allclose(found, best.x, atol=2e-3)


def test_a_wider_spread_never_makes_a_row_less_likely_to_be_unknown():
    rng = np.random.default_rng(0)
    unknown = np.arange(200) % 2 == 0
    slope, shift = chance_of(np.exp(rng.random(200) + ~unknown), unknown)
    assert slope == 0
    assert shift == pytest.approx(0, abs=1e-6)  # both kinds count half
