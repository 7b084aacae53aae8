"""Select the best candidate on shared folds, and train it on all rows.

First the quick candidates of the first stage answer all held-out rows; then a stack learns from their answers, fold by
fold. Where the stack is no better, two of the first stage may answer together. The preset "best" also tries slow
candidates, and averages of up to three of all.
"""

from __future__ import annotations

from dataclasses import replace
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from untwin.calibrate.temperature import log_probabilities
from untwin.classify.linear import LinearSVM
from untwin.classify.stack import FirstStageAnswers, StackedClassifier, held_out_scores, stack_features
from untwin.crossfit.folds import exclude_small_classes
from untwin.crossfit.together import HeldOutScores, SharedFolds
from untwin.model.chance import chance_of_guessing
from untwin.model.ensemble import Ensemble
from untwin.model.out_of_fold import OutOfFoldAnswers
from untwin.model.selection.averages import Averages
from untwin.model.selection.candidates import STACK, SVM, DataProfile, first_stage, slow_candidates
from untwin.model.selection.comparison import Candidate, Comparison, Member, binomial_interval, paired_interval, records
from untwin.model.selection.sampling import can_hold_out, sample_rows
from untwin.model.selection.strength import choose_strength, usual_strength

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scipy.sparse import csr_array

    from untwin._types import Array, Indices
    from untwin.model.features.view import View
    from untwin.model.selection.comparison import CandidateResult

STACK_STRENGTHS = (0.1, 0.3)  # C of the second stage: the second for few rows a class
MOST_HELD = 0.8  # share of the rows: a second stage does not know the classes of the others, and would seem too good
FEW_ROWS = 2_000  # up to which a stack is judged by first stages that know neither its fold nor that of its rows
MOST_TWICE = 5_000_000  # rows x classes up to which both are tried
MOST_MEMBERS = 3  # of an average: a fourth costs as much again and adds next to nothing
TIE = 1.0  # standard errors by which an average may be behind: folds see no difference
CANNOT = "cannot take these rows: {}"
TOO_LATE = "not tried: the time budget was used up"


class Selection(NamedTuple):
    """The chosen ensemble, its out-of-fold answers, the records of all candidates, and the scores to expect."""

    ensemble: Ensemble
    answers: OutOfFoldAnswers
    candidates: list[Candidate]
    scores: dict[str, float]


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
    trials = Trials(view, shared, comparison, rules)
    trials.run()
    averages = trials.averages()
    winner = (grown := averages.grow())[-1]
    top_class = comparison.top_class(winner.log_p)
    members = tuple(replace(member, model=trials.train(member, y)) for member in winner.members)
    return Selection(
        Ensemble(members, winner.temperature, classes, top_class),
        OutOfFoldAnswers(
            classes,
            asked,
            codes[asked],
            np.where(comparison.held, winner.predicted, -1),
            top_class(winner.log_p),
            folds,
        ),
        records(comparison, [*trials.results, *grown[1:]], winner, trials.dropped),
        _scores(comparison, averages.honest_answers()),
    )


