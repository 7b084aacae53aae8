"""Measures of a 2 x 2 table of presence: the formulas, on plain arrays.

A measure takes the four numbers that fix the table of one term and one class, as arrays that broadcast:

    both         documents of the class that contain the term
    with_term    documents that contain the term
    in_class     documents of the class
    total        all documents

                    in the class          elsewhere
    with the term   both                  with_term - both
    without it      in_class - both       total - with_term - in_class + both

Papers 1 and 3 use these tables of *presence*. scikit-learn's `chi2` sums the counts instead, and is another number.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import rel_entr, xlogy

from untwin._types import Array, Floats
from untwin.tables._sparse import ratio

Measure = Callable[[Array, Array, Array, float], Floats]

NORMAL_975 = 1.959963984540054  # the quantile that leaves 2.5 % on either side of a 95 % interval


def chi2(both: Array, with_term: Array, in_class: Array, total: float) -> Floats:
    """Return Pearson's chi-squared without Yates' correction; 0 where a margin is zero.

    >>> chi2(np.array([3, 2]), np.array([4, 4]), np.array([4, 4]), 8).tolist()
    [2.0, 0.0]
    """
    surplus = both * float(total) - with_term * np.asarray(in_class, float)
    margins = np.asarray(with_term, float) * (total - with_term) * in_class * (total - in_class)
    return ratio(surplus * surplus * total, margins)


def information_gain(both: Array, with_term: Array, in_class: Array, total: float) -> Floats:
    """Return how many bits the presence of the term tells about membership in the class; 0 where a margin is zero.

    >>> information_gain(np.array([4, 2]), np.array([4, 4]), np.array([4, 4]), 8).tolist()
    [1.0, 0.0]
    """
    if total == 0:
        return np.zeros(np.broadcast_shapes(np.shape(both), np.shape(with_term), np.shape(in_class)))
    without_term, elsewhere = total - with_term, total - in_class
    nats = rel_entr(both, with_term * (in_class / total))
    nats += rel_entr(with_term - both, with_term * (elsewhere / total))
    nats += rel_entr(in_class - both, without_term * (in_class / total))
    nats += rel_entr(without_term - in_class + both, without_term * (elsewhere / total))
    bits: Floats = np.maximum(nats, 0) / (total * np.log(2))
    return bits


def pointwise_information(both: Array, with_term: Array, in_class: Array, total: float) -> Floats:
    """Return log2 of how much oftener term and class meet than by chance; 0 where they never meet (not -inf).

    >>> pointwise_information(np.array([4, 1, 0]), np.array([4, 4, 4]), np.array([4, 4, 4]), 8).tolist()
    [1.0, -1.0, 0.0]
    """
    lift = ratio(both * float(total), with_term * np.asarray(in_class, float))
    return np.log2(lift, out=np.zeros(lift.shape), where=lift > 0)


def odds_ratio(both: Array, with_term: Array, in_class: Array, total: float) -> Floats:
    """Return the odds of the term inside the class over those outside, one half added to each of the four cells.

    >>> odds_ratio(np.array([4, 2]), np.array([4, 4]), np.array([4, 4]), 8).tolist()
    [81.0, 1.0]
    """
    inside = (both + 0.5) / (in_class - both + 0.5)
    outside = (with_term - both + 0.5) / (total - with_term - in_class + both + 0.5)
    return np.asarray(inside / outside)


def x_log2_x(x: Array) -> Floats:
    """Return x log2(x), 0 at 0: the terms of entropies of counts."""
    return np.asarray(xlogy(x, x) / np.log(2))


def wilson_interval(successes: Array, trials: Array) -> tuple[Floats, Floats]:
    """Return both ends of the 95 % Wilson interval of a share; no trials give the whole of [0, 1].

    >>> low, high = wilson_interval(np.array([0, 5]), np.array([10, 10]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.237], [0.278, 0.763])
    """
    share, z2 = ratio(successes, trials), NORMAL_975**2
    middle = (successes + z2 / 2) / (trials + z2)
    half = NORMAL_975 / (trials + z2) * np.sqrt(trials * share * (1 - share) + z2 / 4)
    return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)
