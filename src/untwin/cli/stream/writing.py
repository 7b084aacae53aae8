"""Answers beside the rows they belong to, written batch by batch: CSV, TSV, JSON Lines, Parquet."""

from __future__ import annotations

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event
from typing import TYPE_CHECKING, BinaryIO

import polars as pl
from polars.io.plugins import register_io_source

from untwin._errors import InputError
from untwin._files import replacing, require_replaceable
from untwin.cli.model_files import require_outside
from untwin.cli.output import put_bytes
from untwin.data.formulas import guard
from untwin.data.read.source import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    from untwin.data.read import TableBatch

    AnsweredBatches = Iterable[tuple[TableBatch, pl.DataFrame]]

SEPARATORS = {"csv": ",", "tsv": "\t"}
SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
OS_ERROR = re.compile(r"\(os error (\d+)\)")  # how Polars tells of one
LOOK_AGAIN = 0.1  # seconds, between two threads


def write(answered: AnsweredBatches, output: str | None, kind: str, *, raw: bool) -> None:
    """Write to standard output, or to a file that takes its name when it is complete; `raw` leaves out the guard."""
    if output is None:
        for piece in pieces(answered, kind, raw=raw):
            put_bytes(piece)
        return
    with replacing(output) as file:
        if kind == "parquet":
            _write_parquet(answered, file)
        else:
            file.writelines(pieces(answered, kind, raw=raw))


def output_format(output: str | None, read: str) -> str:
    """Return the format of the output: by the name of the file; on standard output that of the input, if it is text."""
    if output is None:
        return read if read in (*SEPARATORS, "jsonl") else "csv"
    kind = SUFFIXES.get(Path(output).suffix.lower())
    if kind is None:
        message = f"{output}: the format cannot be told from its name ({', '.join(SUFFIXES)})."
        raise InputError(message, code="format", hint="Give the file another name.")
    return kind


def require_place(output: str, data: str, model: str, *, force: bool) -> None:
    """Refuse, before the work begins, to write over the rows that are read or among the files of the model."""
    path = Path(output)
    found = require_replaceable(path)
    require_outside(path, Path(model))
    read = _input_stat(data)
    if found is not None and read is not None and not force and os.path.samestat(found, read):
        message = f"{output}: is the file that is read, and its rows would be replaced."
        raise InputError(message, code="own-input", hint="Choose another place with -o, or replace it with --force.")


def pieces(answered: AnsweredBatches, kind: str, *, raw: bool) -> Iterator[bytes]:
    """Yield the bytes of a text format."""
    if kind == "jsonl":
        yield from map(_json_lines, answered)
        return
    header = True
    for frame in _same_columns((batch.raw.frame, lists_as_json(answers)) for batch, answers in answered):
        cells = frame if raw else guard(frame)
        yield cells.write_csv(separator=SEPARATORS[kind], include_header=header).encode()
        header = False


def lists_as_json(answers: pl.DataFrame) -> pl.DataFrame:
    r"""Return answers with lists as texts, for formats of plain cells.

    >>> lists_as_json(pl.DataFrame({"a": [["x", 'y"'], []]}))["a"].to_list()
    ['["x", "y\\""]', '[]']
    """
    lists = [name for name, kind in answers.schema.items() if isinstance(kind, pl.List)]
    return answers.with_columns(_as_json(answers[name]) for name in lists)


def _as_json(column: pl.Series) -> pl.Series:
    """Return lists as JSON; each different item is spelled out once."""
    items = column.explode().drop_nulls().unique().to_list()
    spelled = dict(zip(items, map(json.dumps, items), strict=True))
    if not spelled:
        return pl.Series(column.name, ["[]"] * len(column), dtype=pl.String)
    names = column.list.eval(pl.element().replace_strict(spelled, return_dtype=pl.String))
    return pl.select(pl.format("[{}]", names.list.join(", ").fill_null(""))).to_series().alias(column.name)


def _input_stat(data: str) -> os.stat_result | None:
    """Return what the system says about the input; None if that is nothing that could be written over."""
    with suppress(OSError, ValueError, AttributeError):  # a closed or replaced standard input
        return os.fstat(sys.stdin.fileno()) if data == STDIN else Path(data).stat()
    return None


def _json_lines(pair: tuple[TableBatch, pl.DataFrame]) -> bytes:
    """Append the answers to the objects as they were written; or make objects of cells and answers."""
    batch, answers = pair
    if batch.objects is None:
        return pl.concat([batch.cells, answers], how="horizontal").write_ndjson().encode()
    told = answers.write_ndjson().removesuffix("\n").split("\n")  # not splitlines: a label may hold U+2028
    return "".join(join_objects(given, line) for given, line in zip(batch.objects, told, strict=True)).encode()


def join_objects(given: str, answers: str) -> str:
    r"""Return one JSON object of two.

    >>> join_objects('{"a": 1.50}', '{"b":2}'), join_objects(" {} ", '{"b":2}')
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


def _write_parquet(answered: AnsweredBatches, file: BinaryIO) -> None:
    """Let Polars write batches as they come, in another thread: this one must be free to hear that it is to end."""
    frames = _same_columns((batch.cells, answers) for batch, answers in answered)
    first, waiting, ended = next(frames), Queue[pl.DataFrame](1), Event()

    def source(*_: object) -> Iterator[pl.DataFrame]:
        yield first
        while (frame := _take_next(waiting, ended)) is not None:
            yield frame

    with ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        stack.callback(ended.set)  # before the pool waits for its thread, whatever happens
        written = pool.submit(_sink, register_io_source(source, schema=first.schema), file)
        for frame in frames:
            if not _hand_over(frame, waiting, written):
                break
    written.result()


def _sink(table: pl.LazyFrame, file: BinaryIO) -> None:
    try:
        table.sink_parquet(file)
    except pl.exceptions.ComputeError as error:
        number = OS_ERROR.search(str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from None  # a full disk is no bug


def _hand_over(frame: pl.DataFrame, waiting: Queue[pl.DataFrame], written: Future[None]) -> bool:
    """Give a batch to the thread that writes; say no if that has failed."""
    while not written.done():
        with suppress(Full):
            waiting.put(frame, timeout=LOOK_AGAIN)
            return True
    return False


def _take_next(waiting: Queue[pl.DataFrame], ended: Event) -> pl.DataFrame | None:
    """Return the next batch; None if there are no more."""
    while True:
        last = ended.is_set()  # asked first: a batch may come between the two
        with suppress(Empty):
            return waiting.get(timeout=LOOK_AGAIN)
        if last:
            return None
