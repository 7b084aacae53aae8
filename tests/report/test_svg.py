"""Scales of the drawing kit."""

from __future__ import annotations

import numpy as np

from untwin.report.svg import Scale


def test_a_scale_keeps_order_and_ends():
    scale = Scale.around([2, 8], 100, 0, margin=0.04)
    assert 0 < scale(8) < scale(5) < scale(2) < 100
    ticks = scale.ticks()
    assert np.allclose(np.diff(ticks), ticks[1] - ticks[0])
    assert Scale.around([3.0, 3.0], 0, 10)(3.0) == 5  # a constant does no harm


def test_a_logarithmic_scale_spaces_factors_alike():
    scale = Scale.around([1, 100], 0, 10, log=True)
    assert (scale(1), scale(10), scale(100)) == (0, 5, 10)
