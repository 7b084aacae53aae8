"""Parquet: typed cells become the text they would have in a CSV file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin.data.read import limits
from untwin.data.read.source import PIECE, STDIN, name_of, open_source
from untwin.data.read.table import Places, RawTable, Refusal, empty_as_null

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_ROWS = 1 << 14
DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException)  # damaged pages can panic


def read_parquet(source: str) -> Iterator[tuple[RawTable, pl.DataFrame]]:
    """Yield the table row group by row group, as text and as it is; nested and binary columns are refused when used."""
    name = name_of(source)
    first = 1
    try:
        found = pl.scan_parquet(_searchable(source), glob=False, hive_partitioning=False)
        limits.require_columns_within_limits(found.collect_schema().names(), name)
        for frame in found.collect_batches(chunk_size=CHUNK_ROWS, maintain_order=True):
            for cells in frame.iter_slices(CHUNK_ROWS):
                yield _all_text(cells, name, first), cells
                first += cells.height
    except DAMAGED as error:
        raise _unreadable(name, error) from None


def _searchable(source: str) -> Path | io.BytesIO:
    """Return a file that can be searched; a pipe cannot, and is held in memory, packed as it is."""
    if source != STDIN and Path(source).is_file():
        with open_source(source):  # refuses what may not be read
            return Path(source)
    kept = io.BytesIO()
    with open_source(source) as file:
        while piece := file.read(PIECE):
            kept.write(piece)
            limits.require_fits(kept.tell(), name_of(source))
    kept.seek(0)
    return kept


def _unreadable(name: str, error: BaseException) -> InputError:
    """Return what to tell about a file that Polars gave up on."""
    reason = str(error).splitlines()[0]
    hint = "The file is damaged, cut off, or not Parquet: write or copy it again."
    return InputError(f"{name}: cannot be read as Parquet: {reason}.", code="parquet", hint=hint)


def _all_text(frame: pl.DataFrame, name: str, first: int) -> RawTable:
    """Return a frame as a table of strings; `first` is the number of its first row."""
    columns, refused = [], {}
    for column in frame:
        text = _as_text(column)
        if text is None:
            text = pl.Series(column.name, map(str, column.to_list()), dtype=pl.String)
            hint = "Write it as plain text (one value a cell), or name another column."
            refused[column.name] = Refusal("nested-column", f"holds values of type {column.dtype}", hint)
        columns.append(text)
    places = Places(name, np.arange(first, first + frame.height))
    table = RawTable(empty_as_null(pl.DataFrame(columns)), places, "parquet", refused=refused)
    _refuse_long_rows(table)
    return table


def _refuse_long_rows(table: RawTable) -> None:
    if table.size() > limits.LONGEST_RECORD:
        size = pl.sum_horizontal(pl.all().str.len_bytes().cast(pl.UInt64))
        long = table.frame.select(size > limits.LONGEST_RECORD).to_series().arg_true()
        if len(long):
            limits.refuse_long_record(table.places.say(int(long[0])), "")


def _as_text(column: pl.Series) -> pl.Series | None:
    """Return the column as text, or None if its values are not single pieces of text."""
    if column.dtype.is_nested() or column.dtype == pl.Object:
        return None
    try:  # binary columns of old writers are often text
        return column.cast(pl.String)
    except pl.exceptions.PolarsError:
        return None
