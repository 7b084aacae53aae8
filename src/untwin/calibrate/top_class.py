"""How far the likeliest class can be trusted, by what was right out of fold.

Glossary
--------
log_p      n x C    log-probabilities by a temperature
confidence n        probability of the likeliest class
odds       n        logarithm of confidence / (1 - confidence)

One temperature suits some rows and not others: where scores of several models are averaged, or a few rows are far from
their class, probabilities are too timid here and too bold there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, log_expit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

MOST_ODDS = 14.0  # of a million to one: those of a few surer answers must not bend the line
FULL = np.array([1.0, 0.0])  # slope and shift that leave everything as it is
LEAST_SLOPE = 0.05  # a surer answer stays the surer one, even where confidence says nothing
STEADINESS = 30.0  # of slope and shift, as precision of a normal prior: best of 1 to 100 for 60 to 600 rows
LEAD = 1e-3  # by which the odds of the likeliest class are kept above those of the second


@dataclass(frozen=True, slots=True)
class TopClassCalibration:
    """How far to trust the likeliest class: odds become slope * odds + shift; the other classes share what is left.

    The order of the classes of a row stays as it is.
    """

    slope: float
    shift: float

    @classmethod
    def of_held_out(cls, log_p: Array, codes: Indices) -> TopClassCalibration:
        """Fit slope and shift to whether the likeliest class of held-out rows was right: Platt's method.

        A few rows move them little: there is one more right and one more wrong answer to count with, as in Platt's
        targets, and slope and shift stay near 1 and 0 (`STEADINESS`).

        >>> log_p = np.log(np.tile([0.99, 0.01], (4000, 1)))  # too bold: one of four is wrong
        >>> trust = TopClassCalibration.of_held_out(log_p, np.tile([0, 0, 0, 1], 1000))
        >>> np.exp(trust(log_p[:1])).round(2).tolist()
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
            """Of slope and shift, for a row; and its gradient."""
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
        """What leads back."""
        return TopClassCalibration(1 / self.slope, -self.shift / self.slope)

    def __call__(self, log_p: Array) -> NDArray[np.float32]:
        """Return log-probabilities that can be trusted, of rows with these."""
        first = TopClass.of_rows(log_p)
        said = self.slope * first.odds + self.shift
        others = np.isfinite(first.rest)  # else all of them are ruled out, and there is nobody to share
        least = np.subtract(first.second, first.rest, where=others, out=np.full(len(log_p), -np.inf)) + LEAD
        said = np.maximum(said, least)
        shared = np.subtract(log_expit(-said), first.rest, where=others, out=np.zeros(len(log_p)))
        told: NDArray[np.float32] = log_p + shared[:, np.newaxis].astype(np.float32)
        told[np.arange(len(told)), first.best] = log_expit(said)
        return told


UNCHANGED = TopClassCalibration(*FULL.tolist())


class TopClass(NamedTuple):
    """The likeliest class of each row: its number, its odds, and log-probabilities of the second and of all others."""

    best: Indices
    odds: Floats
    second: Floats
    rest: Floats

    @classmethod
    def of_rows(cls, log_p: Array) -> TopClass:
        """Look for it; others are added up by themselves, since 1 - p is lost in rounding where p is nearly 1."""
        rows, best, others = np.arange(len(log_p)), log_p.argmax(axis=1), log_p.copy()
        others[rows, best] = -np.inf
        second = others.max(axis=1)
        scale = np.where(np.isfinite(second), second, 0).astype(others.dtype)
        np.exp(np.subtract(others, scale[:, np.newaxis], out=others), out=others)  # in place: they may be many
        with np.errstate(divide="ignore"):  # all others may be ruled out
            rest = scale + np.log(others.sum(axis=1, dtype=np.float64))
        return cls(best, log_p[rows, best] - rest, second.astype(np.float64), rest)
