"""What the owner does with the classes of a model: `preview`, `apply`, `undo`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin.model.history.journal import (
    ClassHistory,
    UnsavedEvents,
    all_events,
    begin,
    event_to_undo,
    events_path,
    made_together,
    notes_of_event,
    notes_of_rows,
    taxonomy_before,
    write_events,
)
from untwin.model.history.naming import label_of, labels_of, names_of
from untwin.model.locks import learning
from untwin.taxonomy import Taxonomy, reverting
from untwin.taxonomy.events import EventLog, NewEvent
from untwin.taxonomy.ledger import Moved, change_payload, event_kind, moved_rows, undone_events
from untwin.taxonomy.limits import time_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import Self

    from untwin._types import Array
    from untwin.model.history.planning import Plan
    from untwin.model.history.previewing import ChangePreview
    from untwin.model.records import UpdateReport
    from untwin.model.state import FittedState
    from untwin.model.updating import Update
    from untwin.taxonomy import TaxonomyChange
    from untwin.taxonomy.events import Event, RowNote


class HistoryMixin:
    """Gives a fitted model its classes with history; the model has `state_`, `_now` and `_learn`."""

    if TYPE_CHECKING:
        state_: FittedState
        classes_: Array
        scores_: dict[str, float]
        history_: ClassHistory
        unsaved_: UnsavedEvents

        def _now(self) -> Any: ...
        def _learn(self, update: Update, taxonomy: Taxonomy | None = None) -> UpdateReport: ...

    @property
    def taxonomy_(self) -> Taxonomy:
        """The classes with their ids, definitions, parents and links, and what has become of former ones."""
        return self.class_history_.taxonomy

    @property
    def definitions_(self) -> dict[Any, str]:
        """What belongs to the classes, in words, where the taxonomy says it."""
        known = self.taxonomy_.by_name
        pairs = zip(self.classes_.tolist(), names_of(self.classes_), strict=True)
        return {label: known[name].definition for label, name in pairs if name in known and known[name].definition}

    def present_labels(self, y: Array) -> Array:
        """Return labels as their classes are called now: a former name leads to the class, or to its one heir."""
        found, places = np.unique(y, return_inverse=True)
        taxonomy, now = self.taxonomy_, found.tolist()
        for number, name in enumerate(names_of(found)):
            if name not in taxonomy.by_name and taxonomy.knows(name) and (heir := taxonomy.heir(name)) is not None:
                now[number] = label_of(heir, self.classes_)
        return y if now == found.tolist() else np.array(now)[places]

    @property
    def class_history_(self) -> ClassHistory:
        """The taxonomy, made of the classes where none was given, and the last event that the model includes."""
        found: ClassHistory | None = vars(self).get("history_")
        names = names_of(self.classes_)
        if found is None:
            return ClassHistory.of(Taxonomy.of(names))
        covered = found.taxonomy.covering(names)
        return found if covered is found.taxonomy else found.with_taxonomy(covered)

    @property
    def unsaved_events_(self) -> UnsavedEvents:
        """The events that are not in the log yet: `save` writes them."""
        found: UnsavedEvents | None = vars(self).get("unsaved_")
        return UnsavedEvents(self.taxonomy_) if found is None else found

    @property
    def has_history_(self) -> bool:
        """Whether events are kept: from the first change of classes, or decision with an author, on."""
        return bool(self.class_history_.log or self.unsaved_events_.events)

    def use_taxonomy(self, taxonomy: Taxonomy) -> Self:
        """Take over a taxonomy, which gets classes for all labels that it lacks; the history begins with it."""
        with learning(self):
            covered = taxonomy.covering(names_of(self.classes_))
            vars(self).update(history_=ClassHistory.of(covered), unsaved_=UnsavedEvents(covered))
        return self

    def preview(self, change: TaxonomyChange) -> ChangePreview:
        """Return what a change would do: rows moved, accuracy and macro-F1 before and after. Nothing changes.

        Examples
        --------
        >>> from untwin import UntwinClassifier
        >>> from untwin.taxonomy import Merge
        >>> texts = [f"a {kind} in room {room}" for room in range(10, 15) for kind in ("boat", "ship", "car")]
        >>> model = UntwinClassifier(preset="fast").fit(texts, ["boat", "ship", "car"] * 5)
        >>> print(model.preview(Merge(("boat", "ship"), "vessel")))
        merge boat, ship, vessel: 10 rows would move; accuracy 1.0000 to 1.0000, ...
        """
        from untwin.model.history.previewing import preview_of

        now = self._now()
        return preview_of(now, now._plan(change))

    def apply(self, change: TaxonomyChange, *, author: str = "", learn: bool = True) -> UpdateReport:
        """Make a change of the classes, and return what it did.

        Classes that are merged or retired are answered no longer at once; then the model is trained on the rows with
        their new labels. `learn=False` leaves that to the next change. What is made here is written to the log of
        events beside the model when that is saved.
        """
        with learning(self):
            plan = self._now()._plan(replace(change, author=author or change.author, at=time_now()))
            return self._carry_out(plan, learn=learn)

    def undo(self, of: int | None = None, *, author: str = "", reason: str = "") -> UpdateReport:
        """Undo the last change, or the decisions made last, or event number `of`, by another; return what that did.

        Raise InputError if what it touched has changed since.
        """
        with learning(self):
            now = self._now()
            events, base = all_events(now)
            event = event_to_undo(events, of, undone_events(events))
            notes = notes_of_event(now, event.sequence)
            if event.kind == "row.remove":
                return self._undo_removal(event, notes, author, reason)
            if event.kind == "label.settle":
                return self._undo_labels(made_together(events, event) if of is None else [event], author, reason)
            before, after = taxonomy_before(events, base, event.sequence)
            revert = reverting(before, after, now.taxonomy_, event.sequence, at=time_now())
            moved = moved_rows(event.payload)
            plan = now._plan(replace(revert, author=author, reason=reason), moved)
            return self._carry_out(plan, learn=True, back=[some for some in moved if some.after is None], notes=notes)

    def record(self, events: Iterable[NewEvent]) -> None:
        """Keep events, to be written to the log when the model is saved; the first ones begin the history."""
        unsaved, found = self.unsaved_events_, list(events)
        if found and not self.has_history_:
            unsaved = unsaved.and_also([begin(unsaved.base)._replace(at=found[0].at)])
        vars(self).update(unsaved_=unsaved.and_also(found), history_=self.class_history_)

    def _plan(self, change: TaxonomyChange, undone: Sequence[Moved] = ()) -> Plan:
        from untwin.model.history.planning import plan_of

        return plan_of(self, self.taxonomy_, change, undone)  # type: ignore[arg-type]

    def _carry_out(
        self, plan: Plan, *, learn: bool, back: Sequence[Moved] = (), notes: Sequence[RowNote] = ()
    ) -> UpdateReport:
        """Make a planned change: at once what answers can show, then by training. `back`: rows that return by it."""
        from untwin.model.history.carrying import answer_by, bring_back, learn_rows, nothing_learnt, require_contents

        now, (kept, names, gone) = self._now(), plan.changed()
        moves = [*plan.moved, *(Moved(None, some.before, some.rows) for some in back)]
        returning = require_contents(notes, [row for some in back for row in some.rows])
        trains = bool(plan.moved)
        if trains and not learn and not plan.redirects:
            hint = "Let the model be trained now, not later."
            raise InputError("A change that makes new classes takes training.", code="class-change", hint=hint)
        event = _event_of(now.state_, plan, moves)
        at_once = answer_by(now, plan.becomes) if plan.redirects else None
        base, report = self.unsaved_events_, nothing_learnt()
        vars(self).update(unsaved_=base)  # its taxonomy is that before the change
        if at_once is not None:
            report = self._learn(at_once, plan.taxonomy)
        if trains and learn:
            labels = labels_of(names, now.classes_)
            report = self._learn(learn_rows(now, now.state_.ids[kept], labels, now.state_.ids[gone]), plan.taxonomy)
        if returning:
            name_of = {row: plan.taxonomy.by_id[str(some.before)].name for some in back for row in some.rows}
            labels = labels_of([name_of[note.id] for note in returning], now.classes_)
            report = self._learn(bring_back(self._now(), returning, labels), plan.taxonomy)
        vars(self).update(history_=self.class_history_.with_taxonomy(plan.taxonomy))
        self.record([event])
        return report

    def _undo_removal(self, event: Event, notes: Sequence[RowNote], author: str, reason: str) -> UpdateReport:
        """Have rows again that were removed."""
        from untwin.model.history.carrying import bring_back, require_contents

        now, labels = self._now(), dict(event.payload.get("labels", {}))
        returning = require_contents(notes, list(labels))
        y = labels_of([now.taxonomy_.heir(name) or name for name in labels.values()], now.classes_)
        report = self._learn(bring_back(now, returning, y))
        told = {"labels": labels, "undoes": event.sequence, "note": reason}
        self.record([NewEvent("row.add", told, author, rows=returning)])
        return report

    def _undo_labels(self, events: Sequence[Event], author: str, reason: str) -> UpdateReport:
        """Give rows the labels that they had before they were decided about."""
        from untwin.model.history.carrying import learn_rows

        now, back = self._now(), list[tuple[int, str, NewEvent]]()
        place = {name: number for number, name in enumerate(names_of(now.state_.ids))}
        current = names_of(now.state_.y)
        for event in events:
            row, (old, new) = event.payload["row"], _labels_in(event, now.taxonomy_)
            number = place.get(row)
            if number is None or old is None or current[number] != new:
                hint = "Give it the label that is right now: untwin relabel."
                message = f"Row {row!r} cannot have its label back: the row, or the class, has changed since."
                raise InputError(message, code="class-change", hint=hint)
            told = {"row": row, "label": old, "from": current[number], "undoes": event.sequence, "note": reason}
            back.append((number, old, NewEvent("label.settle", told, author)))
        ids, labels = now.state_.ids, labels_of([name for _, name, _ in back], now.classes_)
        report = self._learn(learn_rows(now, ids[[number for number, _, _ in back]], labels, ids[:0]))
        self.record([event for _, _, event in back])
        return report

    def _write_events(self, folder: str | Path) -> None:
        """Write what no log holds yet to the log beside a folder, which the model is then saved to."""
        unsaved: UnsavedEvents | None = vars(self).get("unsaved_")
        if unsaved is not None and unsaved.events:
            facts = {"rows": len(self.state_.y), "classes": len(self.classes_), "scores": self.scores_}
            history = write_events(EventLog(events_path(folder)), self.class_history_, unsaved, facts)
            vars(self).update(history_=history, unsaved_=UnsavedEvents(history.taxonomy))


def _labels_in(event: Event, taxonomy: Taxonomy) -> tuple[str | None, str | None]:
    """Return the labels of a row before and after a decision, as they are called now; None where no class is meant."""
    old, new = (str(event.payload.get(name, "")) for name in ("from", "label"))
    return taxonomy.heir(old) if taxonomy.knows(old) else None, taxonomy.heir(new) if taxonomy.knows(new) else None


def _event_of(known: FittedState, plan: Plan, moves: Sequence[Moved]) -> NewEvent:
    """Return the event of a change: rows that move are noted by their digests, rows that leave as a whole."""
    kept, _, gone = plan.changed()
    notes = notes_of_rows(known, kept.tolist() if moves else [], whole=False)
    notes += notes_of_rows(known, gone.tolist(), whole=True)
    change = plan.change
    return NewEvent(event_kind(change), change_payload(change, moves), change.author, change.at, notes)
