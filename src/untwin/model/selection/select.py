"""Select the best candidate on shared folds, and train it on all rows.

First the quick candidates of the first stage answer all held-out rows; then a stack learns from their answers, fold by
fold. Where the stack is no better, two of the first stage may answer together. The preset "best" also tries slow
candidates, and averages of up to three of all.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from untwin.classify.linear import LinearSVM
from untwin.classify.stack import StackedClassifier
from untwin.crossfit.folds import exclude_small_classes
from untwin.crossfit.together import HeldOutScores, PreparedFold, SharedFolds, in_threads
from untwin.model.chance import chance_of_guessing
from untwin.model.ensemble import Ensemble
from untwin.model.learning import WHOLE, PointKeeper, passes_of
from untwin.model.out_of_fold import OutOfFoldAnswers
from untwin.model.selection.averages import Averages
from untwin.model.selection.candidates import STACK, SVM, DataProfile, first_stage, slow_candidates
from untwin.model.selection.comparison import Candidate, Comparison, Member, binomial_interval, paired_interval, records
from untwin.model.selection.sampling import can_hold_out, sample_rows
from untwin.model.selection.second_stage import HeldOutSecondStage
from untwin.model.selection.strength import choose_strength, usual_strength

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin._types import Array, Floats32, Indices
    from untwin.classify.stack import FirstStageAnswers
    from untwin.model.features.view import PreparedRows, View
    from untwin.model.learning import LearningState
    from untwin.model.selection.comparison import CandidateResult

MOST_HELD = 0.8  # share of the rows: a second stage does not know the classes of the others, and would seem too good
MOST_MEMBERS = 3  # of an average: a fourth costs as much again and adds next to nothing
TIE = 2.0  # standard errors by which an average may be behind: folds see no difference
CANNOT = "cannot take these rows: {}"
TOO_LATE = "not tried: the time budget was used up"


class Selection(NamedTuple):
    """All rows as the models take them, the chosen ensemble, its answers, all candidates, and the scores to expect.

    `learning`: what learning goes on from; None if no row could be held out.
    """

    prepared: PreparedRows
    ensemble: Ensemble
    answers: OutOfFoldAnswers
    candidates: list[Candidate]
    scores: dict[str, float]
    learning: LearningState | None


class SelectionRules(NamedTuple):
    """How candidates are chosen; `order` holds the numbers of the classes from low to high."""

    preset: str
    scoring: str
    order: Indices | None
    n_threads: int
    seed: int
    deadline: float

    def profile(self, prepared: Any, n_classes: int) -> DataProfile:
        """Return the profile of prepared rows."""
        return DataProfile.of(prepared, n_classes, seed=self.seed, n_threads=self.n_threads)

    @property
    def too_late(self) -> bool:
        """Whether nothing more is to be tried."""
        return monotonic() > self.deadline


def select_best(view: View, y: Array, parts: Indices | None, rules: SelectionRules) -> Selection:
    """Compare the candidates on the shared folds and train the best on all rows."""
    classes, codes = np.unique(y, return_inverse=True)
    asked = sample_rows(codes, len(classes), rules.seed)
    if parts is None or not can_hold_out(codes[asked], parts[asked]):
        return _without_comparison(view, y, rules)
    folds = exclude_small_classes(codes[asked], np.arange(len(asked)), parts[asked])[0]
    rows = view.rows if len(asked) == len(y) else view.take(asked).rows
    shared = SharedFolds(rows, codes[asked], len(classes), folds, parts[asked], view.preprocessing, rules.n_threads)
    comparison = Comparison(classes, codes[asked], folds, rules.scoring, rules.order)
    prepared = view.prepare(y)
    trials = Trials(view, shared, comparison, rules, rows=prepared.rows, codes=codes)
    trials.run()
    averages = trials.averages()
    winner = (grown := averages.grow())[-1]
    top_class = comparison.top_class(winner.log_p)
    members = tuple(replace(member, model=trials.train(member)) for member in winner.members)
    return Selection(
        prepared,
        Ensemble(members, winner.temperature, classes, top_class),
        OutOfFoldAnswers.of(
            classes,
            asked,
            codes[asked],
            np.where(comparison.held, winner.predicted, -1),
            log_p=winner.log_p,
            folds=folds,
            top_class=top_class,
        ),
        records(comparison, [*trials.results, *grown[1:]], winner, trials.dropped),
        expected_scores(comparison, averages.honest_answers()),
        trials.learning_state(winner.members),
    )


class Trials:
    """The candidates of a preset, their results so far, and what the stack has to learn from.

    `rows` are all prepared rows, of which the models of the first stage are trained beside the folds, and `codes` their
    classes.
    """

    def __init__(
        self,
        view: View,
        shared: SharedFolds,
        comparison: Comparison,
        rules: SelectionRules,
        *,
        rows: Any,
        codes: Indices,
    ) -> None:
        self._view, self._shared, self._comparison, self._rules = view, shared, comparison, rules
        self._rows, self._codes = rows, codes
        self._first: Mapping[str, Any] = {}
        self._trained: dict[str, Any] = {}
        self._answers: FirstStageAnswers
        self._keeper = PointKeeper()
        self.results: list[CandidateResult] = []
        self.dropped: dict[str, str] = {}

    def run(self) -> None:
        """Let the candidates answer."""
        now = self._rules.profile(self._rows, self._shared.n_classes)
        fold, C = None, usual_strength(len(self._shared.codes))
        if self._is_worth_choosing_strength:
            fold = self._shared.prepare(int(self._shared.numbers[0]))
            C = choose_strength(fold, now)
        self._first = first_stage(now, C)
        if self._rules.preset == "fast":
            self._first = {SVM: self._first[SVM]}
        found = self._first_scores(self._first, fold)
        self._first = {name: self._first[name] for name in found}
        for name, model in self._first.items():
            self.results.append(self._comparison.result(name, model, found.pop(name), in_place=True))
        if len(self._first) > 1:
            self._try_stack()
        if self._rules.preset == "best":
            for name, model in slow_candidates(now, C):
                self._try_slow(name, model)

    @property
    def _is_worth_choosing_strength(self) -> bool:
        """Whether C is to be chosen: for counted texts the usual one is as good."""
        chosen_by = ("best",) if self._view.encoder is not None else ("balanced", "best")
        return self._rules.preset in chosen_by and not self._rules.too_late

    def averages(self) -> Averages:
        """Return the averages to choose from; without a stack, which weighs who is right, ties join."""
        if self._rules.preset == "best":
            return Averages(self._comparison, self.results, MOST_MEMBERS)
        return self._pairs() if STACK not in self.tried else Averages(self._comparison, self.results, 1)

    def _pairs(self) -> Averages:
        """Return the averages of two."""
        return Averages(self._comparison, self.results, 2, tie=TIE)

    @property
    def tried(self) -> list[str]:
        """The names of the candidates that have a result."""
        return [result.name for result in self.results]

    def train(self, member: Member) -> Any:
        """Return the model of a member, trained on all rows."""
        classes = self._comparison.classes
        if member.name in self._trained:
            model = copy(self._trained[member.name])
            model.classes_ = classes
            return model
        y, model = classes[self._codes], clone(member.model)
        for part in _linear_svms(model):
            part.n_jobs, part.passes = self._rules.n_threads, passes_of(part)  # folds shared the threads so far
        if not isinstance(model, StackedClassifier):
            return model.fit(self._rows, y)
        model.n_jobs = self._rules.n_threads
        return model.fit(self._rows, y, answers=self._answers, models=list(self._trained.values()))

    def _first_scores(self, models: Mapping[str, Any], fold: PreparedFold | None) -> dict[str, HeldOutScores]:
        """Return the scores of the first stage; one that fails on some rows is dropped, but not the SVM."""
        try:
            return self._scores_beside_training(models, fold)
        except ValueError:
            found: dict[str, HeldOutScores] = {}
            for name, model in models.items():
                try:
                    found |= self._scores_beside_training({name: model}, fold)
                except ValueError as error:
                    if name == SVM:
                        raise
                    self.dropped[name] = CANNOT.format(error)
            return found

    def _scores_beside_training(self, models: Mapping[str, Any], fold: PreparedFold | None) -> dict[str, HeldOutScores]:
        """Return scores of held-out rows; the models of all rows are trained by the same threads, largest job first."""

        def train(n_jobs: int) -> None:
            for name, model in models.items():
                kept = clone(model)
                for part in _linear_svms(kept):
                    part.n_jobs, part.passes = n_jobs, passes_of(part)
                self._trained[name] = self._keeper.keep(WHOLE, kept.fit(self._rows, self._codes))

        return self._shared.scores(models, fold, beside=[train], fit=self._keeper.fit)

    def learning_state(self, members: tuple[Member, ...]) -> LearningState:
        """Return what learning goes on from, if a linear SVM is among these members or below their stack."""
        kept = self._keeper if any(_linear_svms(member.model) for member in members) else PointKeeper()
        return kept.state(self._shared.parts)

    def _try_stack(self) -> None:
        """Let a second stage learn from the out-of-fold answers of the first."""
        comparison = self._comparison
        if len(self._shared.numbers) < 2 or comparison.held.sum() < MOST_HELD * len(comparison.codes):
            self.dropped[STACK] = "too few rows can be held out"
            return
        temperatures = np.array([result.members[0].temperature for result in self.results])
        second = HeldOutSecondStage(self._shared, self._first, temperatures, [result.log_p for result in self.results])
        self._answers = second.answers
        rival = self._pairs().grow()[-1]
        stack = self._stack(second, rival)
        if stack is not None and self._is_better(stack, rival):
            self.results.append(stack)
        else:
            self.dropped[STACK] = "not better than the best of the others, or two of them together, beyond chance"

    def _is_better(self, stack: CandidateResult, rival: CandidateResult) -> bool:
        """Tell whether a stack has more rows right than its rival beyond chance: what it learns from knows the labels.

        It is also harder to explain, larger, and slower to answer.
        """
        right = self._comparison.right
        return paired_interval(right(stack), right(rival))[1] > 0

    def _is_ahead(self, scores: Floats32, rival: CandidateResult, rows: Indices) -> bool:
        """Tell whether the largest scores have more of these rows right than the rival."""
        truth = self._comparison.codes[rows]
        return bool((scores[rows].argmax(axis=1) == truth).sum() > (rival.predicted[rows] == truth).sum())

    def _stack(self, second: HeldOutSecondStage, rival: CandidateResult) -> CandidateResult | None:
        """Return the result of a stack; None if it has no more rows of the first fold right than its rival."""
        comparison = self._comparison
        model = StackedClassifier(list(self._first.items()))
        scores = np.full((len(comparison.codes), self._shared.n_classes), np.nan, dtype=np.float32)

        def work(fold: int) -> float:
            """Let a second stage answer the rows of a fold; return processor seconds."""
            start = thread_time()
            scores[second.rows_of(fold)] = second.scores(fold, model.C)
            return thread_time() - start

        numbers = np.unique(second.folds).tolist()
        seconds = work(numbers[0])
        if not self._is_ahead(scores, rival, second.rows_of(numbers[0])):
            return None
        seconds += sum(in_threads(work, numbers[1:], self._rules.n_threads))
        seconds += sum(result.seconds for result in self.results)
        return comparison.result(STACK, model, HeldOutScores(scores, seconds), in_place=True)

    def _try_slow(self, name: str, model: Any) -> None:
        if self._rules.too_late:
            self.dropped[name] = TOO_LATE
            return
        try:
            found = self._shared.scores({name: model})[name]
        except ValueError as error:  # one candidate that fails on these rows must not stop the others
            self.dropped[name] = CANNOT.format(error)
        else:
            self.results.append(self._comparison.result(name, model, found, in_place=True))


def _linear_svms(model: Any) -> list[LinearSVM]:
    """Return the linear SVMs of a model: itself, or those of the first stage of a stack."""
    parts = [part for _, part in model.estimators] if isinstance(model, StackedClassifier) else [model]
    return [part for part in parts if isinstance(part, LinearSVM)]


def _without_comparison(view: View, y: Array, rules: SelectionRules) -> Selection:
    """Return the linear SVM trained on all rows, for data where no row can be held out and nothing can be compared."""
    prepared = view.prepare(y)
    now = rules.profile(prepared.rows, len(np.unique(y)))
    svm = first_stage(now, usual_strength(len(y)))[SVM]
    svm.set_params(passes=passes_of(svm), resumable=False)
    member = Member(SVM, svm.fit(prepared.rows, y), 1.0)
    note = "no class has two distinct rows that could be held out in turn, so nothing was compared"
    nothing = (None,) * 7
    return Selection(
        prepared,
        Ensemble((member,), 1.0, np.unique(y)),
        OutOfFoldAnswers.nothing(y),
        [Candidate(SVM, *nothing, 0.0, True, note)],
        {},
        None,
    )


def expected_scores(comparison: Comparison, answers: Indices) -> dict[str, float]:
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