class Trials:
    """The candidates of a preset, their results so far, and what the stack has to learn from."""

    def __init__(self, view: View, shared: SharedFolds, comparison: Comparison, rules: SelectionRules) -> None:
        self._view, self._shared, self._comparison, self._rules = view, shared, comparison, rules
        self._first: Mapping[str, Any] = {}
        self._answers: FirstStageAnswers
        self._without: dict[int, tuple[csr_array, Indices]] = {}
        self.results: list[CandidateResult] = []
        self.dropped: dict[str, str] = {}

    def run(self) -> None:
        """Let the candidates answer."""
        fold = self._shared.prepare(int(self._shared.numbers[0]))
        prepared = self._view.rows if self._view.preprocessing is None else fold.train
        now = self._rules.profile(prepared, self._shared.n_classes)
        fast = self._rules.preset == "fast"
        C = usual_strength(len(self._shared.codes)) if fast or self._rules.too_late else choose_strength(fold, now)
        self._first = first_stage(now, C)
        if fast:
            self._first = {SVM: self._first[SVM]}
        found = self._first_scores(self._first)
        self._first = {name: self._first[name] for name in found}
        for name, model in self._first.items():
            self.results.append(self._comparison.result(name, self._view.model(model), found.pop(name)))
        if len(self._first) > 1:
            self._try_stack()
        if self._rules.preset == "best":
            for name, model in slow_candidates(now, C):
                self._try_slow(name, model)

    def averages(self) -> Averages:
        """Return the averages to choose from; without a stack, which weighs who is right, ties join."""
        if self._rules.preset == "best":
            return Averages(self._comparison, self.results, MOST_MEMBERS)
        alone = STACK in (result.name for result in self.results)
        return Averages(self._comparison, self.results, 1 if alone else 2, tie=TIE)

    def train(self, member: Member, y: Array) -> Any:
        """Return the model of a member, trained on all rows."""
        model, rows = clone(member.model), self._view.rows
        for part in _linear_svms(model):
            part.n_jobs = self._rules.n_threads  # folds shared them so far
        return model.fit(rows, y, answers=self._answers) if isinstance(model, StackedClassifier) else model.fit(rows, y)

    def _first_scores(self, models: Mapping[str, Any]) -> dict[str, HeldOutScores]:
        """Return the scores of the first stage; one that fails on the rows of some fold is dropped, but not the SVM."""
        try:
            return self._shared.scores(models)
        except ValueError:
            found: dict[str, HeldOutScores] = {}
            for name, model in models.items():
                try:
                    found |= self._shared.scores({name: model})
                except ValueError as error:
                    if name == SVM:
                        raise
                    self.dropped[name] = CANNOT.format(error)
            return found

    def _try_stack(self) -> None:
        """Let a second stage learn from the out-of-fold answers of the first; the better C is kept."""
        comparison, held = self._comparison, np.flatnonzero(self._comparison.held)
        if len(self._shared.numbers) < 2 or len(held) < MOST_HELD * len(comparison.codes):
            self.dropped[STACK] = "too few rows can be held out"
            return
        temperatures = np.array([result.members[0].temperature for result in self.results])
        features = stack_features([comparison.of_held(result.log_p) for result in self.results])
        self._answers = FirstStageAnswers(temperatures, features, comparison.codes[held])
        if len(held) <= FEW_ROWS and len(self._shared.numbers) > 2:
            self._without = {fold: self._answers_without(fold) for fold in self._shared.numbers.tolist()}
        large = len(held) * self._shared.n_classes > MOST_TWICE
        tried = [self._stack(C, held, screened=large) for C in STACK_STRENGTHS[: 1 if large else 2]]
        found = [result for result in tried if result is not None and self._is_better(result)]
        if found:
            self.results.append(max(found, key=lambda result: comparison.score(result.predicted)))
        else:
            self.dropped[STACK] = "not better than the linear SVM beyond chance"

    def _answers_without(self, fold: int) -> tuple[csr_array, Indices]:
        """Return features and classes of the rows of other folds, by models that know neither their fold nor this one.

        The models of other folds have seen the labels of this one, which on few rows lets a stack look better than it
        is: 1.5 points on 240 rows without any signal.
        """
        shared = self._shared.take(np.flatnonzero(self._shared.parts != fold))
        held, found = np.flatnonzero(shared.folds >= 0), shared.scores(self._first)
        warm = (result.members[0].temperature for result in self.results)
        log_p = [log_probabilities(part.scores[held], T) for part, T in zip(found.values(), warm, strict=True)]
        return stack_features(log_p), shared.codes[held]

    def _is_better(self, stack: CandidateResult) -> bool:
        """Tell whether a stack is better than the SVM beyond chance: the models it learns from know the labels."""
        right = self._comparison.right
        return paired_interval(right(stack), right(self.results[0]))[1] > 0

    def _stack(self, C: float, held: Indices, *, screened: bool) -> CandidateResult | None:
        """Return the result of a stack; None if it is `screened` and no better than the SVM on the first fold."""
        start, comparison, n_classes = thread_time(), self._comparison, self._shared.n_classes
        _, features, codes = self._answers
        scores = np.full((len(comparison.codes), n_classes), np.nan, dtype=np.float32)
        folds = comparison.folds[held]
        for number, fold in enumerate(np.unique(folds)):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            learnt = self._without.get(int(fold)) or (features[train], codes[train])
            scores[held[test]] = held_out_scores(*learnt, features[test], n_classes=n_classes, C=C)
            if screened and number == 0:
                right = (scores[held[test]].argmax(axis=1) == codes[test]).mean()
                if right <= (self.results[0].predicted[held[test]] == codes[test]).mean():
                    return None
        seconds = sum(result.seconds for result in self.results) + thread_time() - start
        model = StackedClassifier(list(self._first.items()), preprocessing=self._view.preprocessing, C=C)
        return comparison.result(STACK, model, HeldOutScores(scores, seconds))

    def _try_slow(self, name: str, model: Any) -> None:
        if self._rules.too_late:
            self.dropped[name] = TOO_LATE
            return
        try:
            found = self._shared.scores({name: model})[name]
        except ValueError as error:  # one candidate that fails on these rows must not stop the others
            self.dropped[name] = CANNOT.format(error)
        else:
            self.results.append(self._comparison.result(name, self._view.model(model), found))


def _linear_svms(model: Any) -> Iterator[LinearSVM]:
    """Yield the linear SVMs of a model: its last step, or the first stage of a stack."""
    parts = [part for _, part in model.estimators] if isinstance(model, StackedClassifier) else [model]
    for part in parts:
        last = part[-1] if isinstance(part, Pipeline) else part
        if isinstance(last, LinearSVM):
            yield last


def _without_comparison(view: View, y: Array, rules: SelectionRules) -> Selection:
    """Return the linear SVM trained on all rows, for data where no row can be held out and nothing can be compared."""
    prepared = view.rows if view.preprocessing is None else clone(view.preprocessing).fit_transform(view.rows, y)
    now = rules.profile(prepared, len(np.unique(y)))
    member = Member(SVM, view.model(first_stage(now, 1.0)[SVM]).fit(view.rows, y), 1.0)
    note = "no class has two distinct rows that could be held out in turn, so nothing was compared"
    nothing = (None,) * 7
    return Selection(
        Ensemble((member,), 1.0, np.unique(y)),
        OutOfFoldAnswers.nothing(y),
        [Candidate(SVM, *nothing, 0.0, True, note)],
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
