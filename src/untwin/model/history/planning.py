"""What a change of the classes means for a model: its classes and rows before and after, with nothing changed yet.

Glossary
--------
becomes    the label that each class of the model has after the change; None: none. Classes that stay are left out
labels     the class of each training row after the change, by name; "" where it has none any more
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin.model.history.halves import proposed_halves
from untwin.model.history.naming import label_of, names_of
from untwin.taxonomy import Revert, Split, apply, by_ids
from untwin.taxonomy.ledger import Moved, heir_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from untwin._types import Array, Indices
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.history.halves import Halves
    from untwin.taxonomy import ClassChange, Taxonomy


@dataclass(frozen=True, eq=False)
class Plan:
    """A change that is to be made, and what it does to taxonomy, classes and rows.

    `undecided` counts the rows of a split that go nowhere by themselves, and rows that have no class any more.
    `halves`: of a split by its finding, what was proposed.
    """

    change: ClassChange
    before: Taxonomy
    taxonomy: Taxonomy
    becomes: dict[Any, Any]
    names: list[str]
    ids: list[str]
    labels: list[str]
    undecided: int = 0
    halves: Halves | None = None

    @property
    def moved(self) -> list[Moved]:
        """The rows that get another class, by the classes that they come from and go to; not those of a new name."""
        before = {name: entry.id for name, entry in self.before.by_name.items()}
        after = {name: entry.id for name, entry in self.taxonomy.by_name.items()} | {"": None}
        groups: dict[tuple[str, str | None], list[str]] = {}
        for row, old, new in zip(self.ids, self.names, self.labels, strict=True):
            if before[old] != after[new]:
                groups.setdefault((before[old], after[new]), []).append(row)
        return [Moved(*pair, rows) for pair, rows in groups.items()]

    @property
    def redirects(self) -> bool:
        """Whether the model can answer by the classes after the change before it is trained again."""
        return bool(self.becomes)

    def changed(self) -> tuple[Indices, list[str], Indices]:
        """Return the rows that get another label, these labels, and the rows that have none any more."""
        pairs = enumerate(zip(self.names, self.labels, strict=True))
        places = [place for place, (old, new) in pairs if old != new]
        kept = [place for place in places if self.labels[place]]
        gone = [place for place in places if not self.labels[place]]
        return np.array(kept, dtype=np.intp), [self.labels[place] for place in kept], np.array(gone, dtype=np.intp)


def plan_of(model: UntwinClassifier, taxonomy: Taxonomy, change: ClassChange, undone: Sequence[Moved] = ()) -> Plan:
    """Return what a change would do; `undone` are the rows that the change which it reverts had moved."""
    known, halves = model.state_, None
    names, ids = names_of(known.y), names_of(known.ids)
    fixed = by_ids(taxonomy, change)
    if isinstance(fixed, Split):
        fixed, halves = _with_rows(model, taxonomy, fixed)
    after = apply(taxonomy, fixed)
    heirs = {entry.name: _name_after(entry.id, after, fixed) for entry in taxonomy.active}
    labels = [heirs[name] for name in names]
    if isinstance(fixed, Split):
        _place_split(fixed, ids, labels)
    if isinstance(fixed, Revert):
        labels = _labels_reverted(taxonomy, after, undone, zip(ids, names, labels, strict=True))
    becomes = _becomes(taxonomy, after, known.ensemble.classes)
    stay = sum(name == taxonomy.find(fixed.name).name for name in labels) if isinstance(fixed, Split) else 0
    undecided = stay if isinstance(fixed, Split) and fixed.rest is None else labels.count("")
    return Plan(fixed, taxonomy, after, becomes, names, ids, labels, undecided, halves)


def _with_rows(model: UntwinClassifier, taxonomy: Taxonomy, change: Split) -> tuple[Split, Halves | None]:
    """Return a split that says which rows go to its parts, and how much of the class these are."""
    name, halves = taxonomy.find(change.name).name, None
    own = [
        row for row, label in zip(names_of(model.state_.ids), names_of(model.state_.y), strict=True) if label == name
    ]
    if not change.rows:
        if len(change.into) != 2:
            hint = "Name two new classes, or say which rows go to each one."
            raise InputError("A class is split by itself into two parts.", code="class-change", hint=hint)
        halves = proposed_halves(model, label_of(name, model.classes_))
        change = replace(change, rows=halves.sure)
    foreign = Counter(row for part in change.rows for row in part)
    foreign.subtract(own)
    wrong = next((row for row, times in foreign.items() if times > 0), None)
    if wrong is not None:
        hint = "Name rows of the class, each once."
        raise InputError(f"Row {wrong!r} cannot be split off {name!r}.", code="class-change", hint=hint)
    if len(change.rows) != len(change.into):
        hint = "Say which rows go to each new class."
        raise InputError("A split must have rows for each part.", code="class-change", hint=hint)
    shares = tuple(len(part) / max(len(own), 1) for part in change.rows)
    return replace(change, shares=shares), halves


def _name_after(one: str, after: Taxonomy, change: ClassChange) -> str:
    """Return the name that rows of a class have after a change; empty if none."""
    entry = after.by_id[one]
    heir = heir_of(after, one, change) if entry.retired else one
    return "" if heir is None else after.by_id[heir].name


def _place_split(change: Split, ids: list[str], labels: list[str]) -> None:
    part_of = {row: name for name, rows in zip(change.into, change.rows, strict=True) for row in rows}
    labels[:] = [part_of.get(row, label) for row, label in zip(ids, labels, strict=True)]


def _labels_reverted(
    before: Taxonomy, after: Taxonomy, undone: Sequence[Moved], rows: Iterable[tuple[str, str, str]]
) -> list[str]:
    """Return the labels of rows (id, name before, name after): those that a change had moved go back.

    Rows that have gone elsewhere since stay there.
    """
    back = {row: (some.after, some.before) for some in undone for row in some.rows}
    labels = []
    for row, old, new in rows:
        came_to, came_from = back.get(row, (None, None))
        returns = came_to is not None and came_from is not None and before.by_name[old].id == came_to
        labels.append(after.by_id[str(came_from)].name if returns else new)
    return labels


def _becomes(before: Taxonomy, after: Taxonomy, classes: Array) -> dict[Any, Any]:
    """Return the labels of classes after a change, where they are others and one class has all of the probability.

    Nothing if the rows of a class go several ways: the parts are not known before the model is trained.
    """
    found: dict[Any, Any] = {}
    for label, name in zip(classes.tolist(), names_of(classes), strict=True):
        entry = after.by_id[before.by_name[name].id]
        heirs = after.heirs(entry.id)
        if len(heirs) > 1:
            return {}
        new = heirs[0][0].name if heirs else None
        if new != name:
            found[label] = None if new is None else label_of(new, classes)
    return found
