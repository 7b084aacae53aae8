"""What a model promises, made of its answers to rows that were held out; and the questions that go with it.

Nothing is tuned on the rows that it is measured on: held-out answers come from models that have not seen the row, and
what the tree of a row's fold is grown from are the confusions of the other folds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from untwin.answer.error_curve import ErrorCurve, default_target
from untwin.answer.heights import TreePromise, merge_tree, path_tree
from untwin.answer.predictions import probabilities_of
from untwin.answer.promises import COVERAGE, Promises, group_numbers
from untwin.answer.shortlists import GroupScores, Must, SetRule, SetScores
from untwin.answer.spread import LOST
from untwin.classify.approximate import ApproximateLabels
from untwin.structure.agreement import KnownTree
from untwin.structure.linkage import build_tree, group_labels, inflection

if TYPE_CHECKING:
    from untwin._types import Array, Flags, Floats, Indices
    from untwin.answer.heights import ClassTree, HeightAnswers
    from untwin.answer.predictions import Decision, Predictions
    from untwin.answer.promises import WhichTree
    from untwin.answer.shortlists import Shortlists, TrueClasses
    from untwin.answer.spread import UnknownChance
    from untwin.model.out_of_fold import OutOfFoldAnswers
    from untwin.model.state import FittedState
    from untwin.structure.hierarchy import Hierarchy

MOST_CELLS = 20_000_000  # rows x classes that are climbed
SIZE_CELLS = 300_000  # rows x classes that tell how large sets are
MANY_CLASSES = 300  # above, trees are grown for two halves of the folds


class MeasuredPromises(NamedTuple):
    """What takes a moment to measure: places of the true classes of held-out rows, and errors on the learnt tree."""

    true: TrueClasses
    codes: Indices
    sets: SetScores
    heights: ErrorCurve

    @classmethod
    def of(cls, answers: OutOfFoldAnswers) -> Self:
        """Measure the answers of one state."""
        held = np.flatnonzero(answers.held)
        codes, scores = answers.true[held], answers.scores.take(held)
        true = scores.true_classes(codes)
        some = _evenly(len(held), SIZE_CELLS // scores.n_classes)
        sets = SetScores.of(true, np.exp(scores.take(some).dense().astype(np.float64)))
        return cls(true, codes, sets, _heights_out_of_fold(answers, held))


def _evenly(n_rows: int, most: int) -> Indices:
    return np.linspace(0, n_rows - 1, min(n_rows, max(most, 100))).round().astype(np.intp)


def _heights_out_of_fold(answers: OutOfFoldAnswers, held: Indices) -> ErrorCurve:
    """Return what thresholds do to held-out rows on the trees of the confusions of the other folds."""
    held = held[_evenly(len(held), MOST_CELLS // len(answers.classes))]
    parts = answers.folds[held] if len(answers.classes) <= MANY_CLASSES else answers.folds[held] % 2
    all_parts = answers.folds if len(answers.classes) <= MANY_CLASSES else answers.folds % 2
    limits = []
    for part in np.unique(parts).tolist():
        others = answers.held & (all_parts != part)
        tree = _tree_of(answers, others if others.any() else answers.held)
        limits.append(_limits(tree, answers, held[parts == part]))
    if not limits:
        return ErrorCurve.of(np.empty(0), np.empty(0))
    answered_at, wrong_at = (np.concatenate(parts) for parts in zip(*limits, strict=True))
    return ErrorCurve.of(answered_at, wrong_at)


def _tree_of(answers: OutOfFoldAnswers, some: Flags) -> ClassTree:
    merges, heights = build_tree(answers.confusion_of(some).distances("l1"), "ward")
    return merge_tree(merges, group_labels(merges, inflection(heights)))


def _limits(tree: ClassTree, answers: OutOfFoldAnswers, rows: Indices) -> tuple[Floats, Floats]:
    P = np.exp(answers.scores.take(rows).dense().astype(np.float64))
    return tree.limits(P, answers.said[rows], answers.true[rows])


class PromisesMixin:
    """Gives a fitted model the questions about what it promises; the model has what they need."""

    if TYPE_CHECKING:
        state_: FittedState
        classes_: Array
        groups_: list[tuple[Any, ...]]
        hierarchy_: Hierarchy
        scores_: dict[str, float]
        target_error: float | None

        @property
        def parents_(self) -> dict[Any, Any] | None: ...  # noqa: D102
        @property
        def unknown_chance_(self) -> UnknownChance | None: ...  # noqa: D102
        def _now(self) -> Self: ...
        def _decision(self) -> Decision: ...
        def _prepare_rows(self, X: Any, *, reset: bool) -> Any: ...
        def _prepare_labels(self, given: Any, y: Any, ids: Any = None) -> tuple[Array, Array]: ...

    @property
    def target_error_(self) -> float:
        """How many of the sure answers may be wrong: `target_error`, or half of the error to expect, 10 % at most."""
        return default_target(self.scores_.get("accuracy")) if self.target_error is None else self.target_error

    @property
    def promises_(self) -> Promises:
        """What the model promises about its answers; measured when it is first asked for."""
        now = self._now()
        return now._promises(now.unknown_chance_)

    def predict_all(self, X: Any, *, top: int = 1, target_error: float | None = None) -> Predictions:
        """Return all that answers consist of, the `top` likeliest classes of each row among it.

        `target_error`: how many of the sure answers may be wrong; None: as the fit has settled (`target_error_`).
        """
        now = self._now()
        decision = now._decision()
        if target_error is not None:
            decision = decision._replace(threshold=now.state_.sure.threshold(target_error))
        return decision.predictions(now.state_.score(now._prepare_rows(X, reset=False)), top)

    def predict_group(self, X: Any) -> ApproximateLabels:
        """Return for each row its class, whether to rely on it, and its likeliest group (a position in `groups_`)."""
        found = self.predict_all(X)
        return ApproximateLabels(found.labels, ~found.unsure, found.groups)

    def unsure(self, X: Any, *, target_error: float | None = None) -> Flags:
        """Tell which answers are unsure, so that at most the share `target_error` of the other answers is wrong.

        Rows without a known word, and rows that look like nothing that was learnt, are unsure in any case.
        """
        return self.predict_all(X, target_error=target_error).unsure

    def shortlist(
        self,
        X: Any,
        *,
        coverage: float = COVERAGE,
        by_group: bool = False,
        calibration_rows: tuple[Any, Any] | None = None,
    ) -> Shortlists:
        """Return for each row the smallest set of classes that holds the right one with a promised chance.

        Parameters
        ----------
        X : rows
        coverage : float
            The chance. It is *measured*: on held-out rows, by models that were trained on the others, while all rows
            have taught the one that answers. It holds for rows like those of the fit.
        by_group : bool
            Keep the promise for each group of `groups_`, not for all rows together; sets get larger.
        calibration_rows : (X, y), optional
            Labelled rows that the model has not learnt: the promise is exact then, if new rows are like these.

        Examples
        --------
        >>> from untwin import UntwinClassifier
        >>> texts, labels = ["red bus", "blue car", "red tram", "blue bike"] * 5, ["r", "b"] * 10
        >>> model = UntwinClassifier(preset="fast").fit(texts, labels)
        >>> model.shortlist(["a red car", "my blue bike"], coverage=0.9).lists()[1]
        ['b']
        """
        now = self._now()
        found = now.predict_all(X)
        if calibration_rows is None:
            return now._promises().shortlists(found, now.classes_, coverage=coverage, by_group=by_group)
        if by_group:
            raise ValueError("by_group must be False with calibration_rows. Got True instead.")
        given = now._prepare_rows(calibration_rows[0], reset=False)
        labels, _ = now._prepare_labels(given, calibration_rows[1])
        P, codes = probabilities_of(now.state_.log_proba(given)[0]), _codes_of(labels, now.classes_)
        rule = SetRule.exact(P, codes, coverage, now.state_.measured_promises.sets.rule(coverage).penalty)
        return rule.shortlists(found.probabilities, now.classes_, Must(found.codes, found.no_evidence))

    def heights(self, X: Any, *, target_error: float | None = None, tree: WhichTree = "auto") -> HeightAnswers:
        """Return for each row the class, or the smallest group around it, so that at most a share of these is wrong.

        `tree`: "auto", the one that was learnt, or "known", the one that `find` was told to keep. `target_error`: None
        stands for `target_error_`. `predict(X, height="auto")` gives the same as labels.

        Examples
        --------
        >>> from untwin import UntwinClassifier
        >>> texts, labels = ["red bus", "blue car", "red tram", "blue bike"] * 5, ["r", "b"] * 10
        >>> model = UntwinClassifier(preset="fast").fit(texts, labels)
        >>> model.heights(["blue bike", "zzzz"]).labels().tolist()
        ['b', None]
        """
        now = self._now()
        found = now.predict_all(X)
        return now._promises().at_height(found, now.classes_, target_error=target_error, tree=tree)

    def unknown(self, X: Any, *, lost: float = LOST) -> Flags:
        """Tell which rows seem to belong to no class; about the share `lost` of the others is among them."""
        now = self._now()
        return now._promises().unknown(now.predict_all(X), lost)

    def _promises(self, chance: UnknownChance | None = None) -> Promises:
        """Return the promises; the chance that a row is unknown takes training, and few questions need it."""
        known, groups = self.state_, group_numbers(self.groups_, self.classes_)
        measured = known.measured_promises
        return Promises(
            target_error=self.target_error_,
            sure=known.sure,
            sets=measured.sets,
            group_sets=GroupScores.of(measured.true, measured.codes, groups),
            known=known.known,
            chance=chance,
            heights=TreePromise(merge_tree(self.hierarchy_.merges, groups), measured.heights),
            known_heights=self._known_heights(),
        )

    def _known_heights(self) -> TreePromise | None:
        parents, answers = self.parents_, self.state_.answers
        if parents is None:
            return None
        tree = path_tree(KnownTree.from_parents(parents, self.classes_).paths)
        held = np.flatnonzero(answers.held)
        held = held[_evenly(len(held), MOST_CELLS // len(answers.classes))]
        return TreePromise(tree, ErrorCurve.of(*_limits(tree, answers, held)))


def _codes_of(labels: Array, classes: Array) -> Indices:
    """Return the numbers of labels; a class that the model does not know is refused."""
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    unknown = np.flatnonzero(classes[places] != labels)
    if unknown.size:
        (name,) = labels[unknown[:1]].tolist()
        raise ValueError(f"calibration_rows must have classes of the model. Got {name!r} instead.")
    return places
