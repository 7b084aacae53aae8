"""Changes of a taxonomy, as values: what is to be done, by whom, when and why.

Classes are named by their names, ids, or names that they had. `apply` (in `folding`) does what a change says.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from untwin.taxonomy.classes import ClassEntry, FormerName, Heir, number_of_id
from untwin.taxonomy.limits import MOST_CLASSES, refuse, require_name, require_text, require_time

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxonomyChange:
    """What all changes have: author, time (ISO 8601; empty: not yet made) and reason."""

    kind: ClassVar[str] = ""
    author: str = ""
    at: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        require_text(self.author, "An author")
        require_text(self.reason, "A reason")
        require_time(self.at)

    def classes(self) -> tuple[str, ...]:
        """Return the classes that must be there, as they are named."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Rename(TaxonomyChange):
    """Give a class another name; its id stays, and the old name leads to it."""

    kind: ClassVar[str] = "rename"
    name: str
    to: str

    def classes(self) -> tuple[str, ...]:
        """Return the class."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Merge(TaxonomyChange):
    """Make several classes one: those that are not `into` are retired; `into` may be a new name."""

    kind: ClassVar[str] = "merge"
    names: tuple[str, ...]
    into: str

    def classes(self) -> tuple[str, ...]:
        """Return the classes that are merged."""
        return self.names


@dataclass(frozen=True, slots=True)
class Split(TaxonomyChange):
    """Make new classes of parts of one.

    `rows` are the ids of the rows that move to each new class, `shares` how much of the class that is. Other rows stay,
    or go to the class `rest`, and the class is retired. `where` is a rule instead of `rows`: words of the rows of the
    first new class ("column=value" in a table); the second, if there is one, gets the others.
    """

    kind: ClassVar[str] = "split"
    name: str
    into: tuple[str, ...]
    rest: str | None = None
    rows: tuple[tuple[str, ...], ...] = ()
    shares: tuple[float, ...] = ()
    where: str = ""

    def classes(self) -> tuple[str, ...]:
        """Return the class that is split."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Move(TaxonomyChange):
    """Put a class below another one, or (None) at the top."""

    kind: ClassVar[str] = "move"
    name: str
    parent: str | None = None

    def classes(self) -> tuple[str, ...]:
        """Return the class and its parent."""
        return (self.name,) if self.parent is None else (self.name, self.parent)


@dataclass(frozen=True, slots=True)
class SeeAlso(TaxonomyChange):
    """Say "also see" of two classes."""

    kind: ClassVar[str] = "link"
    a: str
    b: str

    def classes(self) -> tuple[str, ...]:
        """Return both."""
        return (self.a, self.b)


@dataclass(frozen=True, slots=True)
class Define(TaxonomyChange):
    """Say in words what belongs to a class."""

    kind: ClassVar[str] = "define"
    name: str
    definition: str

    def classes(self) -> tuple[str, ...]:
        """Return the class."""
        return (self.name,)


@dataclass(frozen=True, slots=True)
class Retire(TaxonomyChange):
    """Use a class no longer; its rows go to the heir, or have no class any more."""

    kind: ClassVar[str] = "retire"
    name: str
    heir: str | None = None

    def classes(self) -> tuple[str, ...]:
        """Return the class and its heir."""
        return (self.name,) if self.heir is None else (self.name, self.heir)


@dataclass(frozen=True, slots=True)
class Create(TaxonomyChange):
    """Have a new class, which no row has yet."""

    kind: ClassVar[str] = "create"
    name: str
    definition: str = ""
    parent: str | None = None

    def classes(self) -> tuple[str, ...]:
        """Return the parent."""
        return () if self.parent is None else (self.parent,)


@dataclass(frozen=True, slots=True)
class Revert(TaxonomyChange):
    """Undo an earlier change, event number `of`: the classes it touched become `entries`; links come and go."""

    kind: ClassVar[str] = "undo"
    of: int
    entries: tuple[ClassEntry, ...] = ()
    linked: tuple[tuple[str, str], ...] = ()
    unlinked: tuple[tuple[str, str], ...] = ()

    def classes(self) -> tuple[str, ...]:
        """Return the ids of the classes that were touched."""
        return tuple(entry.id for entry in self.entries)


CHANGES: dict[str, type[TaxonomyChange]] = {
    change.kind: change for change in (Rename, Merge, Split, Move, SeeAlso, Define, Retire, Create, Revert)
}


def change_to_json(change: TaxonomyChange) -> dict[str, Any]:
    """Return a change as JSON keeps it.

    >>> change_to_json(Rename("bill", "invoice", reason="as finance calls it"))
    {'kind': 'rename', 'name': 'bill', 'to': 'invoice', 'reason': 'as finance calls it'}
    """
    usual = {one.name: one.default for one in fields(change)}
    content = {name: getattr(change, name) for name in usual if getattr(change, name) != usual[name]}
    if isinstance(change, Revert):
        content["entries"] = [entry_to_json(entry) for entry in change.entries]
    said = ("author", "at", "reason")
    return {"kind": change.kind, **{name: content[name] for name in (*_but(content, said), *said) if name in content}}


