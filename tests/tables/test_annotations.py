"""Krippendorff's alpha, held to its published example, to a literal computation, and to what it must be."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untwin import Annotations

# Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve units; nominal alpha .743
OBSERVERS = ["1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 ."]
TABLES = st.lists(st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=3, max_size=3), min_size=1, max_size=12)


def literal_alpha(units):
    """One minus observed over expected disagreement, pair by pair."""
    units = [[label for label in unit if label] for unit in units]
    units = [unit for unit in units if len(unit) > 1]
    labels = [label for unit in units for label in unit]
    expected = sum(a != b for a, b in permutations(labels, 2))
    if not expected:
        return None
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units) / len(labels)
    return 1 - observed / (expected / (len(labels) * (len(labels) - 1)))


def test_the_published_example():
    found = Annotations.of_columns([row.split() for row in OBSERVERS], missing=".")
    assert found.alpha() == pytest.approx(0.743, abs=5e-4)
    assert (found.n_units, found.n_labels) == (11, 40)
    assert found.coincidences.toarray()[1, 1] == pytest.approx(10)


@given(TABLES)
def test_alpha_is_the_literal_one(units):
    columns = [list(column) for column in zip(*units, strict=True)]
    alpha = Annotations.of_columns(columns).alpha()
    expected = literal_alpha(units)
    assert alpha == (None if expected is None else pytest.approx(expected))


@given(TABLES)
def test_every_label_is_in_as_many_coincidences_as_it_was_given(units):
    found = Annotations.of_columns([list(column) for column in zip(*units, strict=True)])
    pairs = found.coincidences.toarray()
    assert np.allclose(pairs, pairs.T)
    assert np.allclose(pairs.sum(axis=0), np.asarray(found.counts.sum(axis=0)))


def test_labels_at_random_agree_by_chance_alone():
    labels = np.random.default_rng(0).choice(list("abcd"), size=(3, 4000))
    found = Annotations.of_columns(list(labels))
    low, high = found.alpha_interval()
    assert low < found.alpha() < high
    assert low < 0 < high
    assert high - low < 0.04


def test_what_cannot_be_told_is_none():
    assert Annotations.of_columns([["a", "a"], ["a", "a"]]).alpha() is None
    assert Annotations.of_columns([["a", ""], ["", "b"]]).alpha() is None
    assert Annotations.of_columns([["a", ""], ["", "b"]]).alpha_interval() is None


def test_columns_and_units_say_the_same():
    columns = [["a", "b", "c"], ["a", "b", "a"]]
    by_unit = Annotations.of_units(["x", "y", "z"] * 2, columns[0] + columns[1])
    assert by_unit.alpha() == Annotations.of_columns(columns).alpha()


def test_what_is_no_table_is_refused():
    with pytest.raises(ValueError, match="one length"):
        Annotations.of_columns([["a"], ["a", "b"]])
    with pytest.raises(ValueError, match="one length"):
        Annotations.of_units(["x"], ["a", "b"])
