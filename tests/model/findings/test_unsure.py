from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from untwin.model.findings.unsure import rows_to_label

Y = np.repeat(["a", "b", "c"], 10)


def test_regions_take_turns_and_narrow_decisions_come_first(evidence):
    P = np.array(
        [
            [0.45, 0.40, 0.15],  # a or b
            [0.98, 0.01, 0.01],  # sure
            [0.42, 0.41, 0.17],  # a or b, narrower
            [0.15, 0.40, 0.45],  # b or c
            [0.40, 0.44, 0.16],  # a or b
        ]
    )
    finding = rows_to_label(evidence(Y, unlabelled=P))
    assert [record["row"] for record in finding.evidence] == [2, 3, 4, 0]
    assert [(record["class"], record["or"]) for record in finding.evidence] == [
        ("a", "b"),
        ("c", "b"),
        ("b", "a"),
        ("a", "b"),
    ]
    assert "4 rows of 5" in finding.title


def test_nothing_to_label(evidence):
    assert rows_to_label(evidence(Y)) is None
    assert rows_to_label(evidence(Y, unlabelled=np.array([[0.9, 0.05, 0.05], [0.5, 0.3, 0.2]]))) is None
    assert rows_to_label(evidence(Y, unlabelled=np.empty((0, 3)))) is None


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 60))
@settings(max_examples=50, deadline=None)
def test_the_list_holds_each_unsure_row_once_and_starts_with_one_of_each_region(evidence, seed, n):
    P = np.random.default_rng(seed).dirichlet(np.ones(3), n)
    finding = rows_to_label(evidence(Y, unlabelled=P))
    listed = [] if finding is None else finding.evidence
    assert sorted(record["row"] for record in listed) == np.flatnonzero(P.max(axis=1) < 0.5).tolist()
    regions = [frozenset((record["class"], record["or"])) for record in listed]
    n_regions = len(set(regions))
    assert len(set(regions[:n_regions])) == n_regions
    errors = [record["errors in region"] for record in listed[:n_regions]]
    assert errors == sorted(errors, reverse=True)
