"""Any table as batches of rows, in memory that does not depend on how long it is."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from untwin._errors import InputError
from untwin.cli.stream.blocks import header_of, line_blocks, lines_of, opened_bytes, record_blocks
from untwin.data.read import RawTable, ReadOptions, format_by_name, read_table
from untwin.data.read.delimited import read_delimited, separator_of
from untwin.data.read.jsonl import read_jsonl
from untwin.data.read.parquet import DAMAGED, all_text, unreadable
from untwin.data.read.source import STDIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from untwin.cli.stream.blocks import Block

PLACE = re.compile(r"row (\d+) \(line (\d+)\)")


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some consecutive rows.

    raw      every cell as text, with its place in the file
    cells    as they are to be written again: typed where the format has types
    objects  JSON Lines as written; None for other formats
    """

    raw: RawTable
    cells: pl.DataFrame
    objects: list[str] | None = None

    @classmethod
    def of_text(cls, raw: RawTable) -> Batch:
        """Return the batch of a format without types."""
        return cls(raw, raw.frame)

    def head(self, limit: int) -> Batch:
        """Return the first rows."""
        objects = None if self.objects is None else self.objects[:limit]
        return Batch(self.raw.head(limit), self.cells.head(limit), objects)


def format_of(source: str, options: ReadOptions) -> str:
    """Return the format of a file, as told or by its name; a folder is one of its own."""
    if source != STDIN and not Path(source).exists():
        hint = f"Check the path; the current directory is {Path.cwd()}."
        raise InputError(f"{source}: there is no such file or folder.", code="not-found", hint=hint)
    if source != STDIN and Path(source).is_dir():
        return "folder"
    return options.format or format_by_name(Path(source), _name(source))


def batches(source: str, options: ReadOptions, most_rows: int) -> Iterator[Batch]:
    """Yield the rows of a table in order, at most so many at a time; a batch of bad rows alone is empty."""
    rows = 0
    for batch in _all_batches(source, options, most_rows):
        kept = batch if options.limit is None else batch.head(options.limit - rows)
        yield kept
        rows += kept.cells.height
        if rows == options.limit:
            return
    if not rows:
        raise InputError(f"{_name(source)}: there are no rows.", code="no-rows", hint="Give at least one row.")


def _all_batches(source: str, options: ReadOptions, most_rows: int) -> Iterator[Batch]:
    match format_of(source, options):
        case "folder":
            return _sliced(read_table(source, options=options), most_rows)
        case "parquet":
            return _parquet(source, most_rows)
        case "jsonl":
            return _jsonl(source, options, most_rows)
        case kind:
            return _delimited(source, kind, options, most_rows)


def _sliced(raw: RawTable, most_rows: int) -> Iterator[Batch]:
    for start in range(0, raw.frame.height, most_rows):
        rows = np.arange(start, min(start + most_rows, raw.frame.height))
        yield Batch.of_text(replace(raw, frame=raw.frame[rows], places=raw.places.take(rows), notes=()))


def _delimited(source: str, kind: str, options: ReadOptions, most_rows: int) -> Iterator[Batch]:
    mark = separator_of(options.separator, kind)
    lines = lines_of(source, options.encoding, newline="")
    header = "".join(header_of(lines, mark))

    def read(block: Block, allowed: int) -> RawTable:
        return read_delimited((header + block.text).encode(), _name(source), kind, options.separator, allowed)

    yield from map(Batch.of_text, _read(record_blocks(lines, mark, most_rows), read, options.skip_bad_rows))


def _jsonl(source: str, options: ReadOptions, most_rows: int) -> Iterator[Batch]:
    """Read objects; a key that a batch lacks, but an earlier one had, is a column without values."""
    lines = lines_of(source, options.encoding, newline="\n")
    kept: list[str] = []
    seen: dict[str, None] = {}

    def read(block: Block, allowed: int) -> RawTable:
        raw = read_jsonl(block.text.encode(), _name(source), allowed)
        written = block.text.split("\n")
        kept[:] = [written[line - 1] for line in np.asarray(raw.places.lines).tolist()]
        return raw

    for raw in _read(line_blocks(lines, most_rows), read, options.skip_bad_rows):
        seen |= dict.fromkeys(raw.frame.columns)
        missing = [None] * len(kept)
        frame = pl.DataFrame(
            {name: raw.frame.get_column(name, default=missing) for name in seen}, dict.fromkeys(seen, pl.String)
        )
        yield Batch(replace(raw, frame=frame), frame, kept.copy())


def _read(blocks: Iterator[Block], read: Callable[[Block, int], RawTable], allowed: int) -> Iterator[RawTable]:
    """Read block by block and count rows and lines from the beginning of the file, in errors too."""
    for block in blocks:
        if not block.text.strip():
            continue
        try:
            raw = read(block, allowed)
        except InputError as error:
            raise InputError(_moved(error.message, block), code=error.code, hint=error.hint) from None
        allowed -= sum(note.count for note in raw.notes)
        lines = None if raw.places.lines is None else raw.places.lines + block.lines
        yield replace(raw, places=replace(raw.places, rows=raw.places.rows + block.rows, lines=lines))


def _moved(message: str, block: Block) -> str:
    """Return a message about a block with places that count from the beginning of the file."""

    def moved(place: re.Match[str]) -> str:
        return f"row {int(place[1]) + block.rows} (line {int(place[2]) + block.lines})"

    return PLACE.sub(moved, message)


def _parquet(source: str, most_rows: int) -> Iterator[Batch]:
    """Read row groups as they are needed; standard input cannot be searched and is held in memory, packed as it is."""
    file: Path | io.BytesIO = Path(source)
    if source == STDIN:
        with opened_bytes(source) as stream:
            file = io.BytesIO(stream.read())
    first = 1
    try:
        for frame in pl.scan_parquet(file).collect_batches(chunk_size=most_rows, maintain_order=True):
            for cells in frame.iter_slices(most_rows):
                yield Batch(all_text(cells, _name(source), first), cells)
                first += cells.height
    except DAMAGED as error:
        raise unreadable(_name(source), error) from None


def _name(source: str) -> str:
    return "stdin" if source == STDIN else source
