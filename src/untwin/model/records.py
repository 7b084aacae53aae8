"""Small values that `UntwinClassifier` returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from platform import python_version
from typing import Any

from untwin._wording import format_count

PACKAGES = ("untwin", "scikit-learn", "scipy", "numpy", "numba", "polars")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that determine what a model computes."""
    return {"python": python_version()} | {name: _version(name) for name in PACKAGES}


@cache
def _version(package: str) -> str:
    from importlib.metadata import version  # slow to import, and not needed by a model that only answers

    return version(package)


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What `add`, `relabel` or `remove` did.

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
    refitted : tuple of str
        Members of the ensemble, trained again on all rows. The selection was not repeated.
    """

    n_rows: int
    n_learnt_before: int
    accuracy_before: float | None
    new_classes: tuple[Any, ...]
    lost_classes: tuple[Any, ...]
    n_new_terms: int
    refitted: tuple[str, ...]

    def __str__(self) -> str:
        told = [format_count(self.n_rows, "row", "rows")]
        told += [f"{self.n_learnt_before} of them learnt before"] if self.n_learnt_before else []
        if self.accuracy_before is not None:
            told.append(f"accuracy {self.accuracy_before:.4f} before they were learnt")
        told += [f"new classes: {', '.join(map(str, self.new_classes))}"] if self.new_classes else []
        told += [format_count(self.n_new_terms, "new term", "new terms")] if self.n_new_terms else []
        told.append(f"trained again: {', '.join(self.refitted)}")
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
