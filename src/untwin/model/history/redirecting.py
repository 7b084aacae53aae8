"""What a model answers as soon as classes are merged, renamed or retired, before anything is trained again.

Probabilities of a class go to its heir, also those of held-out answers; without an heir, the others share what is left,
and its rows, which have no class any more, leave the model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin.answer.predictions import answer_codes
from untwin.answer.redirect import Redirect
from untwin.model.best_scores import BestScores
from untwin.model.ordinal import class_order, require_ordered_classes
from untwin.model.out_of_fold import OutOfFoldAnswers
from untwin.model.relearning import RowChange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin._types import Array, Indices
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.state import FittedState

AT_ONCE = 1 << 22  # probabilities that are added up at a time


def redirect_state(model: UntwinClassifier, becomes: Mapping[Any, Any]) -> tuple[FittedState, RowChange]:
    """Return the state in which classes have become others (None: nothing), and the change of rows that this is."""
    known = model.state_
    redirect, classes = _redirect(known, becomes)
    require_ordered_classes(classes, model.order)
    kept = np.flatnonzero(redirect.heirs[np.searchsorted(known.ensemble.classes, known.y)] >= 0)
    moved = len(known.y) - len(kept)
    y = classes[redirect.heirs[np.searchsorted(known.ensemble.classes, known.y[kept])]]
    view = known.view.take(kept) if moved else known.view
    change = RowChange(view, y, known.ids[kept], known.n_arrived, kept, moved)
    answers, places = redirect_answers(model, redirect, classes, kept)
    trained, ensemble = redirect.after(known.ensemble.redirect), known.ensemble
    after = replace(
        known,
        view=view,
        ensemble=replace(ensemble, classes=classes, trained=ensemble.trained_classes, redirect=trained),
        answers=answers,
        y=y,
        ids=change.ids,
        learning=_learning(known, redirect, places),
    )
    answerer = vars(known).get("answerer")
    if answerer is not None:  # weights that were loaded may be there in no other form
        shares = {"shares": log_shares_of(y)} if hasattr(answerer, "shares") else {}
        vars(after)["answerer"] = replace(answerer, redirect=redirect.after(answerer.redirect), **shares)
    return after, change


def redirect_answers(
    model: UntwinClassifier, redirect: Redirect, classes: Array, kept: Indices
) -> tuple[OutOfFoldAnswers, Indices]:
    """Return the held-out answers to the rows that are kept, by the classes of now; and which answers these were."""
    known, answers = model.state_, model.state_.answers
    place = np.full(len(known.y), -1)
    place[kept] = np.arange(len(kept))
    there = np.flatnonzero(place[answers.rows] >= 0)
    order, parts, said = class_order(model.order, classes, model.scoring), [], []
    at_once = max(1, AT_ONCE // len(answers.classes))
    for start in range(0, max(len(there), 1), at_once):
        log_p = redirect(answers.scores.take(there[start : start + at_once]).dense())
        parts.append(BestScores.of(log_p, answers.scores.places.shape[1]))
        said.append(answer_codes(np.nan_to_num(log_p, nan=0.0, neginf=-np.inf), model.scoring, order))
    scores = BestScores(
        len(classes), *(np.concatenate([getattr(one, name) for one in parts]) for name in ("places", "values", "rest"))
    )
    folds = answers.folds[there]
    found = OutOfFoldAnswers(
        classes,
        place[answers.rows[there]],
        redirect.heirs[answers.true[there]],
        np.where(folds >= 0, np.concatenate(said), -1),
        scores,
        folds,
    )
    return found, there


def log_shares_of(y: Array) -> Array:
    """Return the logarithms of how often each class occurs."""
    shares: Array = np.log(np.unique(y, return_counts=True)[1] / len(y))
    return shares


def _redirect(known: FittedState, becomes: Mapping[Any, Any]) -> tuple[Redirect, Array]:
    """Return where the classes of a state lead to, and the classes of now."""
    before = known.ensemble.classes.tolist()
    after = [becomes.get(label, label) for label in before]
    classes = np.unique(np.array([label for label in after if label is not None]))
    if len(classes) < 2:
        raise InputError(
            "At least two classes must be left.",
            code="class-change",
            hint="Keep two classes that are to be told apart.",
        )
    number = {label: code for code, label in enumerate(classes.tolist())}
    heirs = np.array([-1 if label is None else number[label] for label in after], dtype=np.intp)
    sizes = np.bincount(np.searchsorted(known.ensemble.classes, known.y), minlength=len(before))
    own = np.zeros(len(classes), dtype=np.intp)
    largest_last = np.argsort(sizes, kind="stable")
    own[heirs[largest_last[heirs[largest_last] >= 0]]] = largest_last[heirs[largest_last] >= 0]
    return Redirect(heirs, own), classes


def _learning(known: FittedState, redirect: Redirect, places: Indices) -> Any:
    """Return what learning goes on from: where classes are others, the linear SVMs of now begin anew."""
    learning = known.learning
    if learning is None:
        return None
    same = np.array_equal(redirect.heirs, np.arange(len(known.ensemble.classes)))
    if same:
        return learning
    n_rows = len(known.y)  # so many changes that probabilities are calibrated again
    return replace(learning, parts=learning.parts[places], points=(), uncalibrated=learning.uncalibrated + n_rows)
