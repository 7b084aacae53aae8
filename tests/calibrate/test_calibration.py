"""Calibration: thresholds of confidence, the calibration error, scores on a log scale."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untwin.calibrate.reliability import calibration_error
from untwin.calibrate.threshold import surest_threshold
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.crossfit.together import aligned_scores, log_shares
from untwin.model.out_of_fold import OutOfFoldAnswers

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
    all_a = np.zeros(len(rows), dtype=np.intp)
    answers = OutOfFoldAnswers.of(
        np.array(["a", "b"]), np.arange(len(rows)), all_a, np.where(right, 0, 1), log_p=log_p, folds=all_a
    )
    of_model = surest_threshold(*answers.confidence_and_truth, target)
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


def test_no_class_is_ruled_out_by_a_vote():
    assert log_shares(np.array([[1.0, 0.0]])).tolist() == [[0.0, np.log(0.005)]]
    margins = SimpleNamespace(classes_=np.array([0]), decision_function=lambda rows: np.ones((len(rows), 1)))
    assert aligned_scores(margins, np.zeros((1, 1)), 2)[0, 1] == -np.inf
