"""Small values that `UntwinClassifier` returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from platform import python_version
from typing import Any, NamedTuple

from untwin._wording import format_count

PACKAGES = ("untwin", "scikit-learn", "scipy", "numpy", "numba", "polars")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that determine what a model computes."""
    return {"python": python_version()} | {name: _version(name) for name in PACKAGES}


@cache
def _version(package: str) -> str:
    from importlib.metadata import version  # slow to import, and not needed by a model that only answers

    return version(package)


class Effect(NamedTuple):
    """An accuracy before and after, on the same held-out rows, and the 95 % interval of the difference (paired)."""

    before: float
    after: float
    low: float
    high: float

    def __str__(self) -> str:
        change = 100 * (self.after - self.before)
        return f"{change:+.2f} points [{100 * self.low:+.2f}, {100 * self.high:+.2f}]"


class Flip(NamedTuple):
    """A training row with its label now, and the answers of models that had not seen it, before and after."""

    row: Any
    label: Any
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateReport:
    """What a change did: `add`, `relabel` or `remove`.

    Attributes
    ----------
    n_rows : int
        Rows added, relabelled or removed.
    n_learnt_before : int
        Added rows that equal a training row: they are learnt, but do not count in `accuracy_before`.
    accuracy_before : float or None
        Share of the other rows that the model answered right before it learnt them; a class new to it counts as wrong.
        None if there are no such rows.
    new_classes, lost_classes : tuple
    n_new_terms : int
        New terms of texts that a person can read, not runs of characters; for a table, its new words and names.
    label_effect : Effect or None
        The same held-out answers, judged by the labels before and after. None if no row was held out before and after.
    model_effect : Effect or None
        Answers before and after, both judged by the labels after.
    flipped : tuple of Flip
        The rows whose held-out answer is another one.
    twins_gone, twins_new : tuple of pairs of classes
        Classes that were often confused, and are no longer; and the other way round.
    refitted : tuple of str
        The members of the ensemble, which were trained on.
    fitted_anew : str
        Why the model was fitted from nothing, with a new selection; empty if it was not.
    """

    n_rows: int
    n_learnt_before: int = 0
    accuracy_before: float | None = None
    new_classes: tuple[Any, ...]
    lost_classes: tuple[Any, ...]
    n_new_terms: int
    label_effect: Effect | None
    model_effect: Effect | None
    flipped: tuple[Flip, ...]
    twins_gone: tuple[tuple[Any, Any], ...]
    twins_new: tuple[tuple[Any, Any], ...]
    refitted: tuple[str, ...]
    fitted_anew: str = ""

    def __str__(self) -> str:
        told = [format_count(self.n_rows, "row", "rows")]
        told += [f"{self.n_learnt_before} of them learnt before"] if self.n_learnt_before else []
        if self.accuracy_before is not None:
            told.append(f"accuracy {self.accuracy_before:.4f} before they were learnt")
        told += [f"new classes: {', '.join(map(str, self.new_classes))}"] if self.new_classes else []
        told += [format_count(self.n_new_terms, "new term", "new terms")] if self.n_new_terms else []
        told += [f"labels: {self.label_effect}"] if self.label_effect is not None else []
        told += [f"model: {self.model_effect}"] if self.model_effect is not None else []
        told.append(f"{format_count(len(self.flipped), 'answer', 'answers')} flipped")
        told += [f"fitted anew: {self.fitted_anew}"] if self.fitted_anew else []
        told += [f"trained again: {', '.join(self.refitted)}"] if self.refitted else []
        return "; ".join(told)


@dataclass(frozen=True, slots=True)
class Drift:
    """How labelled rows that a model has not learnt differ from those that it has.

    Attributes
    ----------
    accuracy_expected : float or None
        What the fit promised of new rows; `UpdateReport.accuracy_before` says what came.
    without_evidence : float
        Share of the rows that are texts without a known term.
    class_shares : float
        Share of the rows that would have to be of another class for the classes to occur as often as before.
    """

    accuracy_expected: float | None
    without_evidence: float
    class_shares: float
