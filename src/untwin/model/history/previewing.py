"""What a change of the classes would do, measured on the rows that were held out, before it is made.

For classes that are merged or retired, held-out probabilities are added up or left out, and the answers decided anew.
Nothing is trained, so this is what the model answers at once; training again on merged classes changes little. The
parts of a split are told apart by a model of their own (`halves`), which promises no accuracy of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._wording import format_count
from untwin.model.history.redirecting import redirect_state
from untwin.model.records import Effect
from untwin.model.selection.comparison import paired_interval

if TYPE_CHECKING:
    from untwin._types import Flags, Floats, Indices
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.history.planning import Plan
    from untwin.model.out_of_fold import OutOfFoldAnswers

REDRAWN = 200  # samples of the rows for the interval of macro-F1
ENDS = (2.5, 97.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePreview:
    """What a change would do.

    Attributes
    ----------
    change : str
        Its kind.
    classes : tuple of str
        The names of the classes that it is about.
    n_moved, n_undecided : int
        Rows that would get another class; rows that would stay in a class that is split, or have no class any more.
    accuracy, macro_f1 : Effect or None
        Out of fold, before and after, with the 95 % interval of the difference, on the rows that have a class
        afterwards. For a split, or where nothing could be held out: None.
    separability : (share, low, high) or None
        How often rows that were held out are put into their own half of a split; no promise of accuracy.
    links : tuple of pairs of names
        Links that would come, go or lead elsewhere.
    """

    change: str
    classes: tuple[str, ...]
    n_moved: int
    n_undecided: int
    accuracy: Effect | None
    macro_f1: Effect | None
    separability: tuple[float, float, float] | None
    links: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        told = [f"{self.change} {', '.join(self.classes)}: {format_count(self.n_moved, 'row')} would move"]
        told += [f"{format_count(self.n_undecided, 'row')} undecided"] if self.n_undecided else []
        for name, effect in (("accuracy", self.accuracy), ("macro-F1", self.macro_f1)):
            told += [] if effect is None else [f"{name} {effect.before:.4f} to {effect.after:.4f}, {effect}"]
        if self.separability is not None:
            share, low, high = self.separability
            told.append(f"halves told apart in {share:.1%} [{low:.1%}, {high:.1%}]")
        return "; ".join(told)


def preview_of(model: UntwinClassifier, plan: Plan) -> ChangePreview:
    """Return what a planned change would do; the model stays as it is."""
    accuracy = macro_f1 = separability = None
    answers, trains = model.state_.answers, bool(plan.moved) and not plan.redirects
    if answers.held.any() and not trains:
        after, kept = answers, np.arange(len(model.state_.y))
        if plan.redirects:
            state, change = redirect_state(model, plan.becomes)
            after, kept = state.answers, change.rows
        here, there = _common(answers, after, kept)
        if len(here):
            accuracy = _accuracy((answers.true == answers.said)[there], (after.true == after.said)[here])
            macro_f1 = _macro_f1(answers, after, here, there)
    if plan.halves is not None:
        separability = plan.halves.separability, plan.halves.low, plan.halves.high
    return ChangePreview(
        change=plan.change.kind,
        classes=_concerned(plan),
        n_moved=sum(len(some.rows) for some in plan.moved),
        n_undecided=plan.undecided,
        accuracy=accuracy,
        macro_f1=macro_f1,
        separability=separability,
        links=_links(plan),
    )


def _accuracy(right_before: Flags, right_after: Flags) -> Effect:
    _, low, high = paired_interval(right_after, right_before)
    return Effect(float(right_before.mean()), float(right_after.mean()), low, high)


def _macro_f1(before: OutOfFoldAnswers, after: OutOfFoldAnswers, here: Indices, there: Indices) -> Effect:
    """Return macro-F1 before and after, with the interval of the difference over samples of the rows."""
    rng, differences = np.random.default_rng(0), []
    for _ in range(REDRAWN):
        drawn = rng.integers(len(here), size=len(here))
        differences.append(_f1_of(after, here[drawn]) - _f1_of(before, there[drawn]))
    low, high = np.percentile(differences, ENDS).tolist()
    return Effect(_f1_of(before, there), _f1_of(after, here), low, high)


def _f1_of(answers: OutOfFoldAnswers, rows: Indices) -> float:
    """Return the mean F1 of the classes that occur, or are answered, in some rows."""
    true, said, n_classes = answers.true[rows], answers.said[rows], len(answers.classes)
    hits, owned, named = (np.bincount(codes, minlength=n_classes) for codes in (true[true == said], true, said))
    found: Floats = 2 * hits / np.maximum(owned + named, 1)
    return float(found[owned + named > 0].mean())


def _common(before: OutOfFoldAnswers, after: OutOfFoldAnswers, kept: Indices) -> tuple[Indices, Indices]:
    """Return the places, among the answers after and before, of rows that were held out."""
    place = np.full(int(max(before.rows.max(initial=0), kept.max(initial=0))) + 1, -1)
    place[before.rows] = np.arange(len(before.rows))
    held: Flags = after.held
    here = np.flatnonzero(held)
    return here, place[kept[after.rows[here]]]


def _concerned(plan: Plan) -> tuple[str, ...]:
    """Return the names of the classes that a change is about, those that it makes among them."""
    known = [one for one, entry in plan.taxonomy.by_id.items() if plan.before.by_id.get(one) != entry]
    named = [plan.before.find(name).id for name in plan.change.classes() if name in plan.before.by_id]
    ids = dict.fromkeys([*named, *known])
    return tuple((plan.before.by_id.get(one) or plan.taxonomy.by_id[one]).name for one in ids)


def _links(plan: Plan) -> tuple[tuple[str, str], ...]:
    names = {entry.id: entry.name for entry in (*plan.taxonomy.classes, *plan.before.classes)}
    changed: set[Any] = set(plan.before.links) ^ set(plan.taxonomy.links)
    return tuple((names[a], names[b]) for a, b in sorted(changed))
