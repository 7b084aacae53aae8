"""Compiled loops of linear models.

Glossary
--------
n rows, m terms, B classes of a block
starts, terms, values    CSR rows: (n + 1) int64, int32, float32
W        m x B    weights, term by term, so that a row is read once for all classes of the block
bias     B        weight of a constant 1 that each row has
alpha    n x B    dual variables, one a row and class; zero where the row is beyond the margin
sign     B        1 for the classes of a row, else -1
score    B        of one row
change   B        of the products of alpha and sign
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin._compiled import Rows, compiled

if TYPE_CHECKING:
    from untwin._types import Array

ONE, ZERO = np.float32(1), np.float32(0)


class Labelled(NamedTuple):
    """Rows with their classes (CSR), their squared lengths, and 1 / 2C of each row."""

    rows: Rows
    own_starts: Array
    own: Array
    lengths: Array
    slack: Array


class Block(NamedTuple):
    """A block of classes from number `first` on, and its weights; the arrays change in place."""

    first: int
    W: Array
    bias: Array
    alpha: Array


class Visit(NamedTuple):
    """What is worked out at one row: signs, scores, changes, and the classes that moved; `tol` as in `sweep`."""

    sign: Array
    score: Array
    change: Array
    moved: Array
    tol: Any


@compiled
def squared_lengths(starts: Array, values: Array) -> Array:
    """Return the squared length of each row, its constant 1 included."""
    lengths = np.ones(len(starts) - 1, dtype=np.float32)
    for row in range(len(lengths)):
        length = ONE
        for place in range(starts[row], starts[row + 1]):
            length += values[place] * values[place]
        lengths[row] = length
    return lengths


@compiled
def sweep(order: Array, given: Labelled, block: Block, full: int, tol: Any) -> float:
    """Visit rows in this order and improve the block; return the largest violation of the optimum's conditions.

    A full pass visits all classes of the block, others only those of a row and those whose alpha is not zero.
    Violations up to `tol` are left alone and not reported: most rows of a late pass then change no weight.
    """
    width = len(block.bias)
    everything, active = np.arange(width), np.arange(width)
    score, change = np.empty(width, np.float32), np.empty(width, np.float32)
    visit = Visit(np.full(width, -ONE), score, change, np.empty(width, np.int64), tol)
    worst = ZERO
    for row in order:
        _mark(given, row, block.first, visit.sign, ONE)
        if full:
            classes = everything
            _score_all(given.rows, row, block, score)
        else:
            classes = active[: _find_active(block.alpha[row], visit.sign, active)]
            if len(classes) == 0:
                continue
            _score_some(given.rows, row, block, classes, score)
        n_moved, violation = _step(given, row, block, classes, visit)
        worst = max(worst, violation)
        if full and 3 * n_moved > width:  # many: one run over the block is faster than picking classes
            _add_all(given.rows, row, block, change)
        elif n_moved:
            _add_some(given.rows, row, block, visit.moved[:n_moved], change)
        _mark(given, row, block.first, visit.sign, -ONE)
    return float(worst)


@compiled
def restore(given: Labelled, block: Block) -> None:
    """Add to the weights of a block, which are zero, what its alpha stands for."""
    rows, width = given.rows, len(block.bias)
    sign, change = np.full(width, -ONE), np.empty(width, np.float32)
    held = np.empty(width, np.int64)
    for row in range(len(block.alpha)):
        _mark(given, row, block.first, sign, ONE)
        n_held = 0
        for c in range(width):
            if block.alpha[row, c] > ZERO:
                change[n_held], held[n_held] = block.alpha[row, c] * sign[c], c
                block.bias[c] += change[n_held]
                n_held += 1
        if n_held:
            for place in range(rows.starts[row], rows.starts[row + 1]):
                value, weights = rows.values[place], block.W[rows.terms[place]]
                for number in range(n_held):
                    weights[held[number]] += value * change[number]
        _mark(given, row, block.first, sign, -ONE)


@compiled
def _mark(given: Labelled, row: int, first: int, sign: Array, value: Any) -> None:
    """Set the sign of the row's own classes."""
    for place in range(given.own_starts[row], given.own_starts[row + 1]):
        c = given.own[place] - first
        if 0 <= c < len(sign):
            sign[c] = value


@compiled
def _find_active(alpha: Array, sign: Array, active: Array) -> int:
    """List the classes to visit; return how many they are."""
    n_active = 0
    for c in range(len(sign)):
        if alpha[c] > ZERO or sign[c] > ZERO:
            active[n_active] = c
            n_active += 1
    return n_active


