"""Texts on their way to tokens: any column in, blocks of a Polars string column out, cleaned.

A *block* is a run of consecutive texts of bounded size. Blocks bound the memory that tokens need and are the unit of
parallel work; no result depends on where the cuts fall.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

from untwin._forks import require_polars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from numpy.typing import NDArray

    Cleaner = Callable[[pl.Series], pl.Series]
    Item = TypeVar("Item")
    Result = TypeVar("Result")

BLOCK_BYTES = 1 << 20


def text_blocks(texts: Any, size: int = BLOCK_BYTES) -> Iterator[pl.Series]:
    """Yield `texts` (a sequence, or a Polars, pandas or Arrow column) as string columns of about `size` bytes each.

    >>> [block.to_list() for block in text_blocks(["one text", "another", "and a third"], size=16)]
    [['one text', 'another'], ['and a third']]
    """
    if isinstance(texts, str | bytes):
        raise ValueError("texts must be a sequence of strings. Got one string instead: put it into a list.")
    items = texts if is_column(texts) else list(texts)
    column = _as_string_column(pl.Series(items)) if is_column(items) else None
    lengths = np.fromiter(map(len, _only_strings(items)), int) if column is None else column.str.len_bytes().to_numpy()
    for start, stop in pairwise(_cuts(lengths, size)):
        yield _string_block(items[start:stop], start) if column is None else column.slice(start, stop - start)


def is_column(texts: Any) -> bool:
    """Tell whether `texts` is a column of a frame library (or an Arrow array) rather than a sequence of strings."""
    return isinstance(texts, pl.Series) or nw.dependencies.is_pandas_series(texts) or hasattr(texts, "to_pylist")


def _as_string_column(column: pl.Series) -> pl.Series:
    if column.dtype in (pl.Categorical, pl.Enum, pl.Null):
        column = column.cast(pl.String)
    if column.dtype != pl.String:
        raise ValueError(f"texts must be strings. Got a column of {column.dtype} instead.")
    if column.null_count():
        row = column.is_null().arg_max()
        raise ValueError(f"Every text must be a string. Got a missing value at row {row} instead: use an empty string.")
    return column


def _only_strings(items: list[Any]) -> list[str]:
    if not set(map(type, items)) <= {str, np.str_}:
        row, item = next(pair for pair in enumerate(items) if not isinstance(pair[1], str))
        raise ValueError(f"Every text must be a string. Got {item!r} at row {row} instead.")
    return items


def _string_block(items: list[str], first_row: int) -> pl.Series:
    try:
        return pl.Series(items, dtype=pl.String)
    except UnicodeEncodeError:
        row = next(row for row, item in enumerate(items) if any("\ud800" <= char <= "\udfff" for char in item))
        message = f"The text at row {first_row + row} holds half a surrogate pair: it is not valid Unicode."
        raise ValueError(message) from None


def _cuts(lengths: NDArray[np.integer], size: int) -> list[int]:
    """Return where blocks begin and end, so that each holds about `size` (a longer text stands alone)."""
    if len(lengths) == 0:
        return []
    block_of = np.cumsum(lengths, dtype=np.int64) // size
    return [0, *(np.flatnonzero(np.diff(block_of)) + 1).tolist(), len(lengths)]


def cleaner(*, lowercase: bool, strip_accents: str | Callable[[str], str] | None) -> Cleaner:
    """Return the function that prepares a block of texts: NFC, then lower case, then accents off."""

    def clean(block: pl.Series) -> pl.Series:
        block = _beyond_ascii(block, lambda texts: texts.str.normalize("NFC"))
        if lowercase:
            block = block.str.to_lowercase()
        if callable(strip_accents):
            return pl.Series([strip_accents(text) for text in block.to_list()], dtype=pl.String)
        if strip_accents is not None:
            drop = _combining_characters() if strip_accents == "unicode" else r"[^\x00-\x7f]+"
            return _beyond_ascii(block, lambda texts: texts.str.normalize("NFKD").str.replace_all(drop, ""))
        return block

    return clean


def _beyond_ascii(block: pl.Series, change: Cleaner) -> pl.Series:
    """Change only texts that are not ASCII: those are their own normal form, and normalising is slow."""
    beyond = (block.str.len_bytes() != block.str.len_chars()).arg_true()
    return block.clone().scatter(beyond, change(block.gather(beyond))) if len(beyond) else block


@cache
def _combining_characters() -> str:
    """Return a pattern of what `unicodedata.combining` calls combining: Rust has no class for exactly these."""
    marks = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code))]
    return f"[{''.join(marks)}]+"


def on_all_cores(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Map `function` over `items` on as many threads as Polars uses (it and NumPy release the GIL).

    Items are taken as they are needed, so that a generator of blocks is never in memory as a whole.
    """
    require_polars()
    threads = pl.thread_pool_size()
    results: list[Result] = []
    with ThreadPoolExecutor(threads) as pool:
        running: deque[Future[Result]] = deque()
        for item in items:
            if len(running) > threads:
                results.append(running.popleft().result())
            running.append(pool.submit(function, item))
        results.extend(future.result() for future in running)
    return results
