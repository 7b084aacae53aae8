"""View 4: the tree of classes, cut into named groups; how sure the cut is; links across it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from untwin._values import positions
from untwin.report.record import Record, table

if TYPE_CHECKING:
    import polars as pl

    from untwin.report.study import Study


@dataclass(frozen=True)
class Group(Record):
    """Classes that are confused alike; the name is made of the terms that set them apart from the others."""

    name: str
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Link(Record):
    """Two classes of different parents, or groups, that are confused nevertheless: an "also see".

    `confused` is the rate of the pair (view 2).
    """

    a: str
    b: str
    parent_a: str
    parent_b: str
    confused: float


@dataclass(frozen=True)
class Tree(Record):
    """Groups in tree order, the merges as in SciPy with their distances, and the range of the number of groups.

    Groups are those of the cut into `cut` parts, of which any that is not confused with itself is taken apart further.
    `low` and `high` are the middle 90 % of the cuts that resampled confusions suggest. `links` lead across the
    owner's tree where the model knows one (`known`), else across the groups that were found.
    """

    groups: tuple[Group, ...]
    cut: int
    low: int
    high: int
    merges: tuple[tuple[int, int], ...]
    distances: tuple[float, ...]
    links: tuple[Link, ...]
    known: bool

    @classmethod
    def of(cls, study: Study) -> Tree:
        """Read the tree from a study."""
        tree, found = study.model.hierarchy_, study.group_range
        groups = (
            Group(name, tuple(study.names[number] for number in members.tolist()))
            for name, members in zip(study.group_names, study.groups, strict=True)
        )
        merges = tuple((left, right) for left, right in tree.merges.tolist())
        return cls(
            tuple(groups),
            found.n_groups,
            found.low,
            found.high,
            merges,
            tuple(tree.heights.tolist()),
            _links(study),
            known=study.model.parents_ is not None,
        )

    def frame(self) -> pl.DataFrame:
        """Return one row a class with its group."""
        return table(
            [
                {"group": number, "name": group.name, "class": name}
                for number, group in enumerate(self.groups, start=1)
                for name in group.classes
            ]
        )


def _links(study: Study) -> tuple[Link, ...]:
    """Return links across the owner's tree, or across the groups found here where there is none."""
    ends = [positions([link.a, link.b], study.model.classes_).tolist() for link in study.links]
    rates = [float(study.pair_rates[a, b]) for a, b in ends]
    found = (
        Link(str(link.a), str(link.b), str(link.known_a), str(link.known_b), rate)
        for link, rate in zip(study.links, rates, strict=True)
    )
    return tuple(sorted(found, key=lambda link: -link.confused))
