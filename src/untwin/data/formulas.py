"""Cells that a spreadsheet would run as formulas: an apostrophe guards them when written, reading takes it away again.

dangerous   apostrophes or none, then a tab or line end; or blanks and invisible characters or none, then one of
            = + - @ in any width. A plain number such as -1.5 or +3 is not dangerous
guard       puts one apostrophe before each dangerous cell or column name
undo_guard  takes one apostrophe away where a dangerous cell follows it, so that it gives back what was guarded

What a table says in CSV and TSV is what it says without the guard, whoever wrote it: a spreadsheet means the same by
the apostrophe. Other formats are not opened as spreadsheets, and are read and written as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from untwin.data.read import RawTable, TableBatch

DELIMITED = ("csv", "tsv")
_FORMULA = r"(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫])"
_DANGEROUS = rf"^'*{_FORMULA}"
_GUARDED = rf"^'+{_FORMULA}"
_NUMBER = r"^[+-](?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def guard(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table with an apostrophe before cells and column names that a spreadsheet would run.

    >>> guard(pl.DataFrame({"cell": ["=1+1", "-5", "a=b", "-x", "'-x"]}))["cell"].to_list()
    ["'=1+1", '-5', 'a=b', "'-x", "''-x"]
    """
    cell = pl.col(pl.String)
    runs = cell.str.contains(_DANGEROUS) & ~cell.str.contains(_NUMBER)
    return _change_cells(frame, pl.when(runs).then(pl.lit("'") + cell).otherwise(cell).name.keep())


def undo_guard(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table as it was before `guard`.

    >>> undo_guard(pl.DataFrame({"cell": ["'=1+1", "-5", "a=b", "'tis"]}))["cell"].to_list()
    ['=1+1', '-5', 'a=b', "'tis"]
    """
    cell = pl.col(pl.String)
    runs = cell.str.contains(_GUARDED)
    return _change_cells(frame, pl.when(runs).then(cell.str.slice(1)).otherwise(cell).name.keep())


def undo_guard_of_table(raw: RawTable) -> RawTable:
    """Return a table that was read as it is to be used: of CSV and TSV, without the guard."""
    if raw.format not in DELIMITED:
        return raw
    frame = undo_guard(raw.frame)
    names = dict(zip(raw.frame.columns, frame.columns, strict=True))
    return replace(raw, frame=frame, refused={names.get(name, name): why for name, why in raw.refused.items()})


def undo_guard_of_batch(batch: TableBatch) -> TableBatch:
    """Return a batch with the cells of CSV and TSV as they are meant."""
    raw = undo_guard_of_table(batch.raw)
    return batch if raw is batch.raw else replace(batch, raw=raw, cells=raw.frame)


def _change_cells(frame: pl.DataFrame, change: pl.Expr) -> pl.DataFrame:
    """Change the cells, and the column names unless two of them would become one."""
    names = pl.DataFrame({"name": frame.columns}, schema={"name": pl.String}).with_columns(change)["name"]
    changed = frame.with_columns(change)
    return changed if names.n_unique() < len(names) else changed.rename(dict(zip(frame.columns, names, strict=True)))
