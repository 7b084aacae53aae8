"""`Taxonomy`: the classes of a model, with ids that are never used again; a value.

Glossary
--------
id           "c1", "c2", ...: what a class is called for ever, however it is renamed
name         the label of its rows now; no two active classes have the same
retired      a class without rows of its own from now on; `replaced_by` says which classes have taken its place
heir         a class that has taken the place of another, and the share of its rows that went there
former name  what a class was called before, and until when
link         two classes that are "also see" to each other, as a pair of ids, the smaller number first
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

from untwin._wording import close_match, format_count
from untwin.taxonomy.limits import (
    LONGEST_NAME,
    MOST_CLASSES,
    MOST_LINKS,
    is_name,
    refuse,
    require_name,
    require_text,
    require_time,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_ID = re.compile(r"c([1-9][0-9]{0,8})")
SHOWN = 5


class Heir(NamedTuple):
    """A class that has taken the place of a retired one, by id, and the share of the rows that went there."""

    id: str
    share: float


class FormerName(NamedTuple):
    """What a class was called until some moment."""

    name: str
    until: str


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """One class of a taxonomy; ids stand for other classes. `since`: when it last changed."""

    id: str
    name: str
    definition: str = ""
    parent: str | None = None
    retired: bool = False
    replaced_by: tuple[Heir, ...] = ()
    former: tuple[FormerName, ...] = ()
    since: str = ""

    def __post_init__(self) -> None:
        number_of_id(self.id)
        require_name(self.name)
        require_text(self.definition, f"The definition of {self.name!r}")
        require_time(self.since)
        for name, until in self.former:
            require_name(name, "A former name")
            require_time(until)
        if type(self.retired) is not bool or (self.replaced_by and not self.retired):
            raise refuse(f"Class {self.name!r} must be retired to be replaced. Got an active one instead.")
        shares = [heir.share for heir in self.replaced_by]
        if any(type(share) is not float or not 0 <= share <= 1 for share in shares) or sum(shares) > 1 + 1e-6:
            raise refuse(
                f"The shares of what replaces {self.name!r} must add up to at most 1. Got {shares[:5]} instead."
            )

    @property
    def status(self) -> str:
        """In one word."""
        return "retired" if self.retired else "active"


@dataclass(frozen=True)
class Taxonomy:
    """Classes by id, and links between them. It is checked when it is made, equal by content, and never changes.

    Examples
    --------
    >>> taxonomy = Taxonomy.of(["bill", "invoice", "printer"])
    >>> taxonomy
    Taxonomy(3 classes)
    >>> taxonomy.find("invoice").id, taxonomy.names
    ('c2', ('bill', 'invoice', 'printer'))
    """

    classes: tuple[ClassEntry, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    next_number: int = field(default=1)

    def __post_init__(self) -> None:
        if len(self.classes) > MOST_CLASSES or len(self.links) > MOST_LINKS:
            raise refuse(f"A taxonomy must have at most {MOST_CLASSES:,} classes and {MOST_LINKS:,} links. Got more.")
        if len(self.by_id) < len(self.classes) or len(self.by_name) < len(self.active):
            raise refuse("Each class must have an id, and each active class a name, of its own. Got one twice instead.")
        largest = max((number_of_id(entry.id) for entry in self.classes), default=0)
        if type(self.next_number) is not int or not largest < self.next_number <= 10**9:
            raise refuse(f"The next id must be one that no class has had. Got number {self.next_number} instead.")
        for entry in self.classes:
            self._require_known(entry)
        self._require_trees()
        for pair in self.links:
            known = len(pair) == 2 and all(one in self.by_id for one in pair)
            if not known or number_of_id(pair[0]) >= number_of_id(pair[1]):
                raise refuse(f"A link must be of two classes, the smaller id first. Got {pair} instead.")

    def __repr__(self) -> str:
        retired = len(self.classes) - len(self.active)
        return f"Taxonomy({format_count(len(self.active), 'class', 'classes')}{f', {retired} retired' * (retired > 0)})"

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Return a taxonomy of classes with these names, but for those that no class can have."""
        entries = tuple(ClassEntry(f"c{number}", name) for number, name in enumerate(filter(is_name, names), 1))
        return cls(entries, (), len(entries) + 1)

    @cached_property
    def by_id(self) -> dict[str, ClassEntry]:
        """All classes."""
        return {entry.id: entry for entry in self.classes}

    @cached_property
    def active(self) -> tuple[ClassEntry, ...]:
        """The classes that are not retired."""
        return tuple(entry for entry in self.classes if not entry.retired)

    @cached_property
    def by_name(self) -> dict[str, ClassEntry]:
        """Active classes by their names now."""
        return {entry.name: entry for entry in self.active}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of active classes."""
        return tuple(entry.name for entry in self.active)

    @cached_property
    def _former(self) -> dict[str, ClassEntry]:
        """Classes by names that no active class has: of retired ones, and former names; the latest wins."""
        found = {name: entry for entry in self.classes for name, _ in entry.former}
        return {**found, **{entry.name: entry for entry in self.classes if entry.retired}}

    def knows(self, name: str) -> bool:
        """Tell whether any class has, or had, this name or id."""
        return name in self.by_name or name in self.by_id or name in self._former

    def find(self, name: str) -> ClassEntry:
        """Return a class by its name, its id, or a name that it had; raise InputError if there is none."""
        found = self.by_name.get(name) or self.by_id.get(name) or self._former.get(name)
        if found is None:
            near = close_match(str(name)[:LONGEST_NAME], [*self.by_name][:MOST_CLASSES])
            known = ", ".join(map(repr, self.names[:SHOWN]))
            hint = f"Did you mean {near!r}?" if near is not None else f"Known classes: {known}, ..."
            raise refuse(f"There is no class {str(name)[:60]!r}.", code="unknown-class", hint=hint)
        return found

    def heirs(self, name: str) -> tuple[tuple[ClassEntry, float], ...]:
        """Return the active classes that stand for a name now, each with its share of what the name was.

        Nothing where the class was retired without an heir.

        >>> taxonomy = Taxonomy((ClassEntry("c1", "bill", retired=True, replaced_by=(Heir("c2", 1.0),)),
        ...     ClassEntry("c2", "invoice")), (), 3)
        >>> [(entry.name, share) for entry, share in taxonomy.heirs("bill")]
        [('invoice', 1.0)]
        """
        found, left = dict[str, float](), {self.find(name).id: 1.0}
        while left:
            following: dict[str, float] = {}
            for one, share in left.items():
                entry = self.by_id[one]
                if not entry.retired:
                    found[one] = found.get(one, 0.0) + share
                for heir in entry.replaced_by:
                    following[heir.id] = following.get(heir.id, 0.0) + share * heir.share
            left = following
        return tuple((self.by_id[one], found[one]) for one in sorted(found, key=number_of_id))

    def heir(self, name: str) -> str | None:
        """Return the name that all of a class has now; None if it has several heirs or none."""
        found = self.heirs(name)
        return found[0][0].name if len(found) == 1 and found[0][1] > 1 - 1e-9 else None

    def children(self, entry: ClassEntry) -> list[ClassEntry]:
        """Return the active classes directly below one."""
        return [other for other in self.active if other.parent == entry.id]

    def replacing(self, changed: Iterable[ClassEntry], links: Iterable[tuple[str, str]] | None = None) -> Taxonomy:
        """Return the taxonomy with some classes changed, new ones at the end; `links`: all that there are then."""
        entries = {**self.by_id, **{entry.id: entry for entry in changed}}
        numbers = [number_of_id(one) + 1 for one in entries.keys() - self.by_id.keys()]
        kept = self.links if links is None else tuple(sorted(set(links), key=lambda pair: [*map(number_of_id, pair)]))
        return Taxonomy(tuple(entries.values()), kept, max([self.next_number, *numbers]))

    def covering(self, names: Iterable[str], at: str = "") -> Taxonomy:
        """Return the taxonomy with a class for each of these names that one can have; itself if it has them all."""
        new = [name for name in dict.fromkeys(filter(is_name, names)) if name not in self.by_name]
        entries = [ClassEntry(f"c{self.next_number + place}", name, since=at) for place, name in enumerate(new)]
        return self.replacing(entries) if new else self

    def _require_known(self, entry: ClassEntry) -> None:
        """Refuse a class that names classes that there are not."""
        unknown = {heir.id for heir in entry.replaced_by} - self.by_id.keys()
        above = self.by_id.get(entry.parent or "")
        if entry.parent is not None and (above is None or (above.retired and not entry.retired)):
            unknown.add(entry.parent)
        if unknown:
            said = f"Class {entry.name!r} must refer to classes that there are, and be below an active one"
            raise refuse(f"{said}. Got {min(unknown)!r} instead.")

    def _require_trees(self) -> None:
        """Refuse parents or heirs that lead back to where they began."""
        for said, below in (
            ("parents", {entry.id: [entry.parent] if entry.parent else [] for entry in self.classes}),
            ("heirs", {entry.id: [heir.id for heir in entry.replaced_by] for entry in self.classes}),
        ):
            if (first := _in_circle(below)) is not None:
                name = self.by_id[first].name
                raise refuse(f"The {said} of a class must not lead back to it. Got those of {name!r} instead.")


def _in_circle(below: dict[str, list[str]]) -> str | None:
    """Return something from which one gets back to it, if there is any; each is looked at once."""
    open_, done = set[str](), set[str]()
    for first, others in below.items():
        way = [(first, iter(others))] if first not in done else []
        open_.update(one for one, _ in way)
        while way:
            one, rest = way[-1]
            other = next(rest, None)
            if other in open_:
                return other
            if other is None:
                way.pop()
                open_.discard(one)
                done.add(one)
            elif other not in done:
                open_.add(other)
                way.append((other, iter(below[other])))
    return None


def number_of_id(one: str) -> int:
    """Return the number in an id; raise InputError for what is no id."""
    found = _ID.fullmatch(one) if type(one) is str else None
    if found is None:
        raise refuse(f"The id of a class must be c and a number. Got {str(one)[:60]!r} instead.")
    return int(found[1])


def linked(a: ClassEntry, b: ClassEntry) -> tuple[str, str]:
    """Return a link between two classes."""
    first, second = sorted((a.id, b.id), key=number_of_id)
    return first, second


def renamed_entry(entry: ClassEntry, name: str, at: str) -> ClassEntry:
    """Return a class under another name, its name before noted."""
    former = (*entry.former, FormerName(entry.name, at))
    return replace(entry, name=name, former=tuple(one for one in former if one.name != name), since=at)
