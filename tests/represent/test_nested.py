"""One decomposition serves every smaller number of dimensions."""

import numpy as np
import pytest
from scipy.sparse import random_array
from sklearn.base import clone

from untwin import SprinkledLSI, SprinklingPlan

DIMENSIONS = (6, 2, 4)


@pytest.mark.parametrize("plan", [None, SprinklingPlan.uniform(s=3.0)], ids=["plain", "sprinkled"])
@pytest.mark.parametrize("training", ["projected", "reconstructed"])
@pytest.mark.parametrize("whiten", [False, True])
def test_nested_spaces_are_those_of_clones(plan, training, whiten):
    rng = np.random.default_rng(0)
    X, y = random_array((40, 15), density=0.4, format="csr", rng=rng), rng.choice(["a", "b", "c"], 40)
    template = SprinkledLSI(plan=plan, training=training, whiten=whiten, solver="gram")
    found = list(template.nested(X, y, DIMENSIONS))
    assert [space.n_components for space, _ in found] == list(DIMENSIONS)
    for space, Z in found:
        alone = clone(template).set_params(n_components=space.n_components)
        np.testing.assert_allclose(Z, alone.fit_transform(X, y), atol=1e-9)
        np.testing.assert_allclose(space.transform(X), alone.transform(X), atol=1e-9)
        np.testing.assert_allclose(space.singular_values_, alone.singular_values_, atol=1e-9)
    assert not hasattr(template, "components_")
