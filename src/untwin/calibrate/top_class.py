"""Calibration of the top class: correct the probability of the likeliest class by the accuracy out of fold.

Glossary
--------
log_p      n x C    log-probabilities by a temperature
confidence n        probability of the likeliest class
odds       n        logarithm of confidence / (1 - confidence)

One temperature does not fit all rows: if scores of several models are averaged, or some rows are far from their class,
probabilities are too low for some rows and too high for others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, log_expit

from untwin.answer.probabilities import TopClass, correct_top_class

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Floats32, Indices

MOST_ODDS = 14.0  # of a million to one: those of a few surer answers must not bend the line
FULL = np.array([1.0, 0.0])  # slope and shift that leave everything as it is
LEAST_SLOPE = 0.05  # a surer answer stays the surer one, even where confidence says nothing
STEADINESS = 30.0  # of slope and shift, as precision of a normal prior: best of 1 to 100 for 60 to 600 rows


@dataclass(frozen=True, slots=True)
class TopClassCalibration:
    """A correction of the likeliest class: its odds become slope * odds + shift; the other classes share the rest.

    The order of the classes of a row does not change.
    """

    slope: float
    shift: float

    @classmethod
    def of_held_out(cls, log_p: Array, codes: Indices) -> TopClassCalibration:
        """Fit slope and shift by Platt's method to whether the likeliest class of held-out rows was right.

        A few rows change them little: one right and one wrong answer are added, as in Platt's targets, and a penalty
        (`STEADINESS`) keeps slope and shift near 1 and 0.

        >>> log_p = np.log(np.tile([0.99, 0.01], (4000, 1)))  # too bold: one of four is wrong
        >>> calibration = TopClassCalibration.of_held_out(log_p, np.tile([0, 0, 0, 1], 1000))
        >>> np.exp(calibration(log_p[:1])).round(2).tolist()
        [[0.75, 0.25]]
        """
        from scipy.optimize import minimize

        if not len(codes):
            return UNCHANGED
        best, odds, *_ = TopClass.of_rows(log_p)
        odds = np.minimum(odds, MOST_ODDS)
        n_right = int((right := best == codes).sum())
        targets = np.where(right, (n_right + 1) / (n_right + 2), 1 / (len(codes) - n_right + 2))

        def surprise(line: Floats) -> tuple[float, Floats]:
            """Return the mean negative log-likelihood of slope and shift, and its gradient."""
            said, off = line[0] * odds + line[1], line - FULL
            told = targets * log_expit(said) + (1 - targets) * log_expit(-said)
            wrong = expit(said) - targets
            gradient = np.array([wrong @ odds, wrong.sum()]) + STEADINESS * off
            return (STEADINESS * off @ off / 2 - told.sum()) / len(odds), gradient / len(odds)

        found = minimize(
            surprise,
            FULL,
            jac=True,
            method="L-BFGS-B",
            bounds=[(LEAST_SLOPE, None), (None, None)],
            options={"ftol": 1e-15, "gtol": 1e-10},  # so that other threads, which change last digits, change no more
        )
        return cls(*found.x.tolist())

    @property
    def inverse(self) -> TopClassCalibration:
        """The correction that restores the original probabilities."""
        return TopClassCalibration(1 / self.slope, -self.shift / self.slope)

    def __call__(self, log_p: Array) -> Floats32:
        """Return the corrected log-probabilities of rows."""
        return correct_top_class(log_p, self.slope, self.shift)


UNCHANGED = TopClassCalibration(*FULL.tolist())
