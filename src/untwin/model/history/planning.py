"""What a change of the classes means for a model: its classes and rows before and after, with nothing changed yet.

Glossary
--------
becomes   the label that each class of the model has after the change; None: none. Classes that stay are left out
codes n   the class of each training row before, by its number in the model
names n   the name of its class after, by number among `after`; -1: it has none any more
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin.model.history.halves import proposed_halves
from untwin.model.history.naming import label_of, names_of
from untwin.model.history.rules import rows_where
from untwin.taxonomy import Revert, Split, apply, by_ids
from untwin.taxonomy.ledger import Moved, heir_of
from untwin.taxonomy.limits import require_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin._types import Array, Indices
    from untwin.model.classifier import UntwinClassifier
    from untwin.model.history.halves import Halves
    from untwin.taxonomy import Taxonomy, TaxonomyChange


@dataclass(frozen=True, eq=False)
class Plan:
    """A change that is to be made, and what it does to taxonomy, classes and rows; arrays as in the glossary.

    `known` are the names of the model's classes before. `undecided` counts the rows of a split that go nowhere by
    themselves, and rows that have no class any more. `halves`: of a split by its finding, what was proposed.
    """

    change: TaxonomyChange
    before: Taxonomy
    taxonomy: Taxonomy
    becomes: dict[Any, Any]
    ids: Array
    known: list[str]
    codes: Indices
    after: list[str]
    names: Indices
    undecided: int = 0
    halves: Halves | None = None

    @property
    def moved(self) -> list[Moved]:
        """The rows that get another class, by the classes that they come from and go to; not those of a new name."""
        old = [self.before.by_name[name].id for name in self.known]
        new = [*(self.taxonomy.by_name[name].id for name in self.after), None]  # the last one is for -1
        found = []
        for code, name in np.unique(np.column_stack([self.codes, self.names]), axis=0).tolist():
            if old[code] != new[name]:
                rows = np.flatnonzero((self.codes == code) & (self.names == name))
                found.append(Moved(old[code], new[name], names_of(self.ids[rows])))
        return found

    @property
    def redirects(self) -> bool:
        """Whether the model can answer by the classes after the change before it is trained again."""
        return bool(self.becomes)

    def changed(self) -> tuple[Indices, list[str], Indices]:
        """Return the rows that get another label, these labels, and the rows that have none any more."""
        number = {name: place for place, name in enumerate(self.after)}
        same = np.array([number.get(name, -2) for name in self.known])[self.codes]
        kept = np.flatnonzero((same != self.names) & (self.names >= 0))
        return kept, [self.after[name] for name in self.names[kept].tolist()], np.flatnonzero(self.names < 0)


def plan_of(model: UntwinClassifier, taxonomy: Taxonomy, change: TaxonomyChange, undone: Sequence[Moved] = ()) -> Plan:
    """Return what a change would do; `undone` are the rows that the change which it reverts had moved."""
    known, halves, fixed = model.state_, None, by_ids(taxonomy, change)
    classes = [require_name(name) for name in names_of(known.ensemble.classes)]
    codes = np.searchsorted(known.ensemble.classes, known.y)
    if isinstance(fixed, Split):
        fixed, halves = _with_rows(model, taxonomy, fixed)
    after = apply(taxonomy, fixed)
    heirs = [_name_after(taxonomy.by_name[name].id, after, fixed) for name in classes]
    found = list(after.names)
    number = {name: place for place, name in enumerate(found)} | {"": -1}
    names = np.array([number[name] for name in heirs])[codes]
    undecided = int((names < 0).sum())
    if isinstance(fixed, Split):
        code = classes.index(taxonomy.find(fixed.name).name)
        places = _places(known.ids, np.flatnonzero(codes == code))
        for part, rows in zip(fixed.into, fixed.rows, strict=True):
            names[[places[row] for row in rows]] = number[part]
        undecided = len(places) - sum(map(len, fixed.rows)) if fixed.rest is None else undecided
    if isinstance(fixed, Revert):
        numbers = [taxonomy.by_name[name].id for name in classes]
        for some in undone:
            there = np.flatnonzero(codes == numbers.index(some.after)) if some.after in numbers else codes[:0]
            back = _places(known.ids, there)
            if some.before is not None:  # rows that have gone elsewhere since stay there
                names[[back[row] for row in some.rows if row in back]] = number[after.by_id[some.before].name]
    becomes = _becomes(taxonomy, after, known.ensemble.classes)
    return Plan(fixed, taxonomy, after, becomes, known.ids, classes, codes, found, names, undecided, halves)


def _with_rows(model: UntwinClassifier, taxonomy: Taxonomy, change: Split) -> tuple[Split, Halves | None]:
    """Return a split that says which rows go to its parts, and how much of the class these are."""
    name, halves, known = taxonomy.find(change.name).name, None, model.state_
    if name not in names_of(known.ensemble.classes):
        raise InputError(f"Class {name!r} has no rows.", code="class-change", hint="Retire it, or rename it.")
    own = _places(known.ids, np.flatnonzero(known.y == label_of(name, model.classes_)))
    if change.where and not change.rows:
        change = replace(change, rows=_rows_by_rule(model, own, change))
    if not change.rows:
        if len(change.into) != 2:
            hint = "Name two new classes, or say which rows go to each one."
            raise InputError("A class is split by itself into two parts.", code="class-change", hint=hint)
        halves = proposed_halves(model, label_of(name, model.classes_))
        change = replace(change, rows=halves.sure)
    named = [row for part in change.rows for row in part]
    twice = Counter(named)
    wrong = next((row for row in named if row not in own or twice[row] > 1), None)
    if wrong is not None:
        hint = "Name rows of the class, each once."
        raise InputError(f"Row {wrong!r} cannot be split off {name!r}.", code="class-change", hint=hint)
    if len(change.rows) != len(change.into):
        hint = "Say which rows go to each new class."
        raise InputError("A split must have rows for each part.", code="class-change", hint=hint)
    return replace(change, shares=tuple(len(part) / len(own) for part in change.rows)), halves


def _rows_by_rule(model: UntwinClassifier, own: dict[str, int], change: Split) -> tuple[tuple[str, ...], ...]:
    """Return the rows that the rule of a split means, and the others if these have a part."""
    if not 1 <= len(change.into) <= 2 or (len(change.into) == 2 and change.rest is not None):
        hint = "Name the class of the rows that it means, and perhaps one of the others."
        raise InputError("A rule splits a class in two.", code="class-change", hint=hint)
    found = rows_where(model.state_, own, change.where)
    others = set(own) - set(found)
    return (tuple(found), *([tuple(row for row in own if row in others)] if len(change.into) == 2 else []))


def _places(ids: Array, rows: Indices) -> dict[str, int]:
    """Return where some rows are, by what events call them."""
    return dict(zip(names_of(ids[rows]), rows.tolist(), strict=True))


def _name_after(one: str, after: Taxonomy, change: TaxonomyChange) -> str:
    """Return the name that rows of a class have after a change; empty if none."""
    heir = heir_of(after, one, change) if after.by_id[one].retired else one
    return "" if heir is None else after.by_id[heir].name


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
