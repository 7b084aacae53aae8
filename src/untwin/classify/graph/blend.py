"""Blend the scores of experts and base, with the weights that maximise the likelihood of held-out labels.

Glossary
--------
margins  n x k    decision values of the experts for each candidate; minus infinity where a candidate is not open
scores   n x k    scores of the base classifier for it
hits     n x k    the cell of the true class; rows without one (it is no candidate) do not count
blended           a margins + b scores, whose softmax over the open candidates are probabilities

Minus the log-likelihood is convex in (a, b): one minimum. In standard deviations b may not be above a: where classes
have a dozen rows, the base's scores are better calibrated than the experts' but rank the classes worse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

if TYPE_CHECKING:
    from untwin._types import Flags, Floats

LEAST, MOST = 0.05, 20.0  # in standard deviations: finite where nothing is wrong, and experts always have a say


class Blend(NamedTuple):
    """Weights of the experts' margins and of the base's scores."""

    expert: float
    base: float

    def __call__(self, margins: Floats, scores: Floats) -> Floats:
        """Return the blended scores."""
        is_open = np.isfinite(margins)
        return np.where(is_open, self.expert * margins + self.base * np.where(is_open, scores, 0.0), -np.inf)


def fit_blend(margins: Floats, scores: Floats, hits: Flags, *, with_base: bool) -> Blend:
    """Return the blend of maximum likelihood; if `with_base` is false, the weight of the base is zero.

    >>> margins, scores = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    >>> hits = np.array([[True, False], [True, False], [True, False]])
    >>> blend = fit_blend(margins, scores, hits, with_base=True)
    >>> bool(blend.expert > 0 and blend.base > 0)
    True
    """
    within = hits.any(axis=1)
    margins, scores, hits = margins[within], scores[within], hits[within]
    is_open = np.isfinite(margins)
    parts = np.where(is_open, np.stack([margins, scores]), 0.0)
    spread = np.array([part[is_open].std() if is_open.any() else 0.0 for part in parts])
    spread[spread == 0] = 1.0
    parts /= spread[:, np.newaxis, np.newaxis]
    parts[1] += parts[0]  # the second weight is common to both, so that the base never has more than the experts

    def surprise(weights: Floats) -> tuple[float, Floats]:
        blended = np.where(is_open, np.tensordot(weights, parts, axes=1), -np.inf)
        log_p = log_softmax(blended, axis=1)
        slope = ((np.exp(log_p) - hits) * parts).sum(axis=(1, 2))
        return -float(log_p[hits].sum()) / len(hits), slope / len(hits)

    if not within.any():
        return Blend(1.0, 0.0)
    bounds = [(LEAST, MOST), (0.0, MOST if with_base else 0.0)]
    alone, both = minimize(surprise, [1.0, float(with_base)], jac=True, method="L-BFGS-B", bounds=bounds).x
    return Blend(float((alone + both) / spread[0]), float(both / spread[1]))
