"""What each term, and each word, of a text adds to the log-odds of one class against another, from what answers.

Glossary
--------
first, second   the classes: the answer, and the likeliest other one. Of classes merged after the training, the one
                that had most rows stands for all until the model is trained again
log-odds        by the scores that answer, before the probability of the likeliest class is corrected (which changes no
                order of classes, and knows no words)
gradient  L x C by how much the log-odds grow with the score of each class by each layer. Without a second stage: 1 for
                `first`, -1 for `second`. With one: the mean along the way from the intercepts, a text without any term,
                to the scores of the text, so that what all terms add is what the text changes (integrated gradients)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.answer.fixed_point import UNIT
from untwin.answer.layers import LEAST_FEATURE

if TYPE_CHECKING:
    from untwin._types import Floats
    from untwin.answer.answerer import TextAnswerer
    from untwin.answer.fixed_point import CountedRows
    from untwin.answer.words import ReadText

STEPS = 16  # at which the gradient of a second stage is taken
LEAST = 5e-4  # evidence that would be shown as 0.000 is left out


class WordEvidence(NamedTuple):
    """Words or cells that speak for a class or against it.

    Attributes
    ----------
    label, against : label
        The answer, and the likeliest other class.
    terms : tuple of (word, number)
        What each adds to the log-odds of `label` against `against`: positive numbers speak for `label`, negative ones
        for `against`. Strongest first.
    """

    label: Any
    against: Any
    terms: tuple[tuple[str, float], ...]

    def sides(self) -> list[tuple[Any, list[tuple[str, float]]]]:
        """Return both classes, each with what speaks for it, if there is anything.

        >>> WordEvidence("a", "b", (("x", 2.0), ("y", -1.0))).sides()
        [('a', [('x', 2.0)]), ('b', [('y', -1.0)])]
        """
        parts = [
            (name, [term for term in self.terms if term[1] * sign > 0])
            for name, sign in ((self.label, 1), (self.against, -1))
        ]
        return [(name, terms) for name, terms in parts if terms]


def strongest_evidence(names: list[str], numbers: Floats, top: int | None) -> tuple[tuple[str, float], ...]:
    """Return the strongest evidence, `top` at most for each of two classes (None: all), ties as they come.

    >>> strongest_evidence(["a", "b", "c", "d"], np.array([0.5, -2.0, 1.0, 0.0]), 1)
    (('b', -2.0), ('c', 1.0))
    """
    order = np.argsort(-np.abs(numbers), kind="stable")
    sides = [order[sign * numbers[order] >= LEAST][:top] for sign in (1, -1)]
    kept = sorted(np.concatenate(sides).tolist(), key=lambda place: (-abs(numbers[place]), place))
    return tuple((names[place], float(numbers[place])) for place in kept)


def contributions_of_words(answerer: TextAnswerer, read: ReadText, first: int, second: int) -> Floats:
    """Return what each word of a text adds to the log-odds of two classes, by their numbers."""
    return read.sum_by_word(contributions_of_terms(answerer, read.rows, first, second))


def contributions_of_terms(answerer: TextAnswerer, rows: CountedRows, first: int, second: int) -> Floats:
    """Return what each entry of one counted text adds to the log-odds of two classes."""
    values = answerer.values(rows)
    gradient = _gradient(answerer, rows, answerer.trained_class(first), answerer.trained_class(second))
    by_layer = gradient.copy()
    if answerer.by_length.any():
        by_layer[answerer.by_length] /= answerer.lengths(rows, values)[0]
    by_column = by_layer.ravel() * answerer.scale
    packed = answerer.weights
    begin = packed.starts[rows.columns]
    n_weights = packed.starts[rows.columns + 1] - begin
    places = np.repeat(begin - (np.cumsum(n_weights) - n_weights), n_weights) + np.arange(n_weights.sum())
    entry = np.repeat(np.arange(len(values)), n_weights)
    parts = packed.weights[places] * by_column[packed.columns[places]]
    each = np.bincount(entry, weights=parts, minlength=len(values)) + (gradient * answerer.offset).sum()
    return np.asarray(each * values / UNIT)


def log_odds(answerer: TextAnswerer, layers: Floats, first: int, second: int) -> Floats:
    """Return the log-odds of two classes by the scores of all layers (n x L x C)."""
    first, second = answerer.trained_class(first), answerer.trained_class(second)
    if answerer.second is None:
        S = layers.sum(axis=1)
        found = S[:, first] - S[:, second]
    else:
        W, bias = _second_stage(answerer, first, second)
        found = (_roots(layers) * W).sum(axis=(1, 2)) + bias
    return np.asarray(found / answerer.temperature)


def _gradient(answerer: TextAnswerer, rows: CountedRows, first: int, second: int) -> Floats:
    if answerer.second is None:
        gradient = np.zeros(answerer.offset.shape)
        gradient[:, first], gradient[:, second] = 1.0, -1.0
        return gradient / answerer.temperature
    (layers,) = answerer.layer_scores(rows)
    way = ((np.arange(STEPS) + 0.5) / STEPS)[:, np.newaxis, np.newaxis]
    roots = _roots(answerer.intercept + way * (layers - answerer.intercept))
    pull = roots * _second_stage(answerer, first, second)[0]
    shares = roots * roots
    each = (pull - shares * pull.sum(axis=2, keepdims=True)) / 2
    return np.asarray(each.mean(axis=0) / answerer.temperature)


def _second_stage(answerer: TextAnswerer, first: int, second: int) -> tuple[Floats, float]:
    """Return the weights of the second stage for one class against another (L x C), and their intercept."""
    numbers, scale, intercept = answerer.second  # type: ignore[misc]
    W = numbers[:, first] * scale[first] - numbers[:, second] * scale[second]
    return W.reshape(answerer.offset.shape), float(intercept[first] - intercept[second])


def _roots(layers: Floats) -> Floats:
    """Return square roots of the probabilities of all layers, without the small ones: what the second stage takes."""
    shares = np.exp(layers - layers.max(axis=2, keepdims=True))
    roots = np.sqrt(shares / shares.sum(axis=2, keepdims=True))
    return np.where(roots > LEAST_FEATURE, roots, 0.0)
