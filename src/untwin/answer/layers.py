"""`LinearLayers`: from products of rows and weights to calibrated log-probabilities; what texts and vectors share.

Glossary
--------
n rows, C classes, L layers, K = L * C columns of weights
layer            a linear model of all classes, or several that are added up: scores = values * W + units * offset +
                 intercept, divided by the length of the row where `by_length`; softmax makes probabilities of them
products  n x K  whole numbers of rows times whole numbers of weights, times what 1 stands for in the row
scale     K      what 1 stands for in each column of weights
units     n      sum of the values of a row: what naive Bayes multiplies its offset with
lengths   n      what cosines are divided by; None if no layer has any
redirect         where the probabilities of classes go that have been merged or retired since; None: nowhere else
second           weights of a second stage (L C x C): it learns from square roots of the probabilities of all layers;
                 without one the scores of all layers are added up
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.answer.fixed_point import UNIT
from untwin.answer.predictions import Scored
from untwin.answer.probabilities import correct_top_class, log_probabilities

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats, Floats32
    from untwin.answer.redirect import Redirect

FEW = 64  # rows that are answered with NumPy alone
AT_ONCE = 512  # rows that are scored at a time: few enough for scores of all layers to stay near the processor
LEAST_FEATURE = 0.1  # of the square root of a probability: what is less likely than 1 in 100 says nothing


class SecondStage(NamedTuple):
    """Weights of the second stage in whole numbers, what 1 stands for in each column, and intercepts."""

    weights: Array
    scale: Array
    intercept: Array


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LinearLayers:
    """Linear layers, an optional second stage, and calibration. Subclasses turn rows into products."""

    scale: Array
    offset: Array
    intercept: Array
    by_length: Flags
    second: SecondStage | None
    temperature: float
    slope: float
    shift: float
    redirect: Redirect | None = None

    @property
    def n_classes(self) -> int:
        """How many classes answers are about."""
        return int(self.offset.shape[1]) if self.redirect is None else self.redirect.n_classes

    def trained_class(self, number: int) -> int:
        """Return the trained class that stands for a class of the answers, both by number."""
        return number if self.redirect is None else int(self.redirect.own[number])

    def log_proba(self, given: Any) -> tuple[Floats32, Flags]:
        """Return log-probabilities of rows, and which of them are texts without any known term."""
        raise NotImplementedError

    def score(self, given: Any) -> Scored:
        """Return the same, and which rows are texts without any known word."""
        log_p, mute = self.log_proba(given)
        return Scored(log_p, mute, mute)

    def log_proba_of_products(
        self, products: Floats, units: Floats, lengths: Floats | None, *, sparse: bool
    ) -> Floats32:
        """Return log-probabilities of rows; `products` are overwritten. `sparse`: SciPy may be used."""
        layers = self.layers_of_products(products, units, lengths)
        if self.second is not None:
            S = self._second_scores(layers, sparse=sparse)
        else:
            S = layers[:, 0] if layers.shape[1] == 1 else layers.sum(axis=1)
        log_p = correct_top_class(log_probabilities(S, self.temperature), self.slope, self.shift)
        return log_p if self.redirect is None else self.redirect(log_p)

    def layers_of_products(self, products: Floats, units: Floats, lengths: Floats | None) -> Floats:
        """Return the scores of all classes by each layer (n x L x C); `products` are overwritten."""
        layers: Floats = np.multiply(products, self.scale, out=products).reshape(len(products), *self.offset.shape)
        if lengths is not None:
            layers[:, self.by_length] /= lengths[:, np.newaxis, np.newaxis]
        layers += self._added(units)
        return layers

    def _added(self, units: Floats) -> Floats:
        """Return what offsets and intercepts add to the scores of each row, or of all rows alike."""
        if not self.offset.any():
            return np.asarray(self.intercept)
        return np.asarray(units[:, np.newaxis, np.newaxis] * self.offset + self.intercept)

    @cached_property
    def _second_weights(self) -> Floats:
        """The weights of the second stage as numbers that can be multiplied fast; they are whole all the same."""
        return self.second.weights.astype(np.float64)  # type: ignore[union-attr]

    def _second_scores(self, layers: Floats, *, sparse: bool) -> Floats:
        """Return the scores of the second stage; its sums are of whole numbers, so that their order does not count.

        Most of its features are zero: `sparse` makes use of that, which takes SciPy.
        """
        _, scale, intercept = self.second  # type: ignore[misc]
        log_p = log_probabilities(layers.reshape(-1, layers.shape[2]), 1.0)
        roots = np.where(log_p > 2 * np.log(LEAST_FEATURE), np.rint(np.exp(log_p / 2) * UNIT), 0.0)
        features: Any = roots.reshape(len(layers), -1)
        if sparse:
            from scipy.sparse import csr_array

            features = csr_array(features)
        found: Floats = (features @ self._second_weights) * (scale / UNIT) + intercept
        return found
