"""When to decompose anew: the limit, and what it learns from its own tries."""

from __future__ import annotations

import numpy as np

from untwin.linalg.drift import LIMIT, DriftRule


def test_it_fires_beyond_the_limit_only():
    rule = DriftRule(0.5)
    assert not rule.is_exceeded(0.499 + LIMIT)
    assert rule.is_exceeded(0.501 + LIMIT)
    assert not rule.is_exceeded(0.4)  # better than it was


def test_the_limit_has_hysteresis():
    patient = DriftRule(0.5).after_restart(before=0.53, after=0.528)
    assert patient == DriftRule(0.528, 2 * LIMIT)
    assert not patient.is_exceeded(0.528 + 1.5 * LIMIT)  # the rise that fired before does not fire again
    eager = patient.after_restart(before=0.6, after=0.54)
    assert eager == DriftRule(0.54, LIMIT)
    assert eager.after_restart(before=0.57, after=0.54) == eager  # never below where it began


def test_a_stream_that_cannot_be_compressed_is_tried_ever_more_seldom():
    rule, tries = DriftRule(0.2), []
    for batch, discarded in enumerate(np.linspace(0.2, 0.9, 71)):
        if rule.is_exceeded(discarded):
            rule = rule.after_restart(discarded, discarded - 0.001)
            tries.append(batch)
    assert len(tries) == 6  # the limit doubles each time: 0.01 + 0.02 + ... + 0.32 of 0.7
    assert (np.diff(tries, 2) > 0).all()