def change_from_json(content: Any) -> TaxonomyChange:
    """Return the change that JSON describes, which a stranger may have written; raise InputError if it is none.

    >>> change_from_json({"kind": "merge", "names": ["a", "b"], "into": "a"}).names
    ('a', 'b')
    """
    kind = CHANGES.get(content.get("kind", "")) if isinstance(content, dict) else None
    if kind is None:
        raise refuse(f"A change must be an object with a kind: {', '.join(CHANGES)}. Got {str(content)[:80]} instead.")
    known = {one.name for one in fields(kind)}
    given = {name: value for name, value in content.items() if name != "kind"}
    if given.keys() - known:
        raise refuse(f"A change of kind {kind.kind} has no {min(given.keys() - known)[:60]!r}.")
    try:
        made = kind(**{name: _reader(kind.kind, name)(value) for name, value in given.items()})
    except TypeError:
        raise refuse(
            f"A change of kind {kind.kind} must have all its parts. Got {str(content)[:80]} instead."
        ) from None
    return made


def entry_to_json(entry: ClassEntry) -> dict[str, Any]:
    """Return a class as JSON keeps it, without what is as usual."""
    usual = {one.name: one.default for one in fields(ClassEntry)}
    content = {name: getattr(entry, name) for name in usual if getattr(entry, name) != usual[name]}
    lists = {name: [list(item) for item in content[name]] for name in ("replaced_by", "former") if name in content}
    return content | lists


def entry_from_json(content: Any) -> ClassEntry:
    """Return the class that JSON describes; raise InputError if it is none."""
    readers: dict[str, Any] = {"replaced_by": _heirs, "former": _former, "retired": _as_it_is, "parent": _perhaps}
    if not isinstance(content, dict) or content.keys() - {one.name for one in fields(ClassEntry)}:
        raise refuse(f"A class must be an object with id and name. Got {str(content)[:80]} instead.")
    try:
        return ClassEntry(**{name: readers.get(name, _text)(value) for name, value in content.items()})
    except TypeError:
        raise refuse(f"A class must have an id and a name. Got {str(content)[:80]} instead.") from None


def _reader(kind: str, name: str) -> Any:
    """Return what reads a part of a change of some kind."""
    return _READERS.get(f"{kind} {name}") or _READERS.get(name, _text)


def _but(content: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    return [name for name in content if name not in names]


def _text(value: Any) -> str:
    return require_text(value, "Each part of a change")


def _as_it_is(value: Any) -> Any:
    return value  # its class checks it


def _perhaps(value: Any) -> str | None:
    return None if value is None else require_name(value)


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple) or len(value) > MOST_CLASSES * 10:
        raise refuse(f"Several things must be a list of at most {MOST_CLASSES * 10:,}. Got {str(value)[:80]} instead.")
    return list(value)


def _names(value: Any) -> tuple[str, ...]:
    return tuple(require_name(name) for name in _items(value))


def _numbers(value: Any) -> tuple[float, ...]:
    numbers = _items(value)
    if not all(type(one) in (int, float) and 0 <= one <= 1 for one in numbers):
        raise refuse(f"Shares must be numbers from 0 to 1. Got {str(value)[:80]} instead.")
    return tuple(map(float, numbers))


def _pairs(value: Any) -> list[Any]:
    pairs = _items(value)
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise refuse(f"Pairs must be lists of two. Got {str(value)[:80]} instead.")
    return pairs


def _heirs(value: Any) -> tuple[Heir, ...]:
    return tuple(Heir(_id(one), *_numbers([share])) for one, share in _pairs(value))


def _former(value: Any) -> tuple[FormerName, ...]:
    return tuple(FormerName(require_name(name), require_time(until)) for name, until in _pairs(value))


def _id(value: Any) -> str:
    number_of_id(value)
    return str(value)


def _links(value: Any) -> tuple[tuple[str, str], ...]:
    return tuple((_id(a), _id(b)) for a, b in _pairs(value))


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise refuse(f"The number of an event must be a whole number. Got {str(value)[:60]!r} instead.")
    return value


def _entries(value: Any) -> tuple[ClassEntry, ...]:
    return tuple(entry_from_json(item) for item in _items(value))


_READERS: dict[str, Any] = {
    "names": _names,
    "split into": _names,
    "rest": _perhaps,
    "parent": _perhaps,
    "heir": _perhaps,
    "rows": lambda value: tuple(_names(part) for part in _items(value)),
    "shares": _numbers,
    "of": _number,
    "entries": _entries,
    "linked": _links,
    "unlinked": _links,
}
