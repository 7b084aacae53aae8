"""The trials of `AdaptiveSprinkling` with their out-of-fold accuracy, and the chosen one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from untwin._values import html_table

if TYPE_CHECKING:
    import polars as pl

    from untwin.tables.confusion import Confusion

SHOWN = 10


@dataclass(frozen=True, slots=True)
class Representation:
    """One way to represent rows.

    Attributes
    ----------
    terms : str
        "raw": the rows as they are; "lsi": their plain latent space; a plan: their space sprinkled by it; "": not used.
    strength : float or None
        Sprinkled columns a class, on average, as a multiple of the mean squared length of a row; the maximum
        sprinkling length where one was given.
    n_components : int or None
        Dimensions of the space of terms.
    scores : str
        Coordinates of the score space, used beside the terms or alone; "": none.
    """

    terms: str = ""
    strength: float | None = None
    n_components: int | None = None
    scores: str = ""

    @property
    def sprinkled(self) -> bool:
        """Whether class columns are sprinkled."""
        return self.strength is not None

    def __str__(self) -> str:
        if self.terms == "raw":
            return "raw rows"
        space = "" if not self.terms else f"{'LSI' if self.terms == 'lsi' else self.terms}, k = {self.n_components}"
        space += "" if self.strength is None else f", strength {self.strength:g}"
        return " + ".join(part for part in (space, self.scores and f"scores ({self.scores})") if part)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A representation and the out-of-fold confusion of the classifier on it."""

    representation: Representation
    confusion: Confusion

    @property
    def accuracy(self) -> float:
        """Share of the held-out rows that are classified right."""
        return self.confusion.accuracy


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Choices:
    """All trials, simplest representation first; made by `AdaptiveSprinkling`.

    Accuracies are out of fold, but the largest of many is a little too high: report accuracy on a separate test set.
    """

    trials: tuple[Trial, ...]

    @property
    def chosen(self) -> Trial:
        """The most accurate trial; of equally accurate ones the simplest."""
        return max(self.trials, key=lambda trial: trial.accuracy)

    @property
    def raw(self) -> Trial:
        """The trial on the rows as they are."""
        return next(trial for trial in self.trials if trial.representation.terms == "raw")

    def describe(self) -> str:
        """Return a sentence about what was chosen and what sprinkling changed."""
        best, raw = self.chosen, self.raw
        told = f"{best.representation}: accuracy {best.accuracy:.4f} out of fold, raw rows {raw.accuracy:.4f}"
        if best.representation.sprinkled:
            return told
        tried = [trial for trial in self.trials if trial.representation.sprinkled]
        if not tried:
            return told
        most = max(tried, key=lambda trial: trial.accuracy)
        return f"{told}; sprinkling does not win: {most.representation} has {most.accuracy:.4f}"

    def frame(self) -> pl.DataFrame:
        """Return one row a trial."""
        import polars as pl

        rows = [
            (str(r), r.terms, r.strength, r.n_components, r.scores, trial.accuracy, trial is self.chosen)
            for trial in self.trials
            for r in [trial.representation]
        ]
        header = ["representation", "terms", "strength", "n_components", "scores", "accuracy", "chosen"]
        types = [pl.String, pl.String, pl.Float64, pl.Int64, pl.String, pl.Float64, pl.Boolean]
        return pl.DataFrame(rows, schema=dict(zip(header, types, strict=True)), orient="row")

    def __repr__(self) -> str:
        return f"Choices({len(self.trials)} trials, {self.describe()})"

    def _repr_html_(self) -> str:
        ranked = sorted(self.trials, key=lambda trial: -trial.accuracy)[:SHOWN]
        rows = [(str(trial.representation), round(trial.accuracy, 4)) for trial in ranked]
        return f"<p>{self.describe()}</p>{html_table(['representation', 'accuracy'], rows)}"
