"""From the contest to the winner: trained on all rows, with the records and what its scores promise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.model.averages import Averages
from untwin.model.contest import Candidate, Contest, Share, binomial_interval, held_contest, records
from untwin.model.guessing import guesses
from untwin.model.heard import Heard
from untwin.model.sampling import asked_rows, can_hold_out, trial_rows
from untwin.model.team import Team

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from untwin.model.recipes import Recipe
    from untwin.model.view import View

    Array = NDArray[Any]
    Indices = NDArray[np.intp]


class Choice(NamedTuple):
    """The winner, what was heard about the rows it was judged by, what it beat, and what to expect of it."""

    team: Team
    heard: Heard
    candidates: list[Candidate]
    scores: dict[str, float]


class Rules(NamedTuple):
    """How candidates are compared; `order` holds the numbers of the classes from low to high."""

    scoring: str
    order: Indices | None
    n_jobs: int | None
    random_state: int


def best_of(tried: Sequence[Recipe], views: tuple[View, ...], y: Array, parts: Indices | None, rules: Rules) -> Choice:
    """Let the candidates compete on the shared folds; train the winner on all rows."""
    classes, codes = np.unique(y, return_inverse=True)
    asked = asked_rows(codes, len(classes), rules.random_state)
    if parts is None or not can_hold_out(codes[asked], parts[asked]):
        return _unjudged(tried[0], views, y, classes)
    contest = Contest(
        tuple(view.without(asked) for view in views) if len(asked) < len(y) else views,
        classes,
        codes[asked],
        parts[asked],
        rules.scoring,
        rules.order,
        rules.n_jobs,
    )
    if len(asked) < len(y):  # nobody is trained on all rows yet
        tried = [replace(recipe, sure=False) for recipe in tried]
    sample = trial_rows(codes[asked], len(classes), rules.random_state)
    entries, dropped = held_contest(contest, tried, sample)
    averages = Averages(contest, entries)
    winner = (grown := averages.grown())[-1]
    trust = contest.trust(winner.log_p)
    heard = Heard(classes, asked, trust(winner.log_p), classes[winner.predicted], contest.folds)
    team = Team.fitted(
        winner.shares, winner.temperature, views, y, trust=trust, ready=winner.ready, n_jobs=rules.n_jobs
    )
    candidates = records(contest, [*entries, *grown[1:]], winner, dropped)
    return Choice(team, heard, candidates, _scores(contest, averages.honest_answers()))


def _unjudged(recipe: Recipe, views: tuple[View, ...], y: Array, classes: Array) -> Choice:
    """Train the baseline where nothing can be compared, since nothing can be held out."""
    share = Share(recipe.name, 0, views[0].model(recipe.classifier, weighted=recipe.weighted), 1.0)
    note = "no class has two distinct rows that could be held out in turn, so nothing was compared"
    nothing = (None,) * 7
    return Choice(
        Team.fitted((share,), 1.0, views, y),
        Heard.nothing(classes, len(y)),
        [Candidate(recipe.name, *nothing, 0.0, True, note)],
        {},
    )


def _scores(contest: Contest, answers: Indices) -> dict[str, float]:
    """Return what to expect, by answers of a choice that has not seen their rows.

    The interval of the accuracy is wider than that of so many independent answers.
    """
    right = (answers == contest.codes)[contest.held]
    low, high = binomial_interval(right, folds=len(np.unique(contest.folds[contest.held])))
    confusion = contest.confusion(answers, contest.held)
    scores = {
        "accuracy": float(right.mean()),
        "accuracy_low": low,
        "accuracy_high": high,
        "macro_f1": confusion.macro_f1,
        **guesses(confusion),
    }
    if contest.order is not None:
        ordered = contest.ordered(confusion)
        scores |= {"mae": ordered.mean_absolute_error(), "quadratic_kappa": ordered.quadratic_kappa()}
    return scores
