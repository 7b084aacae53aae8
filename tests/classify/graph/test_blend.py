from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from untwin.classify.graph.blend import LEAST, Blend, fit_blend


def judged(seed, n=80, k=4):
    """Margins, scores and true cells of rows whose labels follow the blend 3 margins + 2 scores."""
    rng = np.random.default_rng(seed)
    margins, scores = rng.normal(size=(2, n, k))
    margins[rng.random((n, k)) < 0.2] = -np.inf
    margins[:, 0] = rng.normal(size=n)
    truth = (Blend(3.0, 2.0)(margins, scores) + rng.gumbel(size=(n, k))).argmax(axis=1)
    return margins, scores, np.arange(k) == truth[:, None]


def surprise(blend, margins, scores, hits):
    return -log_softmax(blend(margins, scores), axis=1)[hits].mean()


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000))
def test_no_blend_nearby_is_likelier(seed):
    table = judged(seed)
    found = fit_blend(*table, with_base=True)
    spread = [part[np.isfinite(table[0])].std() for part in table[:2]]
    for step in ((0.05, 0.0), (-0.05, 0.0), (0.0, 0.05), (0.0, -0.05)):
        other = Blend(found.expert + step[0], max(found.base + step[1], 0.0))
        if other.expert * spread[0] - other.base * spread[1] < LEAST:
            continue  # not allowed
        assert surprise(found, *table) <= surprise(other, *table) + 1e-7


def test_finds_the_blend_that_made_the_labels():
    found = fit_blend(*judged(0, n=20_000), with_base=True)
    np.testing.assert_allclose(found, (3.0, 2.0), rtol=0.05)


def test_the_base_never_has_more_weight_than_the_experts():
    """In standard deviations."""
    margins, scores, hits = judged(0, n=2000)
    found = fit_blend(np.where(np.isfinite(margins), scores, -np.inf), 10 * margins, hits, with_base=True)
    spread = [part[np.isfinite(margins)].std() for part in (scores, 10 * margins)]
    assert found.base * spread[1] == pytest.approx(found.expert * spread[0], rel=0.1)


def test_rows_whose_class_is_no_candidate_do_not_count():
    margins, scores, hits = judged(1)
    lost = np.arange(len(hits)) % 5 == 0
    expected = fit_blend(margins[~lost], scores[~lost], hits[~lost], with_base=True)
    np.testing.assert_allclose(fit_blend(margins, scores, hits & ~lost[:, None], with_base=True), expected, rtol=1e-4)


def test_without_base_experts_alone_decide():
    assert fit_blend(*judged(2), with_base=False).base == 0.0


def test_nothing_to_learn_from():
    margins, scores, hits = judged(3)
    assert fit_blend(margins, scores, np.zeros_like(hits), with_base=True) == Blend(1.0, 0.0)


def test_experts_that_are_never_wrong_get_a_finite_weight():
    margins = np.array([[1.0, -1.0], [2.0, -1.0]])
    hits = np.array([[True, False], [True, False]])
    found = fit_blend(margins, np.zeros((2, 2)), hits, with_base=True)
    assert np.isfinite(found).all()
    assert found.expert > 1
