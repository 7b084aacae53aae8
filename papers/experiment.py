"""What an experiment is, and what it finds: plain records that can be written as JSON and drawn later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Rows = Sequence[dict[str, Any]]

Verdict = Literal["holds", "holds in part", "does not hold", "not judged"]

PAPERS = {
    "sprinkling": "Paper 1: supervised latent semantic indexing by adaptive sprinkling",
    "hierarchies": "Paper 2: class trees and a graph of experts from confusion matrices",
    "weights": "Paper 3: term weights that know the labels, for neighbours",
    "latent": "Paper 4: two-factor models of numeric data",
}


@dataclass(frozen=True, slots=True)
class Beside:
    """A figure that the paper prints (`place` says where), ours, and why they differ."""

    what: str
    published: float
    ours: float
    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper asserts in words, whether it holds here, and the figures that say so."""

    assertion: str
    verdict: Verdict
    evidence: str


@dataclass(frozen=True, slots=True)
class Table:
    """Figures in rows; all rows have the same columns."""

    title: str
    rows: Rows
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """Numbers to draw; `kind` says how (see `papers.pages.figures`)."""

    kind: Literal["lines", "heat", "tree", "points"]
    title: str
    content: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that one experiment found."""

    beside: Sequence[Beside] = ()
    claims: Sequence[Claim] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Figure] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment of a paper.

    Attributes
    ----------
    paper, name : str
        Its place; `name` is unique within the paper.
    title : str
    about : str
        What is done, what stands in for data that is not public, and our reading of what the paper leaves open.
    reads : tuple of str
        Files under the folder of data sets.
    run : (data folder, quick) -> Outcome
    """

    paper: str
    name: str
    title: str
    about: str
    reads: tuple[str, ...]
    run: Callable[[Path, bool], Outcome]


def verdict(right: Sequence[bool]) -> Verdict:
    """Say how far an assertion holds that was tested several times.

    >>> verdict([True, True]), verdict([True, False]), verdict([False])
    ('holds', 'holds in part', 'does not hold')
    """
    if all(right):
        return "holds"
    return "holds in part" if any(right) else "does not hold"
