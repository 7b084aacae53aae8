"""Answers of a model to batches of rows, as columns to stand beside them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin._progress import report
from untwin.cli.group_names import group_name
from untwin.cli.input_errors import as_input_errors
from untwin.cli.promised import PromisedColumns
from untwin.cli.promised_options import AskedPromises
from untwin.data.formulas import undo_guard_of_batch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from untwin.cli.loaded_model import LoadedAnswers, LoadedModel
    from untwin.data.read import TableBatch

MOST_PROBABILITIES = 1 << 21  # rows x classes of a batch: what a batch takes in memory
BATCH_ROWS = (256, 8192)  # at least, at most
PLAIN = AskedPromises()


class Answerer:
    """Answers batch by batch, and counts."""

    def __init__(
        self, loaded: LoadedModel | LoadedAnswers, top: int, prefix: str, asked: AskedPromises = PLAIN, *, raw: bool
    ) -> None:
        model = loaded.model
        self.loaded, self.model, self.prefix, self.raw = loaded, model, prefix, raw
        self.top = min(top, len(model.classes_))
        self.batch_rows = int(np.clip(MOST_PROBABILITIES // len(model.classes_), *BATCH_ROWS))
        self.counts = Counter(dict.fromkeys(("rows", "unsure", "no_evidence", "bad_rows"), 0))
        self._asked, self._promised = asked, PromisedColumns(model, asked)
        self._group_names = np.array([group_name(members) for members in model.groups_])

    def answer_batches(self, batches: Iterable[TableBatch]) -> Iterator[tuple[TableBatch, pl.DataFrame]]:
        """Yield each batch that has rows, as it is to be written, and its answers."""
        report("predicting", 0, 1)
        for batch in batches:
            self.counts["bad_rows"] += sum(note.count for note in batch.raw.notes)
            if batch.cells.height:
                yield self._answer_batch(batch)

    def _answer_batch(self, batch: TableBatch) -> tuple[TableBatch, pl.DataFrame]:
        meant = undo_guard_of_batch(batch)
        table = meant.raw
        rows = self.loaded.columns.rows_of_table(table)
        with as_input_errors(table.name):
            answers = self._columns(rows)
        self._refuse_clash(table.frame.columns, answers.columns, table.name)
        self.counts["rows"] += answers.height
        for name in ("unsure", "no_evidence"):
            self.counts[name] += int(answers[f"{self.prefix}{name}"].sum())
        return batch if self.raw else meant, answers

    def _columns(self, rows: Any) -> pl.DataFrame:
        found = self.model.predict_all(rows, top=self.top, target_error=self._asked.target_error)
        named = self.model.classes_[found.ranked]
        shares = np.take_along_axis(found.probabilities, found.ranked, axis=1).round(6)
        columns = {
            "label": named[:, 0],
            "probability": shares[:, 0],
            "unsure": found.unsure,
            "group": self._group_names[found.groups],
            "no_evidence": found.no_evidence,
        }
        for place in range(1, self.top):
            columns |= {f"label_{place + 1}": named[:, place], f"probability_{place + 1}": shares[:, place]}
        columns |= self._promised.of(found)
        return pl.DataFrame({f"{self.prefix}{name}": column for name, column in columns.items()})

    def _refuse_clash(self, given: list[str], new: list[str], name: str) -> None:
        clash = sorted(set(given) & set(new))
        if clash:
            message = f"{name}: there is a column {clash[0]!r} already, which predict would write."
            raise InputError(
                message, code="column-clash", hint="Choose other names with --prefix, as in --prefix new_."
            )
