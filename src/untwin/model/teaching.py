"""What a fitted model learns after its fit: `add`, `relabel`, `remove`, and how new rows differ from those it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untwin._errors import InputError
from untwin.model.features.inputs import as_labels
from untwin.model.history.journal import notes_of_rows
from untwin.model.history.mixin import HistoryMixin
from untwin.model.history.naming import names_of
from untwin.model.locks import learning
from untwin.model.ordinal import require_ordered_classes
from untwin.taxonomy.events import NewEvent
from untwin.taxonomy.limits import time_now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from untwin._types import Array, Flags
    from untwin.model.records import Drift, UpdateReport
    from untwin.model.selection.comparison import Candidate
    from untwin.model.state import FittedState
    from untwin.model.updating import Update
    from untwin.taxonomy import Taxonomy


class TeachingMixin(HistoryMixin):
    """Gives a fitted model what it learns later; the model prepares rows and labels."""

    if TYPE_CHECKING:
        candidates_: list[Candidate]

        def _hold(self, known: FittedState, **more: Any) -> Any: ...

    def learnt(self, X: Any) -> Flags | None:
        """Tell which rows are equal to a training row; None if the model keeps no documents to compare with."""
        from untwin.model.updating import learnt_before

        now = self._now()
        return learnt_before(now.state_, now._prepare_rows(X, reset=False))

    def drift(self, X: Any, y: Any) -> Drift:
        """Say how rows `X` with labels `y`, not learnt yet, differ from those that were."""
        from untwin.model.updating import drift_of

        now = self._now()
        given = now._prepare_rows(X, reset=False)
        return drift_of(now.state_, given, now._prepare_labels(given, y)[0], now.scores_.get("accuracy"))

    def add(self, X: Any, y: Any, *, ids: ArrayLike | None = None, author: str = "") -> UpdateReport:
        """Learn more rows named `ids`, with new words and classes, and report the accuracy on them before.

        After changes of a tenth of the rows since the fit, the model is fitted anew: candidates are chosen again.
        """
        from untwin.model.updating import add_rows

        with learning(self):
            now = self._now()
            given = now._prepare_rows(X, reset=False)
            labels = now.present_labels(now._prepare_labels(given, y)[0])
            require_ordered_classes(labels, now.order)
            report = self._learn(add_rows(now, given, labels, ids))
            if self.has_history_:
                known, first = self.state_, len(now.state_.y)
                notes = notes_of_rows(known, range(first, len(known.y)), whole=False)
                names = dict(zip([note.id for note in notes], names_of(known.y[first:]), strict=True))
                self.record([NewEvent("row.add", {"labels": names}, author, rows=notes)])
            return report

    def relabel(self, ids: ArrayLike, y: Any, *, author: str | Sequence[str] = "", notes: Any = "") -> UpdateReport:
        """Give the training rows named `ids` (see `ids_`) other labels.

        With an `author`, or one for each row, these are decisions that are kept in the log of events; `notes`: why.
        """
        from untwin.model.row_ids import places_of_ids
        from untwin.model.updating import relabel_rows

        with learning(self):
            now = self._now()
            labels = now.present_labels(as_labels(y))
            require_ordered_classes(labels, now.order)
            report = self._learn(relabel_rows(now, ids, labels))
            if author or self.has_history_:
                places = places_of_ids(ids, now.state_.ids)
                self.record(_settled(now.state_, places, names_of(labels), author, notes))
            return report

    def remove(self, ids: ArrayLike, *, author: str = "", erase: bool = False) -> UpdateReport:
        """Remove the training rows named `ids` (see `ids_`).

        The log of events, if there is one, keeps what was in them, so that this can be undone. Not with `erase`: then
        the model is fitted anew to the other rows, so that it does not even know their words.
        """
        from untwin.model.row_ids import places_of_ids
        from untwin.model.updating import remove_rows

        with learning(self):
            now = self._now()
            if erase and now.state_.view.given is None:
                message = "The model keeps counts of texts, and no texts to count again: it would still know the words."
                raise InputError(message, code="texts-needed", hint="Fit a model to the other rows instead.")
            report = self._learn(remove_rows(now, ids, "rows are erased" if erase else ""))
            if author or self.has_history_:
                places = places_of_ids(ids, now.state_.ids)
                notes = notes_of_rows(now.state_, places.tolist(), whole=True) if not erase else []
                rows = names_of(now.state_.ids[places])
                labels = dict(zip(rows, names_of(now.state_.y[places]), strict=True))
                self.record([NewEvent("row.remove", {"rows": rows, "labels": labels}, author, rows=notes)])
            return report

    def _learn(self, update: Update, taxonomy: Taxonomy | None = None) -> UpdateReport:
        """Hold what an update has made; classes get their ids when the model first has them."""
        from untwin.model.history.journal import ClassHistory

        before, names = self.class_history_, names_of(update.state.ensemble.classes)
        covered = (taxonomy or before.taxonomy).covering(names)
        history: ClassHistory = before if covered is before.taxonomy else before.with_taxonomy(covered)
        more = {"_noted": update.noted, "_held_out": update.held_out, "history_": history}
        self._hold(update.state, scores_=update.scores, candidates_=update.candidates or self.candidates_, **more)
        return update.report


def _settled(known: FittedState, places: Array, names: list[str], author: Any, notes: Any) -> list[NewEvent]:
    """Return the events of decisions about rows."""
    rows, before = names_of(known.ids[places]), names_of(known.y[places])
    authors = [author] * len(rows) if isinstance(author, str) else list(author)
    why = [notes] * len(rows) if isinstance(notes, str) else list(notes)
    known_of, at = notes_of_rows(known, places.tolist(), whole=False), time_now()
    return [
        NewEvent("label.settle", {"row": row, "label": name, "from": old, "note": note}, who, at, [digest])
        for row, name, old, note, who, digest in zip(rows, names, before, why, authors, known_of, strict=True)
    ]
