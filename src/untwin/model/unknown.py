"""What rows of unknown classes look like: leave classes out, train again, and ask about their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from untwin._compat import rows_of
from untwin.answer.spread import spread_of
from untwin.calibrate.unknown import chance_of
from untwin.model.features.view import apply_preprocessing

if TYPE_CHECKING:
    from untwin._types import Flags, Floats, Indices
    from untwin.answer.spread import UnknownChance
    from untwin.model.state import FittedState

SHARE = 0.1  # of the classes that is left out at once
ENOUGH = 150  # rows of left-out classes; another round asks about the rows of another fold, until there are so many
MOST_ROWS = 20_000  # that are trained on, and asked about


def measure_chance(known: FittedState) -> UnknownChance | None:
    """Return the chance that a row belongs to no class, by its spread; None if too few classes or rows can be left out.

    In each round a tenth of the classes is left out of the training rows, and the rows of a fold are asked about. One
    round is enough for a few thousand rows, and takes less time than one fold of the fit.
    """
    answers, n_classes = known.answers, len(known.answers.classes)
    folds = np.unique(answers.folds[answers.held])
    if n_classes < 3 or not len(folds):
        return None
    order, n_out = np.random.default_rng(0).permutation(n_classes), max(1, int(SHARE * n_classes))
    found: list[tuple[Floats, Flags]] = []
    for number, fold in enumerate(folds.tolist()):
        if sum(unknown.sum() for _, unknown in found) >= ENOUGH:
            break
        left_out = np.isin(answers.true, order.take(np.arange(number * n_out, (number + 1) * n_out), mode="wrap"))
        asked = answers.folds == fold
        train = _thinned(np.flatnonzero(~asked & ~left_out))
        if len(np.unique(answers.true[train])) >= 2:
            asked_rows = _thinned(np.flatnonzero(asked))
            found.append((_spread_without(known, train, asked_rows), left_out[asked_rows]))
    return chance_of(*map(np.concatenate, zip(*found, strict=True))) if found else None


def _thinned(rows: Indices) -> Indices:
    """Return rows, evenly fewer where they are too many."""
    return rows[:: max(1, -(-len(rows) // MOST_ROWS))]


def _spread_without(known: FittedState, train: Indices, asked: Indices) -> Floats:
    """Return the spread of some rows by models that are trained on others; both by their positions in the answers."""
    answers, codes, preprocessing = known.answers, known.answers.true[train], known.view.preprocessing
    rows, new = (rows_of(known.view.rows, answers.rows[part]) for part in (train, asked))
    if preprocessing is not None:
        preprocessing = clone(preprocessing)
        rows = preprocessing.fit_transform(rows, codes)
    members = tuple(replace(one, model=clone(one.model).fit(rows, codes)) for one in known.ensemble.members)
    ensemble = replace(known.ensemble, members=members, classes=np.unique(codes), trained=None, redirect=None)
    return spread_of(np.exp(ensemble.log_proba(apply_preprocessing(preprocessing, new)).astype(np.float64)))
