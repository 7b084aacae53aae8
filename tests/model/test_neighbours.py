"""Coordinates by which similar answers are found."""

from __future__ import annotations

import numpy as np

from untwin.model.neighbours import coordinates


def test_coordinates_of_all_classes_have_length_one():
    P = np.random.default_rng(0).dirichlet(np.ones(8), size=5)
    found = coordinates(np.log(P))
    np.testing.assert_allclose(found.toarray(), np.sqrt(P))
