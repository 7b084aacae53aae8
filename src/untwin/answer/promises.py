"""`Promises`: what a model promises about its answers, all of it measured on rows that it had not seen.

Everything is computed from the probabilities of rows. What may be asked for (how many sure answers may be wrong, the
chance that a set must hold the right class) is chosen anew for each question, without a new fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from untwin.answer.shortlists import GROUP_PENALTY, Must
from untwin.answer.spread import LOST, UnknownChance, spread_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Flags, Floats
    from untwin.answer.error_curve import ErrorCurve
    from untwin.answer.heights import HeightAnswers, TreePromise
    from untwin.answer.predictions import Predictions
    from untwin.answer.shortlists import GroupScores, SetScores, Shortlists
    from untwin.answer.spread import SpreadOfKnown

    WhichTree = Literal["auto", "known"]

COVERAGE = 0.95


@dataclass(frozen=True, eq=False, kw_only=True)
class Promises:
    """What a model promises; made of its answers to rows that were held out.

    Attributes
    ----------
    target_error : float
        How many of the sure answers may be wrong unless told otherwise.
    sure : ErrorCurve
        Which share of the rows is answered, and which share of these wrong, by the probability that is asked for.
    sets : SetScores
        What sets of classes must have so that they hold the right class.
    group_sets : GroupScores
        The same for each group of `groups_`.
    known : SpreadOfKnown
        How widely the probabilities of rows of known classes are spread.
    chance : UnknownChance or None
        The chance that a row belongs to no class; None if no class could be left out to measure it.
    heights, known_heights : TreePromise
        Of the tree that was learnt, and of the owner's; None without one.
    """

    target_error: float
    sure: ErrorCurve
    sets: SetScores
    group_sets: GroupScores
    known: SpreadOfKnown
    chance: UnknownChance | None
    heights: TreePromise
    known_heights: TreePromise | None

    def shortlists(
        self, found: Predictions, classes: Array, *, coverage: float = COVERAGE, by_group: bool = False
    ) -> Shortlists:
        """Return sets of classes that hold the right one with a promised chance: of all rows, or of each group's."""
        must, P = Must(found.codes, found.no_evidence), found.probabilities
        if not by_group:
            return self.sets.rule(coverage).shortlists(P, classes, must)
        return self.group_sets.shortlists(
            P, classes, must, coverage, least=self.sets.threshold(GROUP_PENALTY, coverage)
        )

    def at_height(
        self,
        found: Predictions,
        classes: Array,
        *,
        target_error: float | None = None,
        tree: WhichTree = "auto",
    ) -> HeightAnswers:
        """Return the smallest nodes of a tree around the answers so that about this share of them is wrong.

        Rows that seem to belong to no class are not answered.
        """
        promise = {"auto": self.heights, "known": self.known_heights}.get(tree)
        if promise is None:
            raise ValueError(f"tree must be 'auto', or 'known' if the model knows a tree. Got {tree!r} instead.")
        error = self.target_error if target_error is None else target_error
        return promise.answers(found.probabilities, found.codes, classes, error, self.unknown(found))

    def threshold(self, target_error: float | None = None) -> float:
        """Return from which probability on an answer is sure."""
        return self.sure.threshold(self.target_error if target_error is None else target_error)

    def unknown(self, found: Predictions, lost: float = LOST) -> Flags:
        """Tell which rows seem to belong to no class; about the share `lost` of those of known classes is among them.

        Texts without a known word are among them in any case.
        """
        return np.asarray(found.strange | self.known.exceeds(spread_of(found.probabilities), lost))

    def unknown_chance(self, found: Predictions) -> Floats:
        """Return the chance that each row belongs to no class, if as many do as do not; NaN if it is not known."""
        spread = spread_of(found.probabilities)
        return np.full(len(spread), np.nan) if self.chance is None else self.chance(spread)


def group_numbers(groups: Sequence[tuple[Any, ...]], classes: Array) -> Array:
    """Return the number of the group of each class.

    >>> group_numbers([("b",), ("a", "c")], np.array(["a", "b", "c"])).tolist()
    [1, 0, 1]
    """
    number = {name: group for group, members in enumerate(groups) for name in members}
    return np.array([number[name] for name in classes.tolist()], dtype=np.intp)
