"""From a file to a labelled table with settled roles and typed columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin._wording import close_match, format_count, option
from untwin.data.columns import FEATURES, ColumnRoles, require_named, settle_roles
from untwin.data.formulas import undo_guard_of_table
from untwin.data.guess import UNSPACED, as_numbers
from untwin.data.read import RawTable, ReadOptions, read_table
from untwin.data.read.table import Note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from untwin._types import Array
    from untwin.data.guess import ColumnUse
    from untwin.data.read.table import Places

TEST_PARTS = ("test", "testing")  # how the split column marks rows that are not to be learnt
_WORD = r"\w\w"  # what the default token pattern needs at least


class LabelledRows(NamedTuple):
    """Rows as `UntwinClassifier` takes them, with labels and names.

    rows      texts, or a frame
    y         labels, as strings
    ids       names of the rows
    groups    what rows must have in common to share a fold; a row without a group is one of its own. None: no groups
    """

    rows: list[str] | pl.DataFrame
    y: NDArray[np.str_]
    ids: list[str]
    groups: Array | None


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    r"""A labelled table ready for use: text, nominal and label columns String, numeric ones Float64.

    A missing text is an empty text; other missing cells are null. `empty` counts the empty cells of every column of the
    file, used or not.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "t.csv"
    ...     _ = path.write_text("text,price,label\nno signal,3,a\nlow battery,4.5,b\n")
    ...     table = load(path)
    >>> table.roles.text, table.roles.numeric, table.frame["price"].to_list()
    (('text',), ('price',), [3.0, 4.5])
    """

    frame: pl.DataFrame
    roles: ColumnRoles
    columns: tuple[ColumnUse, ...]
    places: Places
    format: str
    notes: tuple[Note, ...] = ()
    empty: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Table({self.places.name}: {format_count(self.frame.height, 'row')}, label {self.roles.label!r})"

    @property
    def labels(self) -> pl.Series:
        """The label column, as written."""
        return self.frame[str(self.roles.label)]

    @property
    def y(self) -> NDArray[np.str_]:
        """The labels as an array of strings."""
        return np.array(self.labels.to_list(), dtype=np.str_)

    def labelled_rows(self) -> LabelledRows:
        """Return the rows with all that a model learns from."""
        groups = None
        if self.roles.group is not None:
            alone = pl.concat_str(pl.lit("\0"), pl.int_range(pl.len()))
            groups = self.frame.select(pl.col(self.roles.group).fill_null(alone)).to_series().to_numpy()
        return LabelledRows(self.roles.rows_of(self.frame), self.y, self.places.marks(), groups)

    def parts(self) -> tuple[Table, Table]:
        """Return the rows to learn from, and those marked as test; a table for a model may lack the split of the fit.

        `empty` and `notes` stay those of the whole file.
        """
        split = self.roles.split
        if split is None or split not in self.frame.columns:
            return self, self._take_rows(pl.repeat(False, self.frame.height, dtype=pl.Boolean, eager=True))
        is_test = self.frame[split].str.to_lowercase().is_in(TEST_PARTS).fill_null(value=False)
        return self._take_rows(~is_test), self._take_rows(is_test)

    def _take_rows(self, chosen: pl.Series) -> Table:
        places = self.places.take(chosen.arg_true().to_numpy().astype(np.int64))
        return replace(self, frame=self.frame.filter(chosen), places=places)

    def class_counts(self) -> pl.DataFrame:
        """Return columns class and count, the largest class first; of a multi-label table each class counts alone."""
        counts = _class_lists(self.labels, self.roles.label_separator).explode().alias("class").value_counts()
        return counts.sort(["count", "class"], descending=[True, False])

    def without_words(self) -> pl.Series:
        """Return the indices of rows none of whose texts has a word of two letters."""
        return (
            self.frame.select(pl.any_horizontal(pl.col(self.roles.text).str.contains(_WORD)).not_())
            .to_series()
            .arg_true()
        )

    def without_spaces(self) -> int:
        """Return how many rows have a text mostly in a script that puts no spaces between words."""
        text = pl.concat_str(self.roles.text)
        foreign = self.frame.select(text=text).filter(pl.col("text").str.len_bytes() > pl.col("text").str.len_chars())
        return int((foreign["text"].str.count_matches(UNSPACED) * 2 > foreign["text"].str.len_chars()).sum())


def load(
    source: str | Path,
    roles: ColumnRoles | None = None,
    options: ReadOptions | None = None,
    *,
    missing_label: Literal["error", "drop"] = "error",
) -> Table:
    """Read a labelled table, settle the role of every column and type the cells."""
    raw = read_as_meant(source, options)
    settled, columns = settle_roles(raw, roles or ColumnRoles())
    table = _keep_labelled(raw, settled, columns, missing_label)
    _require_classes(table, None if options is None else options.limit)
    _require_words(table)
    return table


def load_for_model(
    source: str | Path,
    roles: ColumnRoles,
    options: ReadOptions | None = None,
    *,
    named: ColumnRoles | None = None,
    missing_label: Literal["error", "drop"] = "error",
) -> Table:
    """Read labelled rows for a model that is there already: nothing is guessed, and one class is enough.

    Of `roles` the table must have the label and the features. What the user has `named` now, it must have whatever the
    role: a split column that is only spelled wrong would have test rows taken for others.
    """
    if roles.label is None:
        message = "The model does not say which column holds the labels."
        raise InputError(message, code="no-columns", hint=f"Name it with {option('label')}.")
    raw = read_as_meant(source, options)
    require_named(raw, named or ColumnRoles())
    return labelled_for_model(raw, roles, missing_label=missing_label)


def read_as_meant(source: str | Path, options: ReadOptions | None = None) -> RawTable:
    """Read a table whole, without the guard of its cells."""
    return undo_guard_of_table(read_table(source, options=options or ReadOptions()))


def labelled_for_model(
    raw: RawTable, roles: ColumnRoles, *, missing_label: Literal["error", "drop"] = "error"
) -> Table:
    """Return the labelled rows of a table that has the label and the features of these roles."""
    require_columns(raw, [str(roles.label)], ["label"])
    require_columns(raw, roles.features)
    return _keep_labelled(raw, roles, (), missing_label)


def typed_features(raw: RawTable, roles: ColumnRoles) -> pl.DataFrame:
    """Return the columns to learn from, typed; the table needs no label.

    >>> from untwin.data.read.table import Places
    >>> cells = pl.DataFrame({"body": ["no signal", None], "price": ["3", None]})
    >>> raw = RawTable(cells, Places("t.csv", [1, 2]), "csv")
    >>> typed_features(raw, ColumnRoles(text=("body",), numeric=("price",))).rows()
    [('no signal', 3.0), ('', None)]
    """
    require_columns(raw, roles.features)
    return raw.frame.select(
        *(pl.col(name).fill_null("") for name in roles.text),
        *_numbers(raw, roles.numeric),
        *roles.nominal,
    )


def require_columns(raw: RawTable, names: Iterable[str], roles: Iterable[str] = FEATURES) -> None:
    """Refuse a table that lacks a column a model was fitted on; the options of these `roles` can name another."""
    known = set(raw.frame.columns)
    for name in names:
        if name not in known:
            near = close_match(name, raw.frame.columns)
            hint = f"Is it {near!r} here? " if near is not None else ""
            message = f"{raw.name}: there is no column {name!r}, which the model needs. Columns: {raw.column_list()}."
            hint += f"Rename the column, or name yours with {', '.join(map(option, roles))}."
            raise InputError(message, code="missing-column", hint=hint)
        raw.require_usable(name)


def _keep_labelled(
    raw: RawTable, roles: ColumnRoles, columns: tuple[ColumnUse, ...], missing_label: Literal["error", "drop"]
) -> Table:
    """Return the rows that have a label, with the columns that have a role."""
    if roles.id in raw.frame.columns:
        raw = replace(raw, places=raw.places.with_ids(raw.frame[roles.id].to_list()))
    raw = _with_labels(raw, roles, missing_label)
    others = (column for column, role in roles.named() if role not in FEATURES and column in raw.frame.columns)
    frame = pl.DataFrame([*typed_features(raw, roles), *(raw.frame[column] for column in others)])
    empty = raw.frame.null_count().row(0, named=True)
    return Table(frame, roles, columns, raw.places, raw.format, raw.notes, empty)


def _class_lists(labels: pl.Series, separator: str | None) -> pl.Series:
    """Return the classes of each row; empty pieces between separators do not count."""
    if separator is None:
        return labels.reshape((-1, 1)).arr.to_list()
    return labels.str.split(separator).list.eval(pl.element().filter(pl.element() != ""))


def _with_labels(raw: RawTable, roles: ColumnRoles, missing: str) -> RawTable:
    """Return the rows that have a label; without leave to drop the others they are an error."""
    labels = raw.frame[str(roles.label)]
    absent = labels.is_null() | (_class_lists(labels, roles.label_separator).list.len() == 0)
    count = int(absent.sum())
    if count == 0:
        return raw
    first = raw.places.say(int(absent.arg_true()[0]))
    if missing == "error":
        are = "is" if count == 1 else "are"
        message = f"{first}, column {roles.label!r}: the label is empty ({count:,} of {len(labels):,} {are})."
        hint = f"Fill them in, or leave them out: {option('missing_label', 'drop')}."
        raise InputError(message, code="empty-label", hint=hint)
    kept = (~absent).arg_true().to_numpy()
    note = Note("missing-label", count, f"{format_count(count, 'row')} without a label dropped (the first: {first})")
    return replace(raw, frame=raw.frame.filter(~absent), places=raw.places.take(kept), notes=(*raw.notes, note))


def _numbers(raw: RawTable, names: Sequence[str]) -> list[pl.Series]:
    """Return columns as Float64: an empty cell and ``nan`` are missing, anything else must be a finite number."""
    cells = pl.col(names)
    numbers = as_numbers(cells)
    wrong = raw.frame.select((cells.is_not_null() & (numbers.is_null() | numbers.is_infinite())).sum())
    for column in wrong:
        if column[0]:
            raise _not_numbers(raw, column.name, column[0])
    return raw.frame.select(numbers.fill_nan(None)).get_columns()


def _not_numbers(raw: RawTable, name: str, count: int) -> InputError:
    cells = raw.frame[name]
    numbers = as_numbers(cells)
    first = int((cells.is_not_null() & (numbers.is_null() | numbers.is_infinite())).arg_true()[0])
    message = f"{raw.places.say(first)}, column {name!r}: {cells[first][:40]!r} is not a finite number"
    other = f"write decimals with a point, or use {option('nominal')}"
    hint = f"Leave the cell empty if the value is unknown, {other}."
    return InputError(f"{message} ({format_count(count, 'such cell')} in this column).", code="not-a-number", hint=hint)


def _require_classes(table: Table, limit: int | None) -> None:
    """Refuse a table with one class, and labels that an ordinal scale does not know."""
    counts = table.class_counts()
    name, label, scale = table.places.name, table.roles.label, table.roles.ordinal
    if len(counts) < 2:
        found = f"only one class, {counts['class'][0]!r}" if len(counts) else "no labelled row"
        rows = "the table holds" if limit is None else f"the first {format_count(limit, 'row holds', 'rows hold')}"
        more = "" if limit is None else f", or raise {option('limit')} or shuffle the rows"
        hint = f"Choose another column with {option('label')}{more}."
        raise InputError(f"{name}, column {label!r}: {rows} {found}.", code="one-class", hint=hint)
    unknown: pl.Series = table.labels.is_in(scale).not_().arg_true()
    if scale and len(unknown):
        row = int(unknown[0])
        message = f"{table.places.say(row)}, column {label!r}: the label {table.labels[row]!r} is not on the scale."
        raise InputError(message, code="not-ordinal", hint=f"Complete {option('ordinal')} {','.join(scale)!r}.")


def _require_words(table: Table) -> None:
    """Refuse a table that has nothing but texts, all of them without a single word."""
    roles = table.roles
    if roles.numeric or roles.nominal:
        return
    if len(table.without_words()) == table.frame.height:
        shown = ", ".join(map(repr, roles.text))
        message = f"{table.places.name}, column {shown}: every document is empty after tokenising."
        hint = f"A word has two or more letters: choose other {option('text')} columns."
        raise InputError(message, code="no-words", hint=hint)
