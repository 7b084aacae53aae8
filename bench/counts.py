"""`TextCounts` against `CountVectorizer`: seconds to fit and transform, and peak memory."""

from __future__ import annotations

import os
import time
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import Stemmer
from sklearn.feature_extraction.text import CountVectorizer

from bench._measure import arguments, best_seconds, peak_memory, show
from untwin import TextCounts
from untwin.data import ngrams, symbols, texts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SETS = ("20newsgroups", "webdirectory")
JOBS: dict[str, dict[str, Any]] = {
    "words": {},
    "stop words and stems": {"stop_words": "english", "stemmer": "english"},
    "uni+bigrams": {"ngram_range": (1, 2)},
}


def sklearn_counts(stemmer: str | None = None, **options: Any) -> CountVectorizer:
    """Return the peer; stemming goes into its analyser, as its documentation recommends."""
    if stemmer is None:
        return CountVectorizer(**options)
    stem, words = Stemmer.Stemmer(stemmer), CountVectorizer(**options).build_analyzer()
    return CountVectorizer(analyzer=lambda text: stem.stemWords(words(text)))


def read(path: Path) -> list[str]:
    """Return the texts of a data set as a plain list, which is what both sides get."""
    return pl.read_parquet(path, columns=["text"])["text"].to_list()


def count(make: Callable[..., Any], path: Path, options: dict[str, Any]) -> None:
    """Read and count: what the memory measurement runs in a process of its own."""
    make(**options).fit_transform(read(path))


def stages(corpus: list[str]) -> dict[str, float]:
    """Return where the time of counting words goes (seconds, one run)."""
    clock = [time.perf_counter()]
    words, clean = symbols.Words(symbols.WORDS_OF_TWO_OR_MORE), texts.cleaner(lowercase=True, strip_accents=None)
    blocks = list(texts.text_blocks(corpus))
    clock.append(time.perf_counter())
    texts.on_all_cores(lambda block: clean(block).str.extract_all(r"\w\w+"), blocks)
    clock.append(time.perf_counter())
    found = words.read(blocks, clean)
    clock.append(time.perf_counter())
    (level,) = ngrams.count_ngrams(found, 1, 1)
    clock.append(time.perf_counter())
    terms, columns = symbols.rank_names(found.names)
    level.matrix(columns, (len(corpus), len(terms)), int)
    clock.append(time.perf_counter())
    column, matching, reading, counting, assembling = (later - earlier for earlier, later in pairwise(clock))
    return {
        "column": column,
        "matching": matching,
        "encoding": reading - matching,
        "counting": counting,
        "assembling": assembling,
    }


def measured(path: Path, job: str, repeats: int) -> dict[str, Any]:
    """Return the figures of one job on one set."""
    corpus, settings = read(path), JOBS[job]
    makers = {"untwin": TextCounts, "sklearn": sklearn_counts}
    seconds = best_seconds(
        {name: partial(make(**settings).fit_transform, corpus) for name, make in makers.items()}, repeats
    )
    memory = {name: peak_memory(count, make, path, settings) for name, make in makers.items()}
    return {
        "set": path.stem,
        "job": job,
        "untwin s": seconds["untwin"],
        "sklearn s": seconds["sklearn"],
        "times as fast": seconds["sklearn"] / seconds["untwin"],
        "untwin MiB": memory["untwin"],
        "sklearn MiB": memory["sklearn"],
        "memory ratio": memory["untwin"] / memory["sklearn"],
    }


def main() -> None:
    """Run all jobs on all sets."""
    options = arguments(__doc__)
    paths = [options.data / "text" / f"{name}.parquet" for name in SETS]
    rows = [measured(path, job, options.repeats) for path in paths for job in JOBS]
    where = {path.stem: stages(read(path)) for path in paths}
    show(rows, as_json=options.json, cores=os.cpu_count(), seconds_by_stage=where)


if __name__ == "__main__":
    main()
