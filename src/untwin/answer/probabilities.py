"""Scores of classes to calibrated probabilities, with NumPy alone.

Glossary
--------
S      n x C    scores on a scale where softmax makes sense
log_p  n x C    log-probabilities
odds   n        logarithm of p / (1 - p) of the likeliest class
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from untwin._types import Array, Floats, Floats32, Indices

ENOUGH_CELLS = 1_000_000  # rows x classes that are worked on at once
LEAD = 1e-3  # by which the odds of the likeliest class are kept above those of the second


def log_probabilities(S: Any, temperature: float, *, in_place: bool = False) -> Floats32:
    """Return log_softmax(S / T) in single precision; some rows at a time, so that nothing else is as large as S.

    `in_place`: S is in single precision, is needed no longer, and is written to.
    """
    log_p: Floats32 = S if in_place else np.empty(S.shape, dtype=np.float32)
    at_once = max(1, ENOUGH_CELLS // max(S.shape[1], 1))
    for start in range(0, len(S), at_once):
        part = S[start : start + at_once]
        behind = ((part - part.max(axis=1, keepdims=True)) / temperature).astype(np.float32)
        log_p[start : start + at_once] = behind - np.log(np.exp(behind).sum(axis=1, keepdims=True))
    return log_p


class TopClass(NamedTuple):
    """The likeliest class of each row: its number, its odds, and log-probabilities of the second and of all others."""

    best: Indices
    odds: Floats
    second: Floats
    rest: Floats

    @classmethod
    def of_rows(cls, log_p: Array) -> TopClass:
        """Return the top class of each row."""
        at_once = max(1, ENOUGH_CELLS // max(log_p.shape[1], 1))
        if len(log_p) <= at_once:
            return cls._of_block(log_p)
        parts = [cls._of_block(log_p[start : start + at_once]) for start in range(0, len(log_p), at_once)]
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @classmethod
    def _of_block(cls, log_p: Array) -> TopClass:
        """Return that of some rows; the others are summed directly, since 1 - p loses digits near p = 1."""
        rows, best, others = np.arange(len(log_p)), log_p.argmax(axis=1), log_p.copy()
        others[rows, best] = -np.inf
        second = others.max(axis=1)
        scale = np.where(np.isfinite(second), second, 0).astype(others.dtype)
        np.exp(np.subtract(others, scale[:, np.newaxis], out=others), out=others)  # in place: they may be many
        with np.errstate(divide="ignore"):  # all others may be ruled out
            rest = scale + np.log(others.sum(axis=1, dtype=np.float64))
        return cls(best, log_p[rows, best] - rest, second.astype(np.float64), rest)


def correct_top_class(log_p: Array, slope: float, shift: float) -> Floats32:
    """Return log-probabilities whose likeliest class has the odds slope * odds + shift; the others share the rest.

    The order of the classes of a row does not change.
    """
    first = TopClass.of_rows(log_p)
    said = slope * first.odds + shift
    others = np.isfinite(first.rest)  # else all of them are ruled out, and there is nobody to share
    least = np.subtract(first.second, first.rest, where=others, out=np.full(len(log_p), -np.inf)) + LEAD
    said = np.maximum(said, least)
    with np.errstate(invalid="ignore"):  # rows that were never held out are NaN
        sure, unsure = -np.logaddexp(0, -said), -np.logaddexp(0, said)
    shared = np.subtract(unsure, first.rest, where=others, out=np.zeros(len(log_p)))
    told: Floats32 = log_p + shared[:, np.newaxis].astype(np.float32)
    told[np.arange(len(told)), first.best] = sure
    return told
