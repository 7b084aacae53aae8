"""What all events together say: the taxonomy, and the label of each row with who settled it.

The labels that the owner's file gave come first, then each event in its order. Rows of a class that is retired go to
its heir without being decided about one by one: their author stays who it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from untwin._errors import InputError
from untwin.taxonomy.changes import Revert, Split, TaxonomyChange, change_from_json, change_to_json
from untwin.taxonomy.documents import taxonomy_from_json, taxonomy_to_json
from untwin.taxonomy.folding import apply
from untwin.taxonomy.limits import refuse, require_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from untwin.taxonomy.classes import Taxonomy
    from untwin.taxonomy.events import Event

_EVENT_OF = {"link": "link.add"}


def event_kind(change: TaxonomyChange) -> str:
    """Return the kind of event that a change makes."""
    return _EVENT_OF.get(change.kind, f"class.{change.kind}")


def change_payload(change: TaxonomyChange, moved: Sequence[Moved] = ()) -> dict[str, Any]:
    """Return what an event says of a change, and of the rows that it moved."""
    told = replace(change, author="", at="", reason=change.reason)
    if isinstance(told, Split):
        told = replace(told, rows=())  # `moved` has them
    undoes = {"undoes": told.of} if isinstance(told, Revert) else {}
    return {"change": change_to_json(told), "moved": [list(some) for some in moved if some.rows], **undoes}


def change_of(event: Event) -> TaxonomyChange:
    """Return the change that an event tells of."""
    return replace(change_from_json(event.payload.get("change")), author=event.author, at=event.at)


def start_payload(taxonomy: Taxonomy) -> dict[str, Any]:
    """Return what the first event of a log says."""
    return {"taxonomy": taxonomy_to_json(taxonomy)}


class Moved(NamedTuple):
    """Rows that a change has moved from one class to another, by ids; None: they had none, or have none any more."""

    before: str | None
    after: str | None
    rows: list[str]


@dataclass
class Ledger:
    """Labels and taxonomy while events are read; `classes` has the class id of each row that has one.

    `authors`: who settled the label of a row, if anybody has since the file. `unmatched`: rows that events are about
    and that are not there. `left`: rows that an event has taken out of the model.
    """

    taxonomy: Taxonomy
    classes: dict[str, str]
    authors: dict[str, str] = field(default_factory=dict)
    unmatched: dict[str, None] = field(default_factory=dict)
    left: dict[str, None] = field(default_factory=dict)
    sequence: int = 0

    @classmethod
    def of(cls, labels: Mapping[str, str], taxonomy: Taxonomy) -> Ledger:
        """Return what the owner's file says: the label of each row, by id."""
        covered = taxonomy.covering(dict.fromkeys(labels.values()))
        known = covered.by_name
        return cls(covered, {row: known[name].id for row, name in labels.items() if name in known})

    @property
    def labels(self) -> dict[str, str]:
        """The label of each row now."""
        names = {entry.id: entry.name for entry in self.taxonomy.classes}
        return {row: names[one] for row, one in self.classes.items()}

    def take(self, events: Iterable[Event], ids: Mapping[str, str] | None = None) -> Ledger:
        """Take in events; `ids` says what rows that they name are called here, where that differs. Return itself."""
        for event in events:
            try:
                self._take(event, ids or {})
            except InputError as error:
                message = f"{str(event).capitalize()} cannot be taken in: {error.message}"
                raise InputError(message, code="events", hint=error.hint) from None
            self.sequence = event.sequence
        return self

    def _take(self, event: Event, ids: Mapping[str, str]) -> None:
        kind, payload = event.kind, event.payload
        if kind == "log.start":
            self._start(taxonomy_from_json(payload.get("taxonomy")))
        elif kind == "label.settle":
            self._settle(str(payload.get("row", "")), payload.get("label"), event.author, ids)
        elif kind == "row.add":
            for row, label in _object(payload, "labels").items():
                self._settle(row, label, event.author, ids)
        elif kind == "row.remove":
            self._remove(_names(payload, "rows"), ids)
        elif kind.startswith(("class.", "link.")):
            self._change(change_of(event), payload, ids)

    def _start(self, base: Taxonomy) -> None:
        """Begin with the ids of a log: classes are the same if their names are."""
        names = {entry.id: entry.name for entry in self.taxonomy.classes}
        here = {
            row: base.heir(names[one]) or names[one] if _knows(base, names[one]) else names[one]
            for row, one in self.classes.items()
        }
        self.taxonomy = base.covering(dict.fromkeys(here.values()))
        self.classes = {row: self.taxonomy.by_name[name].id for row, name in here.items()}

    def _settle(self, row: str, label: Any, author: str, ids: Mapping[str, str]) -> None:
        name = require_name(label, "A label")
        if not _knows(self.taxonomy, name):
            self.taxonomy = self.taxonomy.covering([name])
        here = ids.get(row, row)
        if here not in self.classes and here not in self.left:
            self.unmatched[row] = None
            return
        now = self.taxonomy.heir(name)
        if now is None:
            raise refuse(f"{name!r} is no class that a row can have now.")
        self.classes[here] = self.taxonomy.by_name[now].id
        self.authors[here] = author
        self.left.pop(here, None)

    def _remove(self, rows: Iterable[str], ids: Mapping[str, str]) -> None:
        for row in rows:
            here = ids.get(row, row)
            if self.classes.pop(here, None) is None:
                self.unmatched[row] = None
            else:
                self.left[here] = None

    def _change(self, change: TaxonomyChange, payload: Mapping[str, Any], ids: Mapping[str, str]) -> None:
        self.taxonomy = apply(self.taxonomy, change)
        for _, one, rows in moved_rows(payload):
            if one is None:
                self._remove(rows, ids)
                continue
            if one not in self.taxonomy.by_id:
                raise refuse(f"Rows must move to a class that there is. Got {one[:60]!r} instead.")
            for row in rows:
                here = ids.get(row, row)
                if here in self.classes or here in self.left:
                    self.classes[here] = one
                    self.left.pop(here, None)
                else:
                    self.unmatched[row] = None
        self._leave_retired(change)

    def _leave_retired(self, change: TaxonomyChange) -> None:
        """Let rows of classes that are retired go to the heir; to nobody where there is none."""
        retired = {one for one in set(self.classes.values()) if self.taxonomy.by_id[one].retired}
        heirs = {one: heir_of(self.taxonomy, one, change) for one in retired}
        for row, one in list(self.classes.items()) if retired else ():
            if one in retired:
                heir = heirs[one]
                if heir is None:
                    del self.classes[row]
                    self.left[row] = None
                else:
                    self.classes[row] = heir


