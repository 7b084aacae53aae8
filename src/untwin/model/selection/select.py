"""Choose the best candidate or average: train it on all rows, with its records and expected scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from untwin.model.chance import chance_of_guessing
from untwin.model.ensemble import Ensemble
from untwin.model.out_of_fold import OutOfFoldAnswers
from untwin.model.selection.averages import Averages
from untwin.model.selection.comparison import Candidate, Comparison, Member, binomial_interval, compare, records
from untwin.model.selection.sampling import can_hold_out, sample_rows, trial_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Indices
    from untwin.model.features.view import View
    from untwin.model.selection.specs import CandidateSpec


class Selection(NamedTuple):
    """The chosen ensemble, its out-of-fold answers, the records of all candidates, and the scores to expect."""

    ensemble: Ensemble
    answers: OutOfFoldAnswers
    candidates: list[Candidate]
    scores: dict[str, float]


class SelectionRules(NamedTuple):
    """How candidates are compared; `order` holds the numbers of the classes from low to high."""

    scoring: str
    order: Indices | None
    n_jobs: int | None
    random_state: int


def select_best(
    specs: Sequence[CandidateSpec], views: tuple[View, ...], y: Array, parts: Indices | None, rules: SelectionRules
) -> Selection:
    """Compare the candidates on the shared folds and train the best on all rows."""
    classes, codes = np.unique(y, return_inverse=True)
    asked = sample_rows(codes, len(classes), rules.random_state)
    if parts is None or not can_hold_out(codes[asked], parts[asked]):
        return _unjudged(specs[0], views, y)
    comparison = Comparison(
        tuple(view.take(asked) for view in views) if len(asked) < len(y) else views,
        classes,
        codes[asked],
        parts[asked],
        rules.scoring,
        rules.order,
        rules.n_jobs,
    )
    if len(asked) < len(y):  # a model trained on the sample is not one trained on all rows
        specs = [replace(spec, sure=False) for spec in specs]
    sample = trial_sample(codes[asked], len(classes), rules.random_state)
    results, dropped = compare(comparison, specs, sample)
    averages = Averages(comparison, results)
    winner = (grown := averages.grown())[-1]
    top_class = comparison.top_class(winner.log_p)
    said = np.where(comparison.held, winner.predicted, -1)
    answers = OutOfFoldAnswers(classes, asked, codes[asked], said, top_class(winner.log_p), comparison.folds)
    ensemble = Ensemble.fitted(
        winner.members, winner.temperature, views, y, top_class=top_class, ready=winner.ready, n_jobs=rules.n_jobs
    )
    candidates = records(comparison, [*results, *grown[1:]], winner, dropped)
    return Selection(ensemble, answers, candidates, _scores(comparison, averages.honest_answers()))


def _unjudged(spec: CandidateSpec, views: tuple[View, ...], y: Array) -> Selection:
    """Return the baseline trained on all rows, for data where no row can be held out and nothing can be compared."""
    member = Member(spec.name, 0, views[0].model(spec.classifier, weighted=spec.weighted), 1.0)
    note = "no class has two distinct rows that could be held out in turn, so nothing was compared"
    nothing = (None,) * 7
    return Selection(
        Ensemble.fitted((member,), 1.0, views, y),
        OutOfFoldAnswers.nothing(y),
        [Candidate(spec.name, *nothing, 0.0, True, note)],
        {},
    )


def _scores(comparison: Comparison, answers: Indices) -> dict[str, float]:
    """Return the scores to expect of new rows, from answers of a choice made without their own fold.

    The interval of the accuracy allows for the folds' shared training rows.
    """
    right = (answers == comparison.codes)[comparison.held]
    low, high = binomial_interval(right, folds=len(np.unique(comparison.folds[comparison.held])))
    confusion = comparison.confusion(answers, comparison.held)
    scores = {
        "accuracy": float(right.mean()),
        "accuracy_low": low,
        "accuracy_high": high,
        "macro_f1": confusion.macro_f1,
        **chance_of_guessing(confusion),
    }
    if comparison.order is not None:
        ordered = comparison.ordered(confusion)
        scores |= {"mae": ordered.mean_absolute_error(), "quadratic_kappa": ordered.quadratic_kappa()}
    return scores
