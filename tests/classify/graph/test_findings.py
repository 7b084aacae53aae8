from __future__ import annotations

import numpy as np

from untwin.classify.graph.findings import Change, SweepRow, changes, sparest


def test_changes_by_what_the_base_and_the_experts_say():
    truth = np.array([0, 1, 1, 2, 2, 0])
    base = np.array([0, 0, 0, 1, 1, 0])
    final = np.array([0, 1, 1, 2, 0, 1])
    assert changes(truth, base, final, np.array(["a", "b", "c"])) == [
        Change("a", "b", corrected=2, broke=1, neither=0),
        Change("b", "c", corrected=1, broke=0, neither=0),
        Change("b", "a", corrected=0, broke=0, neither=1),
    ]


def test_no_changes():
    assert changes(np.array([0, 1]), np.array([0, 1]), np.array([0, 1]), np.array(["a", "b"])) == []


def test_sparest_threshold_that_keeps_what_can_be_saved():
    rows = [SweepRow(None, 9, 4.0, 0.9), SweepRow(0.0, 9, 3.0, 0.8999), SweepRow(0.1, 1, 1.1, 0.7)]
    assert sparest(rows, accuracy=0.5) == rows[1]


def test_a_base_that_is_never_wrong_needs_no_experts():
    rows = [SweepRow(None, 0, 2.0, 1.0), SweepRow(0.5, 0, 1.0, 1.0)]
    assert sparest(rows, accuracy=1.0) == rows[1]
