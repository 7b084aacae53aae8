"""What a change makes of a taxonomy: `apply`, a pure function, and `reverting`, the change that undoes another.

A taxonomy is the fold of `apply` over its changes. New classes get the next ids, in the order in which a change names
them, so that the same changes give the same ids wherever they are made again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from untwin.taxonomy.changes import (
    Create,
    Define,
    Merge,
    Move,
    Rename,
    Retire,
    Revert,
    SeeAlso,
    Split,
    TaxonomyChange,
)
from untwin.taxonomy.classes import ClassEntry, FormerName, Heir, Taxonomy, linked, renamed_entry
from untwin.taxonomy.limits import refuse, require_name

if TYPE_CHECKING:
    from collections.abc import Iterable


def apply(taxonomy: Taxonomy, change: TaxonomyChange) -> Taxonomy:
    """Return the taxonomy after a change; raise InputError if the change cannot be made.

    >>> taxonomy = apply(Taxonomy.of(["bill", "invoice", "printer"]), Merge(("bill", "invoice"), "invoice"))
    >>> taxonomy.names, taxonomy.heir("bill")
    (('invoice', 'printer'), 'invoice')
    """
    return _apply(change, taxonomy)


def fold(changes: Iterable[TaxonomyChange], taxonomy: Taxonomy | None = None) -> Taxonomy:
    """Return the taxonomy after all of these changes, one after the other."""
    found = taxonomy or Taxonomy()
    for change in changes:
        found = apply(found, change)
    return found


def by_ids(taxonomy: Taxonomy, change: TaxonomyChange) -> TaxonomyChange:
    """Return a change that names classes that are there by their ids, so that later names cannot alter its meaning.

    >>> by_ids(Taxonomy.of(["bill", "printer"]), Retire("bill", "printer"))
    Retire(author='', at='', reason='', name='c1', heir='c2')
    """
    at: dict[str, Any] = {}
    for part in ("name", "a", "b", "parent", "heir"):
        value = getattr(change, part, None)
        if value is not None and not isinstance(change, Create):
            at[part] = taxonomy.find(value).id
    if isinstance(change, Create) and change.parent is not None:
        at["parent"] = taxonomy.find(change.parent).id
    if isinstance(change, Merge):
        at["names"] = tuple(taxonomy.find(name).id for name in change.names)
        at["into"] = _id_if_active(taxonomy, change.into)
    if isinstance(change, Split) and change.rest is not None:
        at["rest"] = change.rest if change.rest in change.into else taxonomy.find(change.rest).id
    return replace(change, **at)


def reverting(before: Taxonomy, after: Taxonomy, now: Taxonomy, of: int, *, at: str = "") -> Revert:
    """Return the change that undoes event number `of`, which made `after` of `before`.

    Raise InputError if what it touched has changed since. Classes that it made are retired, since ids are never used
    again: what they were goes back to the classes they came from. Names that it gave go on leading to their classes.
    """
    touched = [one for one, entry in after.by_id.items() if before.by_id.get(one) != entry]
    for one in touched:
        if now.by_id.get(one) != after.by_id[one]:
            name = now.by_id[one].name if one in now.by_id else one
            hint = "Undo that first, or say what is wanted now by another change."
            raise refuse(f"Change {of} cannot be undone: class {name!r} has changed since.", hint=hint)
    origins = [one for one in touched if one in before.by_id and not before.by_id[one].retired]
    entries = [
        _as_before(before.by_id[one], after.by_id[one], at)
        if one in before.by_id
        else _taken_back(after.by_id[one], origins, at)
        for one in touched
    ]
    old, new = set(before.links), set(after.links)
    return Revert(of, tuple(entries), linked=tuple(sorted(old - new)), unlinked=tuple(sorted(new - old)), at=at)


def _as_before(before: ClassEntry, after: ClassEntry, at: str) -> ClassEntry:
    """Return a class as it was before a change, but with the names that it has had."""
    former = (*after.former, FormerName(after.name, at))
    return replace(before, former=tuple(one for one in former if one.name != before.name), since=at)


def _taken_back(entry: ClassEntry, origins: list[str], at: str) -> ClassEntry:
    """Return a class that was made, retired; all of it goes back where there is one class that it came from."""
    heirs = tuple(Heir(one, 1 / len(origins)) for one in origins)
    return replace(entry, retired=True, replaced_by=heirs, parent=None, since=at)


@singledispatch
def _apply(change: TaxonomyChange, taxonomy: Taxonomy) -> Taxonomy:
    raise refuse(f"A change must be one of the known kinds. Got {type(change).__name__} instead.")


@_apply.register
def _(change: Rename, taxonomy: Taxonomy) -> Taxonomy:
    entry = _active(taxonomy, change.name)
    return taxonomy.replacing([renamed_entry(entry, _new_name(taxonomy, change.to), change.at)])


@_apply.register
def _(change: Merge, taxonomy: Taxonomy) -> Taxonomy:
    inputs = list({(entry := _active(taxonomy, name)).id: entry for name in change.names}.values())
    known = _id_if_active(taxonomy, change.into)
    heir = _active(taxonomy, known) if known in taxonomy.by_id else _new(taxonomy, change.into, change.at, 0)
    retired = [entry for entry in inputs if entry.id != heir.id]
    if len({heir.id, *(entry.id for entry in inputs)}) < 2 or (heir.id not in taxonomy.by_id and len(inputs) < 2):
        raise refuse(f"A merge must be of two classes or more. Got {', '.join(map(repr, change.names))} instead.")
    if heir.id not in taxonomy.by_id:
        parents = {entry.parent for entry in inputs}
        heir = replace(heir, parent=parents.pop() if len(parents) == 1 else None)
    kept = [] if any(entry.id == heir.id for entry in inputs) else [heir]
    changed = [_retired(entry, [Heir(heir.id, 1.0)], change.at) for entry in retired]
    heir = replace(heir, since=change.at, parent=None if heir.parent in {one.id for one in retired} else heir.parent)
    changed += [heir] if kept or heir.id in taxonomy.by_id else []
    return _without(taxonomy, changed, dict.fromkeys([entry.id for entry in retired], heir.id), heir.id)


@_apply.register
def _(change: Split, taxonomy: Taxonomy) -> Taxonomy:
    entry = _active(taxonomy, change.name)
    if len(set(change.into)) < len(change.into) or not change.into:
        raise refuse(f"A split must be into new classes, each named once. Got {change.into} instead.")
    if change.rows and len(change.rows) != len(change.into):
        raise refuse("A split must say which rows go to each new class. Got others instead.")
    stays = change.rest is None
    # The name of the class that is split may be taken again by a part of it, if nothing stays behind.
    free = {entry.name} if not stays else set()
    parent = entry.id if stays else entry.parent
    new = [_new(taxonomy, name, change.at, place, free) for place, name in enumerate(change.into)]
    new = [replace(part, parent=parent) for part in new]
    if stays:
        return taxonomy.replacing([replace(entry, since=change.at), *new])
    heirs = _heirs_of_split(taxonomy, change, new)
    children = [replace(child, parent=entry.parent, since=change.at) for child in taxonomy.children(entry)]
    return taxonomy.replacing([_retired(entry, heirs, change.at), *children, *new], _links_without(taxonomy, entry.id))


@_apply.register
def _(change: Move, taxonomy: Taxonomy) -> Taxonomy:
    entry = _active(taxonomy, change.name)
    parent = None if change.parent is None else _active(taxonomy, change.parent).id
    return taxonomy.replacing([replace(entry, parent=parent, since=change.at)])


@_apply.register
def _(change: SeeAlso, taxonomy: Taxonomy) -> Taxonomy:
    a, b = _active(taxonomy, change.a), _active(taxonomy, change.b)
    if a.id == b.id:
        raise refuse(f"A link must be of two classes. Got {a.name!r} twice instead.")
    if linked(a, b) in taxonomy.links:
        raise refuse(f"{a.name!r} and {b.name!r} are linked already.")
    return taxonomy.replacing([], [*taxonomy.links, linked(a, b)])


@_apply.register
def _(change: Define, taxonomy: Taxonomy) -> Taxonomy:
    return taxonomy.replacing([replace(_active(taxonomy, change.name), definition=change.definition, since=change.at)])


@_apply.register
def _(change: Retire, taxonomy: Taxonomy) -> Taxonomy:
    entry = _active(taxonomy, change.name)
    if change.heir is None:
        return _without(taxonomy, [_retired(entry, [], change.at)], {entry.id: entry.parent}, None)
    heir = _active(taxonomy, change.heir)
    if heir.id == entry.id:
        raise refuse(f"The heir of {entry.name!r} must be another class. Got the class itself instead.")
    parent = entry.parent if heir.parent == entry.id else heir.parent
    changed = [_retired(entry, [Heir(heir.id, 1.0)], change.at), replace(heir, parent=parent)]
    return _without(taxonomy, changed, {entry.id: heir.id}, heir.id)


@_apply.register
def _(change: Create, taxonomy: Taxonomy) -> Taxonomy:
    parent = None if change.parent is None else _active(taxonomy, change.parent).id
    new = _new(taxonomy, change.name, change.at, 0)
    return taxonomy.replacing([replace(new, definition=change.definition, parent=parent)])


@_apply.register
def _(change: Revert, taxonomy: Taxonomy) -> Taxonomy:
    unknown = [entry.id for entry in change.entries if entry.id not in taxonomy.by_id]
    if unknown:
        raise refuse(f"Only classes that there are can be changed back. Got {unknown[0]!r} instead.")
    links = (set(taxonomy.links) | set(change.linked)) - set(change.unlinked)
    return taxonomy.replacing(change.entries, links)


def _active(taxonomy: Taxonomy, name: str) -> ClassEntry:
    """Return a class that can be changed."""
    entry = taxonomy.find(name)
    if entry.retired:
        heirs = ", ".join(repr(heir.name) for heir, _ in taxonomy.heirs(entry.id))
        hint = f"It is now {heirs}." if heirs else "It has no heir; undo that first."
        raise refuse(f"Class {entry.name!r} is retired.", code="retired-class", hint=hint)
    return entry


def _new_name(taxonomy: Taxonomy, name: str, free: Iterable[str] = ()) -> str:
    """Return a name that no active class has; it must not look like the id of another class."""
    if require_name(name) in taxonomy.by_name and name not in free:
        raise refuse(f"There is a class {name!r} already.", hint="Choose another name, or merge the two.")
    if name in taxonomy.by_id:
        raise refuse(f"{name!r} is the id of a class.", hint="Choose another name.")
    return name


def _new(taxonomy: Taxonomy, name: str, at: str, place: int, free: Iterable[str] = ()) -> ClassEntry:
    return ClassEntry(f"c{taxonomy.next_number + place}", _new_name(taxonomy, name, free), since=at)


def _retired(entry: ClassEntry, heirs: Iterable[Heir], at: str) -> ClassEntry:
    return replace(entry, retired=True, replaced_by=tuple(heirs), parent=None, since=at)


def _id_if_active(taxonomy: Taxonomy, name: str) -> str:
    """Return the id of an active class by its name or id; the name itself if there is none: it is new."""
    if name in taxonomy.by_name:
        return taxonomy.by_name[name].id
    return name


def _heirs_of_split(taxonomy: Taxonomy, change: Split, new: list[ClassEntry]) -> list[Heir]:
    """Return the parts of a split class with their shares; the rest of it goes to one of them, or to another class."""
    shares = change.shares or (0.0,) * len(new)
    if len(shares) != len(new) or sum(shares) > 1 + 1e-9:
        raise refuse("Each part of a split must have a share, at most 1 together. Got others instead.")
    names = [part.name for part in new]
    last = new[names.index(change.rest)] if change.rest in names else _active(taxonomy, str(change.rest))
    if last.id == taxonomy.find(change.name).id:
        raise refuse(f"The rest of {change.name!r} must go to another class.", hint="Leave it out: it then stays.")
    found = {part.id: share for part, share in zip(new, shares, strict=True)}
    found[last.id] = found.get(last.id, 0.0) + max(0.0, 1.0 - sum(shares))
    return [Heir(one, min(share, 1.0)) for one, share in found.items()]


def _without(taxonomy: Taxonomy, changed: list[ClassEntry], above: dict[str, str | None], heir: str | None) -> Taxonomy:
    """Return the taxonomy with some classes retired, among others that are `changed`.

    What was below a retired class is then below the one that `above` names; its links become those of the heir.
    """
    entries = {entry.id: entry for entry in changed}
    for entry in taxonomy.active:
        own = entries.get(entry.id, entry)
        if entry.parent in above and not own.retired:
            parent = above[entry.parent]
            entries[entry.id] = replace(own, parent=None if parent == own.id else parent)
    known, links = {**taxonomy.by_id, **entries}, set[tuple[str, str]]()
    for pair in taxonomy.links:
        a, b = (heir if one in above else one for one in pair)
        if a is not None and b is not None and a != b:
            links.add(linked(known[a], known[b]))
    return taxonomy.replacing(entries.values(), links)


def _links_without(taxonomy: Taxonomy, one: str) -> list[tuple[str, str]]:
    return [pair for pair in taxonomy.links if one not in pair]
