"""Ordered classes."""

from __future__ import annotations

import numpy as np

from untwin.model.ordinal import median_classes


def test_the_median_grade():
    log_p = np.log(np.array([[0.4, 0.2, 0.4], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]))
    assert median_classes(log_p, np.array([0, 1, 2])).tolist() == [1, 0, 2]
    assert median_classes(log_p, np.array([0, 2, 1])).tolist() == [2, 0, 2]
