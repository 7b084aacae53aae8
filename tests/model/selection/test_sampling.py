"""Folds that all candidates share, and samples."""

from __future__ import annotations

import numpy as np

from untwin.model.selection.sampling import shared_folds, stratified_sample


def test_rows_of_a_class_in_one_place_are_never_held_out():
    parts = shared_folds(["a", "a", "b", "c", "d"], np.array([0, 0, 1, 1, 1]), 2)
    assert parts[0] == parts[1] == -1
    assert set(parts[2:]) == {0, 1}
    assert shared_folds(["a", "b"], np.array([0, 1]), 2) is None


def test_a_sample_holds_the_classes_in_their_shares():
    codes = np.repeat([0, 1, 2], [100, 50, 50])
    assert np.bincount(codes[stratified_sample(codes, 40, 0)]).tolist() == [20, 10, 10]
    assert np.bincount(codes[stratified_sample(codes, 150, 0)]).tolist() == [72, 36, 35]  # ten of fourteen parts
    assert stratified_sample(codes, 500, 0).tolist() == list(range(200))
