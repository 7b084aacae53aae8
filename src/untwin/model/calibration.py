"""Scores of any classifier as calibrated log-probabilities, and how far they can be trusted.

Glossary
--------
S          n x C    scores on a scale where softmax makes sense: decision values, or logarithms of probabilities
T                   temperature, fitted to held-out rows: log p = log_softmax(S / T)
confidence n        probability of the likeliest class
odds       n        logarithm of confidence / (1 - confidence)

One temperature suits some rows and not others: where scores of several models are averaged, or a few rows are far from
their class, probabilities are too timid here and too bold there. `Trust` mends that, by what was right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from untwin.crossfit.outoffold import class_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

LEAST_SHARE = 0.01  # of the probability that chance would give: no class is ruled out by a vote without it
BINS = 15
MOST_ODDS = 14.0  # of a million to one: those of a few surer answers must not bend the line
FULL = np.array([1.0, 0.0])  # slope and shift that leave everything as it is
LEAST_SLOPE = 0.05  # a surer answer stays the surer one, even where confidence says nothing
STEADINESS = 30.0  # of slope and shift, as precision of a normal prior: best of 1 to 100 for 60 to 600 rows
LEAD = 1e-3  # by which the odds of the likeliest class are kept above those of the second


def on_log_scale(scores: Any, *, probabilities: bool) -> Floats:
    """Return S; a probability of zero becomes a small one, since a few neighbours cannot rule a class out."""
    S: Floats = np.asarray(scores, dtype=np.float64)
    return np.log(np.maximum(S, LEAST_SHARE / S.shape[1])) if probabilities else S


def log_scores(model: Any, rows: Any) -> Floats:
    """Return S of a fitted model for new rows, by the model's classes."""
    scores, _ = class_scores(model, rows)
    return on_log_scale(scores, probabilities=not hasattr(model, "decision_function"))


def log_probabilities(S: Any, temperature: float) -> NDArray[np.float32]:
    """Return log_softmax(S / T), in single precision from the differences on."""
    behind = ((S - S.max(axis=1, keepdims=True)) / temperature).astype(np.float32)
    return np.asarray(behind - np.log(np.exp(behind).sum(axis=1, keepdims=True)))


@dataclass(frozen=True, slots=True)
class Trust:
    """How far to trust the likeliest class: odds become slope * odds + shift; the other classes share what is left.

    The order of the classes of a row stays as it is.
    """

    slope: float
    shift: float

    @classmethod
    def of_held_out(cls, log_p: Array, codes: Indices) -> Trust:
        """Fit slope and shift to whether the likeliest class of held-out rows was right: Platt's method.

        A few rows move them little: there is one more right and one more wrong answer to count with, as in Platt's
        targets, and slope and shift stay near 1 and 0 (`STEADINESS`).

        >>> log_p = np.log(np.tile([0.99, 0.01], (4000, 1)))  # too bold: one of four is wrong
        >>> trust = Trust.of_held_out(log_p, np.tile([0, 0, 0, 1], 1000))
        >>> np.exp(trust(log_p[:1])).round(2).tolist()
        [[0.75, 0.25]]
        """
        from scipy.optimize import minimize

        if not len(codes):
            return FULL_TRUST
        best, odds, *_ = Ahead.in_rows(log_p)
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
    def undone(self) -> Trust:
        """What leads back."""
        return Trust(1 / self.slope, -self.shift / self.slope)

    def __call__(self, log_p: Array) -> NDArray[np.float32]:
        """Return log-probabilities that can be trusted, of rows with these."""
        first = Ahead.in_rows(log_p)
        said = self.slope * first.odds + self.shift
        said = np.maximum(said, first.second - first.rest + LEAD)
        shared = np.where(np.isfinite(first.rest), log_expit(-said) - first.rest, 0.0)  # else there is nobody to share
        told: NDArray[np.float32] = log_p + shared[:, np.newaxis].astype(np.float32)
        told[np.arange(len(told)), first.best] = log_expit(said)
        return told


FULL_TRUST = Trust(*FULL.tolist())


class Ahead(NamedTuple):
    """The likeliest class of each row: its number, its odds, and log-probabilities of the second and of all others."""

    best: Indices
    odds: Floats
    second: Floats
    rest: Floats

    @classmethod
    def in_rows(cls, log_p: Array) -> Ahead:
        """Look for it; others are added up by themselves, since 1 - p is lost in rounding where p is nearly 1."""
        rows, best, others = np.arange(len(log_p)), log_p.argmax(axis=1), log_p.copy()
        others[rows, best] = -np.inf
        second = others.max(axis=1).astype(np.float64)
        scale = np.where(np.isfinite(second), second, 0.0)
        with np.errstate(divide="ignore"):  # all others may be ruled out
            rest = scale + np.log(np.exp(others - scale[:, np.newaxis]).sum(axis=1))
        return cls(best, log_p[rows, best] - rest, second, rest)


def calibration_error(confidence: Floats, right: NDArray[np.bool_]) -> float:
    """Return the expected calibration error: the mean gap of confidence and accuracy over 15 bins of confidence.

    >>> calibration_error(np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False]))
    0.1
    """
    if not len(right):
        return 0.0
    bins = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
    gaps = np.bincount(bins, weights=right - confidence, minlength=BINS)
    return round(float(np.abs(gaps).sum() / len(right)), 12)


class Judged(NamedTuple):
    """Held-out rows, the surest first: confidence, and whether the predicted class was right."""

    confidence: Floats
    right: NDArray[np.bool_]

    @classmethod
    def of_held_out(cls, confidence: Floats, right: NDArray[np.bool_]) -> Judged:
        """Sort the rows."""
        order = np.argsort(-confidence, kind="stable")
        return cls(confidence[order], right[order])

    def threshold(self, target_error: float) -> float:
        """Return the lowest confidence at and above which at most this share of the held-out rows was wrong.

        >>> Judged(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True])).threshold(0.25)
        0.6
        >>> Judged(np.array([0.9, 0.8]), np.array([False, False])).threshold(0.25)
        inf
        """
        if not 0 <= target_error <= 1:
            raise ValueError(f"target_error must be a share from 0 to 1. Got {target_error} instead.")
        ends = np.append(self.confidence[1:] < self.confidence[:-1], True)  # rows of equal confidence stay together
        errors = np.cumsum(~self.right) / np.arange(1, len(self.right) + 1)
        kept = np.flatnonzero(ends[: len(errors)] & (errors <= target_error))
        return float(self.confidence[kept[-1]]) if kept.size else float("inf")
