"""Are explanations true? Delete the terms that they name, and see what happens to the answers. And how long they take.

For up to 500 test rows of each set, the three words (of a table: cells) that speak most for the answer are deleted,
then three random ones, then the three with the largest tf-idf. Printed are the mean change of the log-odds of the
answer against the next class, and the share of the rows that are answered otherwise. The time is that of `explain` for
one text, the best of a few runs for each text, so that other work on the machine counts less.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.model_selection import train_test_split

from bench._measure import parser, show
from bench._sets import documents, parts
from untwin import UntwinClassifier
from untwin.answer.terms import TermReader, clean, word_spans
from untwin.answer.words import read_text
from untwin.model.features.inputs import stack_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXTS = ("banking77", "reviews_ordinal", "20newsgroups")
TABLE, LABEL = "german", "class"
TIMED, RUNS = "20newsgroups", 3
DELETED = 3
STEMS = TermReader("word", 1, 1, "english")


class Asked(NamedTuple):
    """A fitted model, rows to ask it about, and how to weigh and delete the words or cells of one of them."""

    model: UntwinClassifier
    rows: Any
    weigh: Callable[[Any], dict[str, float]]
    delete: Callable[[Any, list[str]], Any]

    def row(self, number: int) -> Any:
        """Return one row as the model takes it."""
        return self.rows[[number]] if isinstance(self.rows, pl.DataFrame) else [self.rows[number]]


def texts(folder: Path, name: str, n_rows: int) -> Asked:
    """Fit a model to the training part of a set of texts; ask about its test part."""
    table = documents(folder, name)
    train, test = next(parts(table))
    given, labels = table["text"].to_numpy(), table["label"].to_numpy()
    model = UntwinClassifier().fit(given[train].tolist(), labels[train])
    some = np.random.default_rng(0).permutation(test)[:n_rows]
    answerer: Any = model.state_.answerer

    def weigh(row: list[str]) -> dict[str, float]:
        read = read_text(row[0], answerer.lookups)
        return dict(zip(read.words, read.sum_by_word(answerer.values(read.rows)).tolist(), strict=True))

    return Asked(model, given[some].tolist(), weigh, without_words)


def table(folder: Path, n_rows: int) -> Asked:
    """Fit a model to most rows of a table; ask about the others."""
    frame = pl.read_csv(folder / "tabular" / f"{TABLE}.csv")
    label = LABEL if LABEL in frame.columns else frame.columns[-1]
    labels, frame = frame[label].to_numpy(), frame.drop(label)
    train, test = train_test_split(np.arange(len(labels)), test_size=0.5, random_state=0, stratify=labels)
    model = UntwinClassifier().fit(frame[train], labels[train])
    encoder, reader = model.state_.preprocessing, model.state_.explainer.reader

    def weigh(row: pl.DataFrame) -> dict[str, float]:
        terms = reader.by_terms(row).toarray()[0]  # type: ignore[attr-defined]
        return {f"{name}={row[name][0]}": abs(terms[block]).sum() for name, block in encoder.blocks_.items()}

    return Asked(model, frame[test[:n_rows]], weigh, without_cells)


def without_words(row: list[str], words: list[str]) -> list[str]:
    """Return a text without some words, wherever they or words with the same stem are."""
    text = clean(row[0])
    gone, spans = set(STEMS.stems([clean(word) for word in words])), word_spans(text)
    stems = STEMS.stems([text[first:last] for first, last in spans])
    for (first, last), stem in reversed(list(zip(spans, stems, strict=True))):
        text = text[:first] + text[last:] if stem in gone else text
    return [" ".join(chunk for chunk in text.split(" ") if chunk not in words)]


def without_cells(row: pl.DataFrame, cells: list[str]) -> pl.DataFrame:
    """Return a row of a table without some of its cells."""
    gone = [name for name in row.columns if f"{name}={row[name][0]}" in cells]
    return row.with_columns(pl.lit(None, dtype=row[name].dtype).alias(name) for name in gone)


def deletion_test(name: str, asked: Asked) -> list[dict[str, Any]]:
    """Delete named, random and heavy terms of all rows; return what that changed."""
    rng, changes, flips = np.random.default_rng(0), dict[str, list[float]](), dict[str, list[bool]]()
    for number in range(len(asked.rows)):
        row = asked.row(number)
        (reason,) = asked.model.explain(row, top=DELETED)
        weights = asked.weigh(row)
        names = list(weights)
        deleted = {
            "named": [term for term, log_odds in reason.evidence.terms if log_odds > 0],
            "random": [names[place] for place in rng.permutation(len(names))[:DELETED]],
            "tf-idf": sorted(names, key=lambda term: -weights[term])[:DELETED],
        }
        pair = [asked.model.classes_.tolist().index(one) for one in reason.evidence[:2]]
        found = asked.model.predict_all(stack_rows([row, *(asked.delete(row, terms) for terms in deleted.values())]))
        before, *after = np.log(np.maximum(found.probabilities[:, pair], 1e-12)) @ [1, -1]
        for way, now, label in zip(deleted, after, found.labels[1:], strict=True):
            changes.setdefault(way, []).append(before - now)
            flips.setdefault(way, []).append(label != reason.label)
    chosen = asked.model.candidates_[0].name
    facts = {"set": name, "model": chosen, "rows": len(asked.rows)}
    return [
        {**facts, "deleted": way, "log_odds": float(np.mean(changes[way])), "flipped": float(np.mean(flips[way]))}
        for way in changes
    ]


def milliseconds(asked: Asked) -> dict[str, Any]:
    """Return how long one text takes to be explained, the median and the slowest of a hundred, after the first."""
    asked.model.explain(asked.row(0))
    best = []
    for number in range(len(asked.rows)):
        seconds = []
        for _ in range(RUNS):
            start = time.perf_counter()
            asked.model.explain(asked.row(number))
            seconds.append(time.perf_counter() - start)
        best.append(min(seconds))
    p50, p99 = (1000 * np.percentile(best, [50, 99])).tolist()
    return {"set": TIMED, "texts": len(best), "p50_ms": p50, "p99_ms": p99}


def main() -> None:
    """Test all sets, then time one."""
    options = parser(__doc__)
    options.add_argument("--rows", type=int, default=500, help="of each set")
    options.add_argument("--sets", nargs="+", default=[TABLE, *TEXTS], choices=[TABLE, *TEXTS], help="all by default")
    given = options.parse_args()
    lines, timed = [], []
    for name in given.sets:
        asked = table(given.data, given.rows) if name == TABLE else texts(given.data, name, given.rows)
        lines += deletion_test(name, asked)
        timed += [milliseconds(asked)] if name == TIMED else []
    show(lines + timed, as_json=given.json)


if __name__ == "__main__":
    main()
