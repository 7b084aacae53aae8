"""Class scores of different models on one scale, as coordinates of rows.

Glossary
--------
scores   n x C    decision values or probabilities by class; -inf: the model does not know the class
T                 temperature: one number for all models
p        n x C    softmax(scores / T); probabilities stay as they are
sqrt(p)  n x C    unit rows, whose product is the overlap of two distributions (Hellinger): near where the likely
                  classes are the same
s        n x C    (scores - mean) / spread by class, unit rows: near where all scores rise and fall together

Models trained on four fifths and on all of the rows score on different scales. T is fitted to the labels of the
held-out rows (maximum likelihood), mean and spread are those of the held-out scores: never of rows that a model has
seen, where it looks surer than it is. The spread is that of a class's score within classes, so that a class whose
score says much counts for more than one whose score is mostly noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.preprocessing import normalize

if TYPE_CHECKING:
    from untwin._types import Floats, Indices


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """sqrt(p); without a temperature the scores are probabilities already."""

    temperature: float | None

    def __call__(self, scores: Floats) -> Floats:
        """Return the coordinates of rows with these scores."""
        if self.temperature is None:
            return np.sqrt(scores)
        likelihoods: Floats = np.exp(log_softmax(scores / self.temperature, axis=1) / 2)
        return likelihoods


@dataclass(frozen=True, slots=True, eq=False)
class Standard:
    """s; a class that a model does not know gets the lowest score that any row got for it."""

    mean: Floats
    spread: Floats
    lowest: Floats

    @classmethod
    def of_held_out(cls, scores: Floats, codes: Indices) -> Self:
        """Fit mean and spread to held-out rows and their classes."""
        known = np.where(np.isfinite(scores), scores, np.inf)
        lowest = np.where(np.isfinite(known.min(axis=0)), known.min(axis=0), 0.0)
        scores = np.where(np.isfinite(scores), scores, lowest)
        class_means = np.zeros((scores.shape[1], scores.shape[1]))
        np.add.at(class_means, codes, scores)
        class_means /= np.maximum(np.bincount(codes, minlength=len(class_means)), 1)[:, None]
        spread = np.sqrt(np.square(scores - class_means[codes]).mean(axis=0))
        return cls(scores.mean(axis=0), np.where(spread > 0, spread, 1.0), lowest)

    def __call__(self, scores: Floats) -> Floats:
        """Return the coordinates of rows with these scores."""
        known = np.where(np.isfinite(scores), scores, self.lowest)
        rows: Floats = normalize((known - self.mean) / self.spread)
        return rows
