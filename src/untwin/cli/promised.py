"""What `untwin predict` can promise besides the answer: sets of classes, answers at the right height, unknown rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin.cli.group_names import group_name

if TYPE_CHECKING:
    from untwin.answer.heights import HeightAnswers
    from untwin.answer.predictions import Predictions
    from untwin.answer.promises import Promises
    from untwin.cli.promised_options import AskedPromises
    from untwin.export.model import AnswerModel
    from untwin.model import UntwinClassifier


class PromisedColumns:
    """Makes the columns that are asked for."""

    def __init__(self, model: UntwinClassifier | AnswerModel, asked: AskedPromises) -> None:
        self.asked, self.classes = asked, model.classes_
        wanted = asked.coverage is not None or asked.height is not None or asked.unknown
        self.promises: Promises | None = model.promises_ if wanted else None
        if asked.height == "known" and self.promises is not None and self.promises.known_heights is None:
            message = "--height known needs a tree of your own, and the model was fitted without one."
            raise InputError(message, code="no-known-tree", hint="Fit it with --parent, or use --height auto.")

    def of(self, found: Predictions) -> dict[str, Any]:
        """Return the columns of a batch by name."""
        promises, asked = self.promises, self.asked
        columns: dict[str, Any] = {}
        if promises is None:
            return columns
        if asked.coverage is not None:
            sets = promises.shortlists(found, self.classes, coverage=asked.coverage, by_group=asked.by_group)
            columns["shortlist"] = _lists(self.classes[sets.ranked[sets.inside]], sets.sizes)
        if asked.height is not None:
            heights = promises.at_height(found, self.classes, target_error=asked.target_error, tree=asked.height)
            columns |= _height_columns(heights)
        if asked.unknown:
            columns["unknown"] = promises.unknown(found)
            columns["unknown_chance"] = promises.unknown_chance(found).round(6)
        return columns


def _lists(names: Any, sizes: Any) -> pl.Series:
    """Return names as a column of lists, so many names each."""
    rows = pl.Series(np.repeat(np.arange(len(sizes)), sizes))
    frame = pl.DataFrame({"row": rows, "name": names}).group_by("row", maintain_order=True).agg("name")
    return frame["name"]


def _height_columns(heights: HeightAnswers) -> dict[str, Any]:
    """Return the answers, spelled out node by node, which are few, and then taken row by row."""
    from untwin.answer.heights import LEVELS

    nodes, place = np.unique(heights.nodes, return_inverse=True)
    members = heights._replace(nodes=nodes).members()
    names = pl.Series([group_name(one) if one else None for one in members], dtype=pl.String)
    lists = pl.Series(list(map(list, members)), dtype=pl.List(pl.Series(heights.classes[:1].tolist()).dtype))
    levels = np.array(LEVELS)[heights.levels]
    return {"answer": names.gather(place), "height": levels, "answer_classes": lists.gather(place)}
