"""Guesses about columns the user said nothing about, each with a short reason.

The label and the id are known by their names only; text, numbers and names by their content. A column that gives the
label away (its parent, a copy, a code of it) would make every accuracy a lie, so it is never used by guess. A column of
two values that tells one class, or some of them, from all others is no such column: good features look like that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin._wording import format_count, option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from untwin.data.read import RawTable

SeriesOrExpr = TypeVar("SeriesOrExpr", pl.Series, pl.Expr)

LABEL_NAMES = ("label", "class", "target")
MAYBE_LABEL_NAMES = ("category", "intent", "topic", "y")  # of several columns with such names one may be a feature
SPLIT_PARTS = {"train", "training", "test", "testing", "val", "valid", "validation", "dev", "eval", "holdout"}
_ID_NAME = re.compile(r"(.*[_\-. ])?(id|uid|uuid|guid|index|idx|key|rowid|row)$|unnamed: 0$", re.IGNORECASE)
_SPLIT_NAME = re.compile(r"(.*[_\-. ])?split$", re.IGNORECASE)
_LABEL_NAME = re.compile(r"labels?[_\-. ]?\d*$", re.IGNORECASE)
_TEXT_NAME = re.compile(
    r"(.*[_\-. ])?(text|body|content|message|description|title|subject|review|comment|question|utterance|document"
    r"|abstract|summary|query|sentence|headline)$",
    re.IGNORECASE,
)
# Scripts written without spaces between words; Korean has spaces.
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_SAMPLE = 1000
_ENOUGH_ROWS = 100  # below this, one value a class may be chance


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """What a column is used for and why; `code` names the reason where `check` has something to say about it."""

    name: str
    role: str
    reason: str
    code: str = ""


def guess_label(raw: RawTable, taken: Mapping[str, ColumnUse]) -> ColumnUse:
    """Return the column whose name says that it is the label; the table is refused without one, or with several."""
    for wanted in (LABEL_NAMES, MAYBE_LABEL_NAMES):
        named = [name for name in raw.frame.columns if name.lower() in wanted and name not in taken]
        possible = [name for name in named if _may_be_label(raw, name)] if len(named) > 1 else named
        if len(possible) > 1:
            found = ", ".join(f"{name!r} ({_different(raw.frame[name])})" for name in possible)
            message = f"{raw.name}: {len(possible)} columns could be the label: {found}."
            raise InputError(message, code="several-labels", hint=f"Say which: {_label_options(possible)}.")
        if named:
            name = (possible or named)[0]
            raw.require_usable(name)
            return ColumnUse(name, "label", f"its name; {option('label')} chooses another")
    message = f"{raw.name}: which column is the label? Columns: {raw.column_list()}."
    raise InputError(message, code="no-label", hint=f"Name it with {option('label', meta='COLUMN')}.")


def _may_be_label(raw: RawTable, name: str) -> bool:
    """Tell whether a column has two classes at least."""
    return name not in raw.refused and raw.frame[name].drop_nulls().n_unique() > 1


def _different(cells: pl.Series) -> str:
    return f"{format_count(cells.drop_nulls().n_unique(), 'different value')} in {format_count(len(cells), 'row')}"


def _label_options(names: list[str]) -> str:
    return " or ".join(option("label", name) for name in names)


def guess_id(raw: RawTable, taken: Mapping[str, ColumnUse]) -> ColumnUse | None:
    """Return the first column that is named like an id (or not at all) and has a different value in every row."""
    for position, name in enumerate(raw.frame.columns, start=1):
        unnamed = name == f"column {position}"
        if name not in taken and name not in raw.refused and (unnamed or _ID_NAME.match(name)):
            column = raw.frame[name]
            if column.null_count() == 0 and column.n_unique() == len(column):
                return ColumnUse(name, "id", f"{'no name' if unnamed else 'its name'} and all values distinct")
    return None


def guess_split(raw: RawTable, taken: Mapping[str, ColumnUse]) -> ColumnUse | None:
    """Return the column named split if it parts the rows into train, test and the like."""
    for name in raw.frame.columns:
        if name.lower() == "split" and name not in taken and name not in raw.refused:
            parts = raw.frame[name].unique().to_list()
            if len(parts) > 1 and all(part is not None and part.lower() in SPLIT_PARTS for part in parts):
                return ColumnUse(name, "split", f"its name and its values: {', '.join(sorted(parts))}")
    return None


def guess_feature(raw: RawTable, name: str, label: str) -> ColumnUse:
    """Return what a column without a role can be used for."""
    refusal = raw.refused.get(name)
    if refusal is not None:
        if refusal.code == "duplicate-column":
            raw.require_usable(name)
        return ColumnUse(name, "unused", refusal.reason, "nested")
    cells = raw.frame[name]
    present = cells.drop_nulls()
    distinct = present.n_unique()
    if distinct <= 1:
        reason = f"is constant{_but_empty(cells)}" if distinct else "is empty"
        return ColumnUse(name, "unused", reason, "constant")
    for pattern, role in ((_SPLIT_NAME, "split"), (_LABEL_NAME, "label")):
        if pattern.match(name):
            return ColumnUse(name, "unused", _add_advice(raw, f"is named like a {role}", f"{option(role)} uses it"))
    told, advice = _tells_label(cells, raw.frame[label])
    if told:
        return ColumnUse(name, "unused", _add_advice(raw, f"gives the label away: {told}", advice), "tells-label")
    return _by_content(raw, name, present, distinct)


def _but_empty(cells: pl.Series) -> str:
    """Return how many cells are empty, as the end of a reason; nothing if none is."""
    empty = cells.null_count()
    return f"; {empty:,} of {format_count(len(cells), 'cell')} {'is' if empty == 1 else 'are'} empty" if empty else ""


def _add_advice(raw: RawTable, reason: str, advice: str) -> str:
    """Return a reason, and what the command offers; a frame handed over in Python has no options."""
    return f"{reason}; {advice}" if advice and raw.format != "frame" else reason


def _tells_label(cells: pl.Series, labels: pl.Series) -> tuple[str, str]:
    """Return how a column and the label determine each other, if they do, and which option uses it."""
    if len(cells) < _ENOUGH_ROWS:
        return "", ""
    pairs = pl.DataFrame([cells.alias("cell"), labels.alias("label")]).drop_nulls()
    for part in (_spread(pairs), pairs):  # a few rows refute most candidates at once
        distinct, classes, together = part["cell"].n_unique(), part["label"].n_unique(), part.n_unique()
        by_cell, by_class = together == distinct, together == classes
        if not (by_cell or by_class):
            return "", ""
    if len(pairs) < _ENOUGH_ROWS or max(distinct, classes) > len(pairs) / 5 or min(distinct, classes) < 2:
        return "", ""
    if by_cell:
        return "each of its values occurs with one class only", ""
    if distinct == 2:
        return "", ""
    return "each class has one value of it", f"{option('parent')} uses it as a known tree"


def _spread(rows: pl.DataFrame) -> pl.DataFrame:
    """Return at most `_SAMPLE` rows, evenly spread: tables are often ordered by class."""
    if rows.height <= _SAMPLE:
        return rows
    return rows[np.unique(np.linspace(0, rows.height - 1, _SAMPLE, dtype=np.int64))]


def _by_content(raw: RawTable, name: str, present: pl.Series, distinct: int) -> ColumnUse:
    sample = _spread(present.to_frame())[name]
    if as_numbers(sample).is_not_null().mean() > 0.5:  # type: ignore[operator]
        return _by_numbers(raw, name)
    empty = _but_empty(raw.frame[name])
    if _TEXT_NAME.match(name):
        return ColumnUse(name, "text", f"its name{empty}")
    words = float(sample.str.count_matches(r"\S+").mean())  # type: ignore[arg-type]
    length = float(sample.str.len_chars().mean())  # type: ignore[arg-type]
    varied = distinct > len(present) / 2
    if length > 50 or (varied and words >= 2):
        return ColumnUse(name, "text", f"{words:.0f} words a cell, {distinct:,} different cells{empty}")
    if varied and sample.str.contains(UNSPACED).mean() > 0.5:  # type: ignore[operator]
        return ColumnUse(name, "text", f"{distinct:,} different cells in a script without spaces{empty}")
    if distinct <= 20 or not varied:
        return ColumnUse(name, "nominal", f"{distinct:,} different values{empty}")
    reason = f"{distinct:,} different single words: looks like an id{empty}"
    return ColumnUse(
        name, "unused", _add_advice(raw, reason, f"{option('text')} or {option('nominal')} uses it"), "id-like"
    )


def _by_numbers(raw: RawTable, name: str) -> ColumnUse:
    """Return numeric for a column of numbers; one with other cells among them must be cleaned or named."""
    cells = raw.frame[name]
    numbers = as_numbers(cells)
    wrong = (cells.is_not_null() & numbers.is_null()).arg_true()
    known = numbers.drop_nulls().drop_nans()
    if len(wrong) == 0:
        some = "every cell is a number" if len(known) == len(cells) else _some_numbers(cells, known)
        return ColumnUse(name, "numeric", f"{some} ({known.n_unique():,} different)")
    first = int(wrong[0])
    example = f"{cells[first]!r} in row {raw.places.rows[first]}"
    are = "is not a number" if len(wrong) == 1 else "are not numbers"
    reason = f"{len(wrong):,} of {format_count(cells.count(), 'cell')} {are} ({example}){_but_empty(cells)}"
    return ColumnUse(
        name, "unused", _add_advice(raw, reason, f"clean it, or name it with {option('nominal')}"), "almost-numeric"
    )


def _some_numbers(cells: pl.Series, known: pl.Series) -> str:
    """Say how many cells are numbers where the others are empty or ``nan``."""
    empty = cells.null_count()
    others = "empty" if empty + len(known) == len(cells) else "empty or nan" if empty else "nan"
    return f"{len(known):,} of {format_count(len(cells), 'cell')} are numbers, the others {others}"


def as_numbers(cells: SeriesOrExpr) -> SeriesOrExpr:
    """Return text cells as Float64, null where a cell is no number; ``nan`` stays NaN, so that it can be told apart."""
    return cells.str.strip_chars().cast(pl.Float64, strict=False)
