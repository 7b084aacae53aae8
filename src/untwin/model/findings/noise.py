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

from untwin.model.selection.sampling import stratified_sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from untwin._types import Floats, Indices

SHARPNESS = np.geomspace(1, 4, 13)
SHARES = np.append(0, np.geomspace(1e-4, 0.3, 40))  # if more labels are wrong, it cannot be told which
LEAST = 1e-30  # chance; of less there is no logarithm
TOGETHER = 8  # chances that are multiplied: LEAST to this power is still a number
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
    likelihoods = np.array([_by_share(own, P.shape[1]) for own in _own_chances(P, y)])
    best_a, best_e = np.unravel_index(np.argmax(likelihoods), likelihoods.shape)
    surprise = 2 * (likelihoods.max() - likelihoods[:, 0].max())
    return Noise(float(SHARES[best_e]), float(SHARPNESS[best_a]), float(surprise))


def _own_chances(P: Floats, y: Indices) -> Iterator[Floats]:
    """Yield for each sharpness the column of Q that each row's label names.

    Most cells of a row are equal to its smallest (the classes that share what is left): these are taken once.
    """
    own, least = P[np.arange(len(y)), y], P.min(axis=1)
    larger = least[:, np.newaxis] < P
    row, n_least = np.nonzero(larger)[0], P.shape[1] - larger.sum(axis=1)
    log_own, log_least, log_larger = (np.log(np.maximum(part, LEAST)) for part in (own, least, P[larger]))
    for a in SHARPNESS:
        total = np.bincount(row, np.exp(a * log_larger), minlength=len(y)) + n_least * np.exp(a * log_least)
        yield np.exp(a * log_own) / total


def _by_share(own: Floats, n_classes: int) -> list[float]:
    """Return the logarithm of the likelihood for each share of noise; `own` are the chances of the labels."""
    return [_log_of_product(np.maximum((1 - e) * own + e / n_classes, LEAST)) for e in SHARES]


def _log_of_product(chances: Floats) -> float:
    """Return the sum of logarithms; a few chances are multiplied first, since logarithms are what takes the time.

    >>> float(round(_log_of_product(np.full(20, 0.5)) / np.log(0.5), 6))
    20.0
    """
    n_whole = len(chances) // TOGETHER * TOGETHER
    products = chances[:n_whole].reshape(TOGETHER, -1).prod(axis=0)
    return float(np.log(products).sum() + np.log(chances[n_whole:]).sum())
