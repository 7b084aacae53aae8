"""Calibration of the top class: probabilities that say how often the likeliest class is right, and change no answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from untwin.calibrate.reliability import calibration_error
from untwin.calibrate.top_class import LEAST_SLOPE, UNCHANGED, TopClassCalibration


@given(
    arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.integers(-12, 12)),
    st.floats(LEAST_SLOPE, 3),
    st.floats(-3, 3),
)
def test_calibration_keeps_the_order_of_the_classes_and_shares_all_probability(S, slope, shift):
    before = log_softmax(S, axis=1).astype(np.float32)
    after = TopClassCalibration(slope, shift)(before)
    np.testing.assert_array_equal(after.argmax(axis=1), before.argmax(axis=1))
    np.testing.assert_allclose(np.exp(after.astype(np.float64)).sum(axis=1), 1, atol=1e-5)
    others = np.arange(S.shape[1]) != before.argmax(axis=1)[:, np.newaxis]
    apart = np.where(others, after - before, np.nan)
    np.testing.assert_allclose(np.nanmax(apart, axis=1), np.nanmin(apart, axis=1), atol=1e-4)


def test_the_inverse_restores_probabilities_where_no_class_is_held_ahead():
    log_p, codes = overconfident(500, 0, boldness=1.5)
    calibration = TopClassCalibration.of_held_out(log_p, codes)
    told = calibration(log_p)
    second, first = np.sort(told, axis=1)[:, -2:].T
    free = first - second > 0.01
    assert free.mean() > 0.9
    np.testing.assert_allclose(calibration.inverse(told)[free], log_p[free], atol=1e-4)


def overconfident(n, seed, boldness=2.5):
    """Log-probabilities of four classes that are surer than they are right, and the classes."""
    rng = np.random.default_rng(seed)
    S = 1.5 * rng.normal(size=(n, 4))
    codes = (S + rng.gumbel(size=S.shape)).argmax(axis=1)  # so that softmax(S) would be right
    return log_softmax(boldness * S, axis=1).astype(np.float32), codes


def test_probabilities_of_new_rows_are_calibrated():
    (log_p, codes), (new, truth) = overconfident(4000, 0), overconfident(4000, 1)
    calibration = TopClassCalibration.of_held_out(log_p, codes)

    def error(said):
        return calibration_error(np.exp(said.max(axis=1).astype(np.float64)), said.argmax(axis=1) == truth)

    assert error(new) > 0.1
    assert error(calibration(new)) < 0.02


def test_the_calibration_is_logistic_regression_on_the_odds():
    log_p, codes = overconfident(200_000, 0)
    confidence = np.exp(log_p.max(axis=1).astype(np.float64))
    odds = np.log(confidence / (1 - confidence))
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(odds[:, np.newaxis], log_p.argmax(axis=1) == codes)
    ours = TopClassCalibration.of_held_out(log_p, codes)
    assert (ours.slope, ours.shift) == pytest.approx((theirs.coef_[0, 0], theirs.intercept_[0]), rel=2e-3)


def test_a_few_rows_that_are_all_right_make_nobody_certain():
    log_p = np.log(np.tile([0.9, 0.1], (8, 1)))
    assert np.exp(TopClassCalibration.of_held_out(log_p, np.zeros(8, dtype=np.intp))(log_p)).max() == pytest.approx(
        0.9, abs=0.01
    )


def test_where_confidence_says_nothing_surer_answers_stay_surer():
    rng = np.random.default_rng(0)
    log_p = log_softmax(3 * rng.normal(size=(2000, 2)), axis=1)
    calibration = TopClassCalibration.of_held_out(log_p, rng.integers(0, 2, 2000))
    assert calibration.slope == LEAST_SLOPE
    confidence = np.exp(calibration(log_p).max(axis=1))
    assert confidence.mean() == pytest.approx(0.5, abs=0.05)
    assert (np.diff(confidence[np.argsort(log_p.max(axis=1))]) >= 0).all()
    assert TopClassCalibration.of_held_out(log_p[:0], np.arange(0)) == UNCHANGED


def test_what_was_never_held_out_stays_unknown():
    assert np.isnan(TopClassCalibration(0.5, 0.1)(np.full((1, 3), np.nan, dtype=np.float32))).all()
