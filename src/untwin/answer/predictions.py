"""What answers consist of, for a batch of rows: everything from one pass over them and one state of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin._values import positions
from untwin.answer.spread import spread_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Flags, Floats, Floats32, Indices


ORDERED = ("mae", "kappa")  # scorings that answer with the median grade instead of the likeliest class


class Predictions(NamedTuple):
    """Answers to n rows by a model of C classes.

    Attributes
    ----------
    labels : (n,) array
        The answers: the likeliest classes, or the median grades where `scoring` counts distances.
    probabilities : (n, C) array
    ranked : (n, k) array
        Positions in `classes_`: the answer, then the likeliest others; ties in the order of the classes.
    unsure : (n,) array of bool
        Which answers not to rely on: their largest probability is below the threshold, or the row looks like nothing
        that was learnt: no word of a text is known, or the probability is spread more widely than that of known rows.
    groups : (n,) array
        The likeliest groups: positions in `groups_`.
    no_evidence : (n,) array of bool
        Which texts hold no known term: their probabilities are the shares of the classes.
    strange : (n,) array of bool
        Which texts hold no known word, whatever parts of words are known; where training texts have no words in common
        (some languages have no spaces), those that hold no known term.
    codes : (n,) array
        The answers as positions in `classes_`.
    """

    labels: Array
    probabilities: Floats
    ranked: Indices
    unsure: Flags
    groups: Indices
    no_evidence: Flags
    strange: Flags
    codes: Indices


class Scored(NamedTuple):
    """What is known of rows before they are decided about: (n x C) log-probabilities, and how much of texts is known.

    `mute` texts hold no known term, `strange` ones no known word.
    """

    log_p: Floats32
    mute: Flags
    strange: Flags


def probabilities_of(log_p: Floats32) -> Floats:
    """Return probabilities that add up to one, from logarithms of single precision."""
    P = log_p.astype(np.float64)
    np.exp(P, out=P)  # in place: they may be many
    P /= P.sum(axis=1, keepdims=True)
    return P


def ranked_classes(P: Floats, answer: Indices, top: int) -> Indices:
    """Return the classes of each row by number: the answer, then the likeliest others, `top` at most.

    >>> ranked_classes(np.array([[0.2, 0.3, 0.5]]), np.array([1]), 2).tolist()
    [[1, 2]]
    """
    if top < 1:
        raise ValueError(f"top must be at least 1. Got {top} instead.")
    if top == 1:
        return answer.reshape(-1, 1)
    others = P.copy()
    others[np.arange(len(P)), answer] = 2.0  # before all others
    return np.argsort(-others, axis=1, kind="stable")[:, :top]


def likeliest_groups(P: Floats, classes: Array, groups: Sequence[tuple[Any, ...]]) -> Indices:
    """Return the number of the group that each row most probably belongs to.

    >>> P, classes = np.array([[0.4, 0.3, 0.3]]), np.array(["ape", "cat", "dog"])
    >>> likeliest_groups(P, classes, [("ape",), ("cat", "dog")]).tolist()
    [1]
    """
    group_of = np.empty(len(classes), dtype=np.intp)
    members = [name for group in groups for name in group]
    group_of[positions(members, classes)] = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    shares = P @ (group_of[:, np.newaxis] == np.arange(len(groups))).astype(np.float64)
    return np.asarray(shares.argmax(axis=1))


def answer_codes(log_p: Any, scoring: str, order: Indices | None) -> Indices:
    """Return the number of the predicted class: the likeliest, or the median grade if `scoring` counts distances."""
    if scoring in ORDERED and order is not None:
        return median_classes(log_p, order)
    best: Indices = log_p.argmax(axis=1)
    return best


def median_classes(log_p: Any, order: Indices) -> Indices:
    """Return the median class of each row's distribution; `order` has the classes from low to high.

    The median minimises the expected distance from the true class.
    """
    below = np.cumsum(np.exp(log_p[:, order].astype(np.float64)), axis=1)
    middle = (below < below[:, -1:] / 2).sum(axis=1)
    return np.asarray(order[middle])


class Decision(NamedTuple):
    """How log-probabilities become answers: the classes, their groups, below which probability an answer is unsure.

    `order` has the numbers of the classes from low to high, if they have an order. Rows that are spread over more
    classes than `widest` are unsure, whatever their probability. `by_words`: so are texts without a known word.
    """

    classes: Array
    groups: Sequence[tuple[Any, ...]]
    threshold: float
    scoring: str
    order: Indices | None
    widest: float
    by_words: bool

    def predictions(self, scored: Scored, top: int) -> Predictions:
        """Return all that answers consist of, the `top` likeliest classes of each row among it."""
        log_p, mute = scored.log_p, scored.mute
        strange = scored.strange if self.by_words else mute
        P, codes = probabilities_of(log_p), answer_codes(log_p, self.scoring, self.order)
        best, groups = ranked_classes(P, codes, top), likeliest_groups(P, self.classes, self.groups)
        unsure = (P.max(axis=1) < self.threshold) | mute | strange | (spread_of(P) > self.widest)
        return Predictions(self.classes[codes], P, best, unsure, groups, mute, strange, codes)
