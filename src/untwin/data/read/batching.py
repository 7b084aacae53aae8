"""Any table as batches of rows; or whole, which is all batches together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin._progress import report
from untwin._wording import format_count, option
from untwin.data.read import limits
from untwin.data.read.delimited import read_delimited
from untwin.data.read.folder import read_folder
from untwin.data.read.jsonl import read_jsonl
from untwin.data.read.parquet import read_parquet
from untwin.data.read.source import STDIN, name_of, refuse_spreadsheet, text_pieces
from untwin.data.read.table import Places, RawTable, ReadOptions, bad_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_SPREADSHEETS = {".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"}


@dataclass(frozen=True, slots=True, eq=False)
class TableBatch:
    """Some consecutive rows.

    raw      every cell as text, with its place in the file
    cells    as they are to be written again: typed where the format has types
    objects  JSON Lines as written; None for other formats
    """

    raw: RawTable
    cells: pl.DataFrame
    objects: list[str] | None = None

    @classmethod
    def of_text(cls, raw: RawTable, objects: list[str] | None = None) -> TableBatch:
        """Return the batch of a format without types."""
        return cls(raw, raw.frame, objects)

    def part(self, start: int, stop: int) -> TableBatch:
        """Return some of the rows; what was passed over is told with the first of them."""
        rows = slice(start, stop)
        objects = None if self.objects is None else self.objects[rows]
        return TableBatch(self.raw.part(start, stop), self.cells[rows], objects)


def read_table(source: str | Path, *, options: ReadOptions | None = None) -> RawTable:
    r"""Return the table in a file, a folder or (``-``) standard input, every cell as text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tickets.csv"
    ...     _ = path.write_text("text,label\nno signal,NA\nbattery flat,01\n")
    ...     read_table(path).frame["label"].to_list()
    ['NA', '01']
    """
    name, size = name_of(str(source)), 0
    report(f"reading {name}", 0, 1)
    tables = []
    for batch in read_batches(str(source), options or ReadOptions()):
        size += batch.raw.size()
        limits.require_fits(size, name)
        tables.append(batch.raw)
    report(f"reading {name}", 1, 1)
    return tables[0] if len(tables) == 1 else _together(tables)


def read_batches(source: str, options: ReadOptions, most_rows: int | None = None) -> Iterator[TableBatch]:
    """Yield the rows of a table in order, at most so many at a time; a batch of bad rows alone is empty."""
    rows = bad = 0
    for block in _one_behind(_blocks(source, options)):
        bad += sum(note.count for note in block.raw.notes if note.code == "bad-rows")
        left = block.cells.height if options.limit is None else min(block.cells.height, options.limit - rows)
        for start in range(0, max(left, 1), most_rows or max(left, 1)):
            yield block.part(start, min(start + most_rows, left) if most_rows else left)
        rows += left
        if rows == options.limit:
            return
    if not rows:
        besides = f" besides {format_count(bad, 'bad one')}" if bad else ""
        hint = "Give at least one row, below a header where the format has one."
        raise InputError(f"{name_of(source)}: there are no rows{besides}.", code="no-rows", hint=hint)


def format_of(source: str, options: ReadOptions) -> str:
    """Return the format of a file, as told or by its name; a folder is one of its own."""
    path, name = Path(source), name_of(source)
    if source != STDIN and not path.exists():
        hint = f"Check the path; the current directory is {Path.cwd()}."
        raise InputError(f"{name}: there is no such file or folder.", code="not-found", hint=hint)
    if source != STDIN and path.is_dir():
        return "folder"
    return options.format or _format_by_name(path, name)


def _format_by_name(path: Path, name: str) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    ending = next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), "")
    if ending in _SPREADSHEETS:
        refuse_spreadsheet(name)
    if name != "stdin" and ending in _FORMATS:
        return _FORMATS[ending]
    message = f"{name}: the format cannot be told from its name ({', '.join(_FORMATS)})."
    if name == "stdin":
        message = "The format of standard input is unknown."
    raise InputError(message, code="format", hint=f"Say {option('format')} csv, tsv or jsonl.")


def _blocks(source: str, options: ReadOptions) -> Iterator[TableBatch]:
    """Yield a table in parts as large as its format has them."""
    kind, name, allowed = format_of(source, options), name_of(source), options.skip_bad_rows
    if kind == "folder":
        yield TableBatch.of_text(read_folder(Path(source), options.encoding))
    elif kind == "parquet":
        yield from (TableBatch(table, cells) for table, cells in read_parquet(source))
    elif kind == "jsonl":
        pieces = text_pieces(source, options.encoding)
        yield from (TableBatch.of_text(*found) for found in read_jsonl(pieces, name, allowed))
    else:
        pieces = text_pieces(source, options.encoding)
        yield from map(TableBatch.of_text, read_delimited(pieces, name, kind, options.separator, allowed))


def _one_behind(blocks: Iterator[TableBatch]) -> Iterator[TableBatch]:
    """Yield a block when the next one is there: of a small file that is broken somewhere no row is used."""
    held = next(blocks, None)
    for block in blocks:
        if held is not None:
            yield held
        held = block
    if held is not None:
        yield held


def _together(tables: Sequence[RawTable]) -> RawTable:
    """Return one table of several; a column that some lack is empty there."""
    first = tables[0]
    rows, lines = np.concatenate([table.places.rows for table in tables]), None
    if first.places.lines is not None:
        lines = np.concatenate([np.asarray(table.places.lines) for table in tables])
    frame = pl.concat([table.frame for table in tables], how="diagonal", rechunk=True)
    bad = sum(note.count for table in tables for note in table.notes)
    refused = {column: refusal for table in reversed(tables) for column, refusal in table.refused.items()}
    return RawTable(frame, Places(first.name, rows, lines), first.format, bad_rows(bad), refused)
