"""All experiments, paper by paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from papers.hierarchies.experiments import EXPERIMENTS as HIERARCHIES
from papers.latent.experiments import EXPERIMENTS as LATENT
from papers.sprinkling.experiments import EXPERIMENTS as SPRINKLING
from papers.weights.experiments import EXPERIMENTS as WEIGHTS
from untwin._errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from papers.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (*SPRINKLING, *HIERARCHIES, *WEIGHTS, *LATENT)


def chosen(paper: str, only: Sequence[str] = ()) -> list[Experiment]:
    """Return the experiments of a paper, or of all; of them those named, if any are.

    >>> [experiment.name for experiment in chosen("weights")]
    ['accuracy', 'puzzle', 'similarity']
    """
    found = [experiment for experiment in EXPERIMENTS if paper in ("all", experiment.paper)]
    if unknown := set(only) - {experiment.name for experiment in found}:
        known = ", ".join(experiment.name for experiment in found)
        raise InputError(
            f"There is no experiment {unknown.pop()!r} in {paper}.",
            code="unknown-experiment",
            hint=f"There are: {known}.",
        )
    return [experiment for experiment in found if not only or experiment.name in only]
