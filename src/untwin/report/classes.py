"""View 5: a class: its size, how well it is found, its nearest classes, its terms, labels that look wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.model.findings.telling import ASKED, telling_terms
from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.report.study import Study

N_NEAREST = 5
N_TERMS = 8
N_DOUBTFUL = 5


@dataclass(frozen=True)
class Class(Record):
    """One class; `nearest` are numbers of classes, `confused` the rates of the pairs (view 2).

    `doubtful` are positions of documents (view 6) whose label looks wrong, the surest first, of `n_doubtful`. The
    `definition` is empty where none is written down.
    """

    name: str
    group: int
    rows: int
    judged: int
    precision: float
    recall: float
    f1: float
    nearest: tuple[int, ...]
    confused: tuple[float, ...]
    terms: tuple[str, ...]
    n_doubtful: int
    doubtful: tuple[int, ...]
    definition: str


@dataclass(frozen=True)
class Classes(Record):
    """All classes, in the order of their numbers."""

    classes: tuple[Class, ...]

    @classmethod
    def of(cls, study: Study) -> Classes:
        """Read the classes from a study."""
        group, near = _group_of(study), study.pair_rates
        measured = zip(*(measure.tolist() for measure in study.class_measures), strict=True)
        return cls(tuple(_class(study, group, near, number, one) for number, one in enumerate(measured)))

    def frame(self) -> pl.DataFrame:
        """Return one row a class."""
        return table([_flat(one, self.classes) for one in self.classes])


def _class(study: Study, group: list[int], near: Any, number: int, measured: tuple[int, float, float, float]) -> Class:
    judged, precision, recall, f1 = measured
    nearest, confused = _nearest(near, number)
    doubtful = study.doubtful[study.answers.true[study.doubtful] == number]
    return Class(
        name=study.names[number],
        group=group[number],
        rows=int(study.answers.sizes[number]),
        judged=judged,
        precision=precision,
        recall=recall,
        f1=f1,
        nearest=nearest,
        confused=confused,
        terms=_terms(study, number),
        n_doubtful=len(doubtful),
        doubtful=tuple(doubtful[:N_DOUBTFUL].tolist()),
        definition=study.definition(study.model.classes_[number]),
    )


def _group_of(study: Study) -> list[int]:
    group = np.zeros(len(study.names), dtype=np.intp)
    for number, members in enumerate(study.groups):
        group[members] = number
    return group.tolist()


def _nearest(near: Any, number: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the classes most often mixed up with this one, and how often."""
    here = slice(near.indptr[number], near.indptr[number + 1])
    others, rates = near.indices[here], near.data[here]
    best = np.argsort(-rates, kind="stable")[:N_NEAREST]
    return tuple(others[best].tolist()), tuple(rates[best].tolist())


def _terms(study: Study, number: int) -> tuple[str, ...]:
    if study.contingency is None:
        return ()
    found = study.contingency.top_terms(study.model.classes_[number], ASKED * N_TERMS)
    return tuple(str(study.evidence.spell(one.term)) for one in telling_terms(found, N_TERMS))


def _flat(one: Class, classes: tuple[Class, ...]) -> dict[str, Any]:
    return {
        "class": one.name,
        "group": one.group + 1,
        "rows": one.rows,
        "precision": one.precision,
        "recall": one.recall,
        "f1": one.f1,
        "nearest": ", ".join(classes[number].name for number in one.nearest),
        "terms": ", ".join(one.terms),
        "doubtful": one.n_doubtful,
    }