def heir_of(taxonomy: Taxonomy, one: str, change: TaxonomyChange) -> str | None:
    """Return the class that rows of a retired one go to: of several heirs, that of the rest, or the largest."""
    if isinstance(change, Split) and change.rest is not None:
        return taxonomy.find(change.rest).id
    found = taxonomy.heirs(one)
    return max(found, key=lambda heir: heir[1])[0].id if found else None


def _knows(taxonomy: Taxonomy, name: str) -> bool:
    return taxonomy.knows(name) and bool(taxonomy.heirs(name))


def _object(payload: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = payload.get(name, {})
    if not isinstance(found, dict):
        raise refuse(f"An event must have its {name} by name. Got {str(found)[:60]!r} instead.")
    return found


def moved_rows(payload: Mapping[str, Any]) -> list[Moved]:
    """Return the rows that an event of a change has moved."""
    found = payload.get("moved", [])
    sound = isinstance(found, list) and all(isinstance(some, list) and len(some) == 3 for some in found)
    for name in [name for some in found for name in some[:2]] if sound else []:
        sound = sound and (name is None or isinstance(name, str))
    if not sound:
        raise refuse("Moved rows must be lists of two classes and the rows. Got others instead.")
    return [Moved(before, after, _names({"rows": rows}, "rows")) for before, after, rows in found]


def _names(payload: Mapping[str, Any], name: str) -> list[str]:
    found = payload.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise refuse(f"An event must list its {name} by their ids. Got {str(found)[:60]!r} instead.")
    return found


def undone_events(events: Iterable[Event]) -> set[int]:
    """Return the numbers of the events that later ones undo, and none undoes these."""
    undone = set[int]()
    for event in reversed(list(events)):
        if "undoes" in event.payload and event.sequence not in undone:
            undone.add(event.payload["undoes"])
    return undone
