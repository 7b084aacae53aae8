"""Take events into a model that does not include them: its labels and classes become what the events say.

Rows are found by their ids, or else by the digests that the events carry, if exactly one row has that. Events about
rows that are not there are listed, and the rest is taken in all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin._errors import InputError
from untwin.model.history.carrying import learn_rows, nothing_learnt
from untwin.model.history.journal import ClassHistory, UnsavedEvents, labels_digest, row_numbers_by_digest
from untwin.model.history.naming import labels_of, names_of
from untwin.model.locks import learning
from untwin.taxonomy import Taxonomy
from untwin.taxonomy.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from untwin.model.classifier import UntwinClassifier
    from untwin.model.records import UpdateReport
    from untwin.taxonomy.events import RowNote
    from untwin.taxonomy.exchange import History


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What taking in events has done.

    Attributes
    ----------
    n_events, n_relabelled, n_removed : int
    by_digest : dict
        What rows that were found by their content are called in the events, and here.
    unmatched : tuple
        Rows that events are about and that are not there.
    digest : str
        Digest of all labels by id: the same wherever the same events were taken in.
    report : UpdateReport
    """

    n_events: int
    n_relabelled: int
    n_removed: int
    by_digest: dict[str, str]
    unmatched: tuple[str, ...]
    digest: str
    report: UpdateReport


def replay_events(model: UntwinClassifier, history: History) -> Replayed:
    """Take the events of a history that a model does not include into it."""
    with learning(model):
        if model.unsaved_events_.events:
            hint = "Save the model first."
            raise InputError("The model has changes of its own that no log holds.", code="events-conflict", hint=hint)
        own = model.class_history_
        first = own.sequence if own.log == history.id else 0
        new = [(event, notes) for event, notes in history.events if event.sequence > first]
        known = model.state_
        names = dict(zip(names_of(known.ids), names_of(known.y), strict=True))
        called = _found_by_digest(model, names, [note for _, notes in new for note in notes])
        ledger = Ledger.of(names, own.taxonomy if first else Taxonomy()).take([event for event, _ in new], called)
        labels = ledger.labels
        kept = [(place, row) for place, row in enumerate(names) if row in labels]
        changed = [(place, labels[row]) for place, row in kept if labels[row] != names[row]]
        gone = [place for place, row in enumerate(names) if row not in labels]
        report = _learn(model, [place for place, _ in changed], [name for _, name in changed], gone)
        last = history.events[-1][0].sequence if history.events else first
        taxonomy = ledger.taxonomy.covering(names_of(model.classes_))
        held = replace(ClassHistory.of(taxonomy), log=history.id, sequence=last)
        vars(model).update(history_=held, unsaved_=UnsavedEvents(taxonomy))
        return Replayed(
            n_events=len(new),
            n_relabelled=len(changed),
            n_removed=len(gone),
            by_digest=called,
            unmatched=tuple(ledger.unmatched),
            digest=labels_digest(model),
            report=report,
        )


def _learn(model: UntwinClassifier, changed: list[int], names: list[str], gone: list[int]) -> UpdateReport:
    if not changed and not gone:
        return nothing_learnt()
    now: Any = model._now()
    ids = now.state_.ids
    places = np.array(changed, dtype=np.intp), np.array(gone, dtype=np.intp)
    return model._learn(learn_rows(now, ids[places[0]], labels_of(names, now.classes_), ids[places[1]]))


def _found_by_digest(model: UntwinClassifier, known: dict[str, str], notes: Iterable[RowNote]) -> dict[str, str]:
    """Return what rows that the events name are called here, where no row has their id."""
    wanted = {note.id: note.digest for note in notes if note.id not in known and note.digest}
    if not wanted:
        return {}
    here = row_numbers_by_digest(model.state_)
    found = {row: here[digest] for row, digest in wanted.items() if digest in here}
    return {row: rows[0] for row, rows in found.items() if len(rows) == 1}