@compiled
def _score_all(rows: Rows, row: int, block: Block, score: Array) -> None:
    """Score all classes: four terms at a time, so that scores are read and written a quarter as often."""
    terms, values, W = rows.terms, rows.values, block.W
    for c in range(len(score)):
        score[c] = block.bias[c]
    place, last = rows.starts[row], rows.starts[row + 1]
    while place + 3 < last:
        v0, v1, v2, v3 = values[place], values[place + 1], values[place + 2], values[place + 3]
        w0, w1, w2, w3 = W[terms[place]], W[terms[place + 1]], W[terms[place + 2]], W[terms[place + 3]]
        for c in range(len(score)):
            score[c] = (((score[c] + v0 * w0[c]) + v1 * w1[c]) + v2 * w2[c]) + v3 * w3[c]
        place += 4
    for rest in range(place, last):
        weights = W[terms[rest]]
        for c in range(len(score)):
            score[c] += values[rest] * weights[c]


@compiled
def _score_some(rows: Rows, row: int, block: Block, classes: Array, score: Array) -> None:
    """Score these classes, term by term, so that the weights of a term are fetched once for all of them."""
    terms, values, W = rows.terms, rows.values, block.W
    for c in classes:
        score[c] = block.bias[c]
    place, last = rows.starts[row], rows.starts[row + 1]
    while place + 3 < last:
        v0, v1, v2, v3 = values[place], values[place + 1], values[place + 2], values[place + 3]
        w0, w1, w2, w3 = W[terms[place]], W[terms[place + 1]], W[terms[place + 2]], W[terms[place + 3]]
        for c in classes:
            score[c] = (((score[c] + v0 * w0[c]) + v1 * w1[c]) + v2 * w2[c]) + v3 * w3[c]
        place += 4
    for rest in range(place, last):
        weights = W[terms[rest]]
        for c in classes:
            score[c] += values[rest] * weights[c]


@compiled
def _step(given: Labelled, row: int, block: Block, classes: Array, visit: Visit) -> tuple[int, Any]:
    """Minimise over the alpha of the row in each of these classes; return how many moved, and the worst violation."""
    sign, score, change, moved, tol = visit
    slack = given.slack[row]
    inverse = ONE / (given.lengths[row] + slack)
    n_moved, worst = 0, ZERO
    for c in classes:
        before = block.alpha[row, c]
        slope = sign[c] * score[c] - ONE + before * slack
        after = max(before - slope * inverse, ZERO)
        change[c] = ZERO
        if after != before and abs(slope) > tol:
            change[c] = (after - before) * sign[c]
            block.alpha[row, c] = after
            moved[n_moved] = c
            n_moved += 1
            worst = max(worst, abs(slope))
    return n_moved, worst


@compiled
def _add_all(rows: Rows, row: int, block: Block, change: Array) -> None:
    for c in range(len(change)):
        block.bias[c] += change[c]
    for place in range(rows.starts[row], rows.starts[row + 1]):
        value, weights = rows.values[place], block.W[rows.terms[place]]
        for c in range(len(change)):
            weights[c] += value * change[c]


@compiled
def _add_some(rows: Rows, row: int, block: Block, classes: Array, change: Array) -> None:
    for c in classes:
        block.bias[c] += change[c]
    for place in range(rows.starts[row], rows.starts[row + 1]):
        value, weights = rows.values[place], block.W[rows.terms[place]]
        for c in classes:
            weights[c] += value * change[c]


@compiled
def pack_weights(W: Array, places: Array, least: Array) -> tuple[Array, Array, Array]:
    """Return starts, classes and values of the weights that are larger than their class's `least`, as CSR.

    Its rows are terms; `places` says which row of W is that of a term.
    """
    starts = np.zeros(len(places) + 1, dtype=np.int64)
    for term in range(len(places)):
        weights, n_kept = W[places[term]], 0
        for c in range(len(least)):
            n_kept += abs(weights[c]) > least[c]
        starts[term + 1] = starts[term] + n_kept
    classes, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
    for term in range(len(places)):
        weights, end = W[places[term]], starts[term]
        for c in range(len(least)):
            if abs(weights[c]) > least[c]:
                classes[end], values[end] = c, weights[c]
                end += 1
    return starts, classes, values


@compiled
def add_scores(rows: Rows, weights: Rows, place: Array, dense: Array, scores: Array) -> None:
    """Add to `scores` the product of rows and weights: CSR, a row for each term.

    Terms that have a weight in many classes also have a row of `dense`, number `place` (else -1): a run over all
    classes is faster than picking many of them.
    """
    for row in range(len(scores)):
        score = scores[row]
        for entry in range(rows.starts[row], rows.starts[row + 1]):
            value, term = rows.values[entry], rows.terms[entry]
            if place[term] >= 0:
                whole = dense[place[term]]
                for c in range(len(score)):
                    score[c] += value * whole[c]
            else:
                for one in range(weights.starts[term], weights.starts[term + 1]):
                    score[weights.terms[one]] += value * weights.values[one]
