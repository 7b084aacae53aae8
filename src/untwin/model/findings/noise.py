"""Estimate how many labels are wrong, from errors that calibrated probabilities do not explain.

Glossary
--------
P        n x C    out-of-fold calibrated probabilities
y        n        codes of the labels
a        >= 1     sharpness: wrong labels make calibration flatten P, a power of it is what right labels would have had
Q        n x C    rows of P ** a divided by their sums
e                 share of labels that are random: y has the probability (1 - e) Q[y] + e / C

Hard classes and wrong labels both make errors, yet not the same ones. Where classes overlap, a row of the other class
is an error as often as P says; a wrong label gets next to no probability, far more often than P says. a and e are
fitted together (maximum likelihood), and `surprise` is what e adds to the likelihood: nothing if P explains all errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import softmax

from untwin.model.selection.sampling import stratified_sample

if TYPE_CHECKING:
    from untwin._types import Floats, Indices

SHARPNESS = np.geomspace(1, 4, 13)
SHARES = np.append(0, np.geomspace(1e-4, 0.3, 40))  # if more labels are wrong, it cannot be told which
LEAST = 1e-30  # chance; of less there is no logarithm
ENOUGH_CELLS = 1_000_000  # rows x classes that settle two numbers
FEWEST_ROWS = 2_000
MOST_CELLS = 1 << 23


class Noise(NamedTuple):
    """The fitted e and a; `surprise` is twice the logarithm of the ratio of the likelihoods with and without e."""

    share: float
    sharpness: float
    surprise: float

    def wrong(self, n_classes: int) -> float:
        """Return the share of labels that are wrong: some random labels are right."""
        return self.share * (1 - 1 / n_classes)


def enough_rows(y: Indices, n_classes: int) -> Indices:
    """Return the rows to fit a and e to: a sample if there are many."""
    n_rows = min(max(ENOUGH_CELLS // n_classes, FEWEST_ROWS), max(MOST_CELLS // n_classes, 1))
    return stratified_sample(y, n_rows, 0)


def fitted_noise(P: Floats, y: Indices) -> Noise:
    """Return a and e fitted on a grid; e is 0 if P explains all errors.

    >>> P = np.tile([0.8, 0.2], (10, 1))
    >>> fitted_noise(P, np.repeat([0, 1], [8, 2])).share
    0.0
    """
    own, log_P = (np.arange(len(y)), y), np.log(np.maximum(P, LEAST))
    likelihoods = np.array([_by_share(_sharpened(log_P, a)[own], P.shape[1]) for a in SHARPNESS])
    best_a, best_e = np.unravel_index(np.argmax(likelihoods), likelihoods.shape)
    surprise = 2 * (likelihoods.max() - likelihoods[:, 0].max())
    return Noise(float(SHARES[best_e]), float(SHARPNESS[best_a]), float(surprise))


def _sharpened(log_P: Floats, a: float) -> Floats:
    return np.asarray(softmax(a * log_P, axis=1))


def _by_share(own: Floats, n_classes: int) -> list[float]:
    """Return the logarithm of the likelihood for each share of noise; `own` are the chances of the labels."""
    return [float(np.log(np.maximum((1 - e) * own + e / n_classes, LEAST)).sum()) for e in SHARES]
