"""Calibration, doubt, and small parts of the model that are pure functions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from untwin.calibrate.reliability import calibration_error
from untwin.calibrate.temperature import on_log_scale
from untwin.calibrate.threshold import surest_threshold
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.model.features.inputs import as_labels, kind_of
from untwin.model.neighbours import coordinates
from untwin.model.ordinal import median_classes
from untwin.model.out_of_fold import OutOfFoldAnswers
from untwin.model.selection.sampling import shared_folds, stratified_sample

rows_judged = st.lists(st.tuples(st.sampled_from([0.2, 0.5, 0.7, 0.9, 1.0]), st.booleans()), min_size=1, max_size=30)


@given(rows_judged, st.floats(0, 1))
def test_the_threshold_is_the_lowest_that_keeps_to_the_target(rows, target):
    confidence, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    found = surest_threshold(confidence, right, target)
    fitting = [t for t in np.unique(confidence) if (~right[confidence >= t]).mean() <= target]
    assert found == min(fitting, default=np.inf)
    assert found == surest_threshold(confidence[::-1], right[::-1], target)  # the order of the rows says nothing


@given(rows_judged, st.floats(0, 1))
def test_groups_of_classes_and_the_model_have_one_threshold(rows, target):
    """Confidences .9, .8, .8, the last one wrong: at an error of 0 only .9 is sure, not .8."""
    confidence, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    by_groups = MultiLevelClassifier()
    by_groups.judged_ = confidence, right
    log_p = np.log(np.column_stack([confidence, np.full(len(confidence), 1e-9)])).astype(np.float64)
    said = np.where(right, "a", "b")
    answers = OutOfFoldAnswers(
        np.array(["a", "b"]), np.arange(len(rows)), log_p, said, np.zeros(len(rows), dtype=np.intp)
    )
    of_model = surest_threshold(*answers.judged(np.full(len(rows), "a")), target)
    assert by_groups._threshold(target) == pytest.approx(of_model)
    sure = confidence >= by_groups._threshold(target)
    assert not sure.any() or (~right[sure]).mean() <= target


def test_rows_of_equal_confidence_are_sure_together():
    model = MultiLevelClassifier()
    model.judged_ = np.array([0.9, 0.8, 0.8]), np.array([True, True, False])
    assert model._threshold(0.0) == 0.9
    with pytest.raises(ValueError, match="share from 0 to 1"):
        model._threshold(5)


@given(rows_judged)
def test_calibration_error_is_the_mean_gap_over_bins(rows):
    confidence, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    gap = 0.0
    for number in range(15):
        upper = confidence <= 1 if number == 14 else confidence < (number + 1) / 15
        inside = (confidence >= number / 15) & upper
        gap += abs((right[inside] - confidence[inside]).sum()) / len(rows)
    assert calibration_error(confidence, right) == pytest.approx(gap)


def test_the_median_grade():
    log_p = np.log(np.array([[0.4, 0.2, 0.4], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]))
    assert median_classes(log_p, np.array([0, 1, 2])).tolist() == [1, 0, 2]
    assert median_classes(log_p, np.array([0, 2, 1])).tolist() == [2, 0, 2]


def test_no_class_is_ruled_out_by_a_vote():
    S = on_log_scale(np.array([[1.0, 0.0]]), probabilities=True)
    assert S.tolist() == [[0.0, np.log(0.005)]]
    assert on_log_scale(np.array([[1.0, -np.inf]]), probabilities=False)[0, 1] == -np.inf


def test_coordinates_of_all_classes_have_length_one():
    P = np.random.default_rng(0).dirichlet(np.ones(8), size=5)
    found = coordinates(np.log(P), np.arange(8), 8)
    np.testing.assert_allclose(found.toarray(), np.sqrt(P))


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


def _heard(shares, predicted, folds):
    with np.errstate(divide="ignore"):
        rows = np.log(np.array(shares, dtype=np.float32))
    return OutOfFoldAnswers(np.array(["a", "b", "c"]), np.arange(len(rows)), rows, np.array(predicted), np.array(folds))


def _likeliest(log_p, classes):
    return classes[log_p.argmax(axis=1)]


def test_what_was_said_of_a_class_that_is_merged_away_counts_for_the_other():
    answers = _heard([[0.4, 0.25, 0.35], [np.nan] * 3, [0.3, 0.3, 0.4]], ["a", "b", "c"], [0, -1, 1])
    heirs = csr_array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])  # a becomes c
    after = answers.moved(heirs, np.array(["b", "c"]), np.array(["c", "b", "b"]), _likeliest)
    np.testing.assert_allclose(np.exp(after.log_p), [[0.25, 0.75], [np.nan] * 2, [0.3, 0.7]], rtol=1e-6)
    assert after.predicted[[0, 2]].tolist() == ["c", "c"]
    assert after.confusion(np.array(["c", "b", "b"])).toarray().tolist() == [[0, 1], [0, 1]]


def test_what_was_said_of_a_class_that_is_removed_the_others_share():
    answers = _heard([[0.6, 0.1, 0.3], [1.0, 0.0, 0.0], [0.2, 0.5, 0.3]], ["a", "a", "b"], [0, 0, 1])
    heirs = csr_array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    after = answers.moved(heirs, np.array(["b", "c"]), np.array(["c", "b", "b"]), _likeliest)
    np.testing.assert_allclose(np.exp(after.log_p[[0, 2]]), [[0.25, 0.75], [0.625, 0.375]], rtol=1e-6)
    assert after.folds.tolist() == [0, -1, 1]  # of the second row nothing is left
    assert np.isnan(after.log_p[1]).all()


def test_nobody_was_asked_about_a_class_that_is_new():
    answers = _heard([[0.6, 0.1, 0.3], [0.2, 0.5, 0.3]], ["a", "b"], [0, 1])
    heirs = csr_array(np.eye(3, 4))
    after = answers.moved(heirs, np.array(["a", "b", "c", "d"]), np.array(["d", "b"]), _likeliest)
    assert after.folds.tolist() == [-1, 1]
    assert after.confusion(np.array(["d", "b"])).total == 1


def test_kinds():
    assert kind_of(pl.DataFrame({"a": [1]})) == "frame"
    assert kind_of(pl.Series(["a"])) == kind_of(("a", "b")) == kind_of(np.array(["a"], dtype=object)) == "texts"
    assert kind_of(np.eye(2)) == kind_of([[1, 2]]) == "matrix"
    with pytest.raises(ValueError, match="requires y to be passed"):
        as_labels(None)
