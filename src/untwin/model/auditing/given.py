"""Given answers in the form of out-of-fold answers, which findings and the report read.

Glossary
--------
n rows, C classes
S        n x C    scores that came with the answers: probabilities, their logarithms, or any scores where softmax makes
                  sense
listed            an answer that names one of the classes; others are no prediction, like a row that is not held out
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._values import positions
from untwin.answer.probabilities import log_probabilities
from untwin.calibrate.temperature import HOPELESS, fit_temperature
from untwin.crossfit.folds import N_FOLDS, deal_folds, sharing_units
from untwin.model.best_scores import BestScores
from untwin.model.out_of_fold import OutOfFoldAnswers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from untwin._types import Array, Floats, Floats32, Indices


def answers_as_given(
    classes: Array, y: Array, said: Array, *, scores: Floats | None, texts: Sequence[str] | None
) -> OutOfFoldAnswers:
    """Return the answers; rows without a listed one count as never held out.

    Equal texts share a fold, so that no row is judged by itself as its own neighbour.
    """
    listed = np.isin(said, classes)
    true, code = positions(y, classes), np.full(len(y), -1, dtype=np.intp)
    code[listed] = positions(said[listed], classes)
    unit = np.arange(len(y)) if texts is None else sharing_units(list(texts))
    n_folds = min(N_FOLDS, int(unit.max()) + 1)
    folds = np.where(listed, deal_folds(true, unit, n_folds, 0), -1)
    best = _by_answer(true, code, len(classes)) if scores is None else BestScores.of(_log_p(scores, true))
    values, rest = best.values.copy(), best.rest.copy()
    values[~listed], rest[~listed] = np.nan, np.nan
    return OutOfFoldAnswers(classes, np.arange(len(y)), true, code, replace(best, values=values, rest=rest), folds)


def scores_of_classes(scores: Mapping[Any, Any], classes: Array) -> Floats:
    """Return scores (n x C) by class; a class without scores, and a missing score, gets the least of all.

    >>> scores_of_classes({"b": [0.5, None], "a": [1.0, 2.0]}, np.array(["a", "b", "c"])).tolist()
    [[1.0, 0.5, 0.0], [2.0, 0.0, 0.0]]
    >>> scores_of_classes({"a": [-1.0, 2.0]}, np.array(["a", "b"])).tolist()
    [[-1.0, -inf], [2.0, -inf]]
    """
    given = {name: np.asarray(column, dtype=np.float64) for name, column in scores.items()}
    least = 0.0 if all(np.nanmin(column, initial=0.0) >= 0 for column in given.values()) else -np.inf
    n_rows = len(next(iter(given.values())))
    columns = [given.get(name, np.full(n_rows, np.nan)) for name in classes.tolist()]
    return np.asarray(np.nan_to_num(np.column_stack(columns), nan=least, posinf=np.inf, neginf=-np.inf))


def _log_p(scores: Floats, true: Indices) -> Floats32:
    """Return log-probabilities; scores of which none is negative are shares, others are logarithms.

    One temperature is fitted to them, so that they say how often answers are right.
    """
    with np.errstate(divide="ignore"):
        S = np.log(scores) if scores.min(initial=0.0) >= 0 else scores
    S = np.maximum(S, HOPELESS).astype(np.float32)
    S[S.max(axis=1) <= HOPELESS] = 0  # no score at all: every class is as likely
    return log_probabilities(S, fit_temperature(S, true, cautious=True))


def _by_answer(true: Indices, code: Indices, n_classes: int) -> BestScores:
    """Return, where nothing is known but the answer, how often rows with that answer were of each class.

    Of an answer that was hardly ever given the classes are all but unknown: it counts as one row more, spread evenly.
    """
    listed = code >= 0
    table = np.full((n_classes, n_classes), 1 / n_classes)
    np.add.at(table, (code[listed], true[listed]), 1.0)
    table /= table.sum(axis=1, keepdims=True)
    return BestScores.of(np.log(table)).take(np.maximum(code, 0))
