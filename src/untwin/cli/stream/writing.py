"""Answers beside the rows they belong to, written batch by batch: CSV, TSV, JSON Lines, Parquet."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from polars.io.plugins import register_io_source

from untwin._errors import InputError
from untwin.store.files import write_new

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from untwin.data.read import Batch

    Answered = Iterable[tuple[Batch, pl.DataFrame]]

SEPARATORS = {"csv": ",", "tsv": "\t"}
FORMULA = r"^[=+\-@\t\r]"  # what a spreadsheet would run
SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


def write(answered: Answered, output: str | None, kind: str, *, raw: bool) -> None:
    """Write to standard output, or to a file that takes its name when it is complete."""
    if output is None:
        for piece in pieces(answered, kind, raw=raw):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    path = Path(output)
    with _unfinished_removed(path) as unfinished:
        if kind == "parquet":
            _write_parquet(answered, unfinished)
        else:
            write_new(path, pieces(answered, kind, raw=raw))
        unfinished.replace(path)


def output_format(output: str | None, read: str) -> str:
    """Return the format of the output: by the name of the file; on standard output that of the input, if it is text."""
    if output is None:
        return read if read in (*SEPARATORS, "jsonl") else "csv"
    path = Path(output)
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        message = f"{output}: the format cannot be told from its name ({', '.join(SUFFIXES)})."
        raise InputError(message, code="format", hint="Give the file another name.")
    if not path.parent.is_dir():
        message = f"{path.parent}: there is no such folder."
        raise InputError(message, code="not-found", hint="Make it first, or choose another place with -o.")
    return kind


def pieces(answered: Answered, kind: str, *, raw: bool) -> Iterator[bytes]:
    """Yield the bytes of a text format."""
    if kind == "jsonl":
        yield from map(_json_lines, answered)
        return
    header = True
    for frame in _same_columns((batch.raw.frame, answers) for batch, answers in answered):
        cells = frame if raw else harmless(frame)
        yield cells.write_csv(separator=SEPARATORS[kind], include_header=header).encode()
        header = False


def harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before cells that a spreadsheet would take for formulas; numbers stay as they are.

    >>> harmless(pl.DataFrame({"cell": ["=1+1", "-5", "a=b", "-x"]}))["cell"].to_list()
    ["'=1+1", '-5', 'a=b', "'-x"]
    """
    cell = pl.col(pl.String)
    number = cell.str.strip_chars().cast(pl.Float64, strict=False)
    formula = cell.str.contains(FORMULA) & number.is_null()
    return frame.with_columns(pl.when(formula).then(pl.lit("'") + cell).otherwise(cell).name.keep())


def _json_lines(pair: tuple[Batch, pl.DataFrame]) -> bytes:
    """Append the answers to the objects as they were written; or make objects of cells and answers."""
    batch, answers = pair
    if batch.objects is None:
        return pl.concat([batch.cells, answers], how="horizontal").write_ndjson().encode()
    told = answers.write_ndjson().removesuffix("\n").split("\n")  # not splitlines: a label may hold U+2028
    return "".join(joined(given, line) for given, line in zip(batch.objects, told, strict=True)).encode()


def joined(given: str, answers: str) -> str:
    r"""Return one JSON object of two.

    >>> joined('{"a": 1.50}', '{"b":2}'), joined(" {} ", '{"b":2}')
    ('{"a": 1.50,"b":2}\n', '{"b":2}\n')
    """
    body = given.strip()[:-1].rstrip()
    return f"{body}{'' if body == '{' else ','}{answers[1:]}\n"


def _same_columns(pairs: Iterable[tuple[pl.DataFrame, pl.DataFrame]]) -> Iterator[pl.DataFrame]:
    """Yield cells and answers side by side, with the columns that the first batch has."""
    columns: list[str] = []
    for cells, answers in pairs:
        columns = columns or cells.columns
        strange = [name for name in cells.columns if name not in columns]
        if strange:
            message = f"The key {strange[0]!r} comes up late, when the columns are written already."
            raise InputError(message, code="late-column", hint="Write JSON Lines instead: -o FILE.jsonl.")
        yield pl.concat([cells.select(columns), answers], how="horizontal")


def _write_parquet(answered: Answered, path: Path) -> None:
    """Let Polars write batches as they come."""
    frames = _same_columns((batch.cells, answers) for batch, answers in answered)
    first = next(frames)

    def source(*_: object) -> Iterator[pl.DataFrame]:
        yield first
        yield from frames

    register_io_source(source, schema=first.schema).sink_parquet(path)
    with path.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def _unfinished_removed(path: Path) -> Iterator[Path]:
    """Give the name of the unfinished file; nothing of that name is left if the work fails."""
    unfinished = path.with_name(f"{path.name}.new")
    try:
        yield unfinished
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
