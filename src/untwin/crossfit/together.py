"""Run several classifiers out of fold together: each fold prepares its rows once, for all of them.

n rows, C classes
codes    n        class of each row, 0 .. C-1
folds    n        the fold that holds a row out; -1: never
parts    n        the fold whose models are *not* trained on a row; -1: all are
scores   n x C    decision values or logarithms of probabilities; -inf for a class that a fold does not know, NaN where
                  never held out
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from untwin import _progress
from untwin._compat import rows_of
from untwin.crossfit.outoffold import class_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from untwin._types import Array, Floats32, Indices


LEAST_SHARE = 0.01  # of the probability that chance would give: no class is ruled out by a vote without it


@dataclass(frozen=True, slots=True, eq=False)
class SharedFolds:
    """Rows, their classes and folds, and the transformers that each fold fits to its own training rows, or None."""

    rows: Any
    codes: Indices
    n_classes: int
    folds: Indices
    parts: Indices
    preprocessing: Any
    n_threads: int = 1

    @property
    def numbers(self) -> Indices:
        """The folds that hold rows out."""
        return np.unique(self.folds[self.folds >= 0])

    def take(self, rows: Indices) -> SharedFolds:
        """Return the same of some rows only."""
        codes, folds, parts = self.codes[rows], self.folds[rows], self.parts[rows]
        return replace(self, rows=rows_of(self.rows, rows), codes=codes, folds=folds, parts=parts)

    def prepare(self, fold: int) -> PreparedFold:
        """Return the rows of a fold, prepared by transformers that have seen its training rows only."""
        train, test = np.flatnonzero(self.parts != fold), np.flatnonzero(self.folds == fold)
        given, asked = rows_of(self.rows, train), rows_of(self.rows, test)
        if self.preprocessing is not None:
            fitted = clone(self.preprocessing)
            given, asked = fitted.fit_transform(given, self.codes[train]), fitted.transform(asked)
        return PreparedFold(fold, given, self.codes[train], asked, self.codes[test], test)

    def scores(
        self,
        models: Mapping[str, Any],
        ready: PreparedFold | None = None,
        *,
        beside: Sequence[Callable[[int], None]] = (),
        fit: Callable[[Any, PreparedFold], Any] | None = None,
        before: Mapping[str, Floats32] | None = None,
    ) -> dict[str, HeldOutScores]:
        """Return the scores of each model for all rows; folds run in threads.

        `ready` is a fold prepared already. `beside` is other work that the same threads do first, so that none of them
        is idle at the end; it is told how many threads it may use. `fit` returns a model that is fitted to a fold's
        training rows, if it is not just a clone of the model. Classes that it does not know keep their scores `before`.
        """
        shape, numbers = (len(self.codes), self.n_classes), self.numbers.tolist()
        found = {name: np.full(shape, np.nan, np.float32) if before is None else before[name].copy() for name in models}
        n_jobs = ceil(self.n_threads / (len(beside) + len(numbers)))

        def work(fold: int) -> dict[str, float]:
            with _progress.silence():
                prepared = ready if ready is not None and ready.number == fold else self.prepare(fold)
                seconds = {}
                for name, model in models.items():
                    start = thread_time() if n_jobs == 1 else perf_counter()
                    fitted = (fit or fit_clone)(_with_threads(model, n_jobs), prepared)
                    known = None if before is None else found[name][prepared.rows]
                    found[name][prepared.rows] = aligned_scores(fitted, prepared.asked, self.n_classes, known)
                    seconds[name] = thread_time() - start if n_jobs == 1 else (perf_counter() - start) * n_jobs
                return seconds

        def work_beside(task: Callable[[int], None]) -> dict[str, float]:
            with _progress.silence():
                task(n_jobs)
            return {}

        jobs = [*(partial(work_beside, task) for task in beside), *(partial(work, fold) for fold in numbers)]
        stage, spent = ", ".join(models), Counter[str]()
        for done, seconds in enumerate(in_threads(lambda job: job(), jobs, self.n_threads), start=1):
            spent.update(seconds)
            _progress.report(stage, done, len(jobs))
        return {name: HeldOutScores(found[name], spent[name]) for name in models}


class HeldOutScores(NamedTuple):
    """Scores of a model for held-out rows, and the processor seconds that they took."""

    scores: Floats32
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class PreparedFold:
    """Number of a fold, its training rows and classes, its held-out rows, their true classes and their numbers."""

    number: int
    train: Any
    codes: Indices
    asked: Any
    truth: Indices
    rows: Indices


def fit_clone(model: Any, prepared: PreparedFold) -> Any:
    """Return a clone of the model, fitted to the training rows of a fold."""
    return clone(model).fit(prepared.train, prepared.codes)


def _with_threads(model: Any, n_jobs: int) -> Any:
    """Return the model, made to use so many threads if it can and is not told otherwise."""
    if n_jobs == 1 or getattr(model, "n_jobs", 1) is not None:
        return model
    return clone(model).set_params(n_jobs=n_jobs)


def aligned_scores(model: Any, rows: Any, n_classes: int, before: Floats32 | None = None) -> Floats32:
    """Return scores of a model whose classes are numbers, one column for each of `n_classes`; probabilities as logs.

    Classes that the model does not know have the scores `before`, or else none.
    """
    found: Any = class_scores(model, rows)[0]
    known = found if hasattr(model, "decision_function") else log_shares(found)
    if len(model.classes_) == n_classes:
        return np.asarray(known, dtype=np.float32)
    scores = np.full((len(known), n_classes), -np.inf, dtype=np.float32) if before is None else before
    scores[:, model.classes_] = known
    return scores


def log_shares(P: Any) -> Array:
    """Return logarithms of probabilities; zeros become small, since a few neighbours cannot exclude a class."""
    return np.asarray(np.log(np.maximum(P, LEAST_SHARE / P.shape[1])))


def in_threads(work: Callable[[Any], Any], items: list[Any], n_threads: int) -> Iterator[Any]:
    """Yield what `work` returns for each item, in their order; with one thread without any."""
    if n_threads <= 1 or len(items) <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(work, items)
