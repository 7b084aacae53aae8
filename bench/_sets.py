"""The text sets of the benchmarks: rows, published or random splits, paired intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from papers.datasets import read_texts
from scipy.stats import norm
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]

SEEDS = 5  # splits of a set that has none
SHUFFLED = ".shuffled"  # a set without its published split: random ones instead
FEWEST = {"reuters21578": 10, "arxiv": 2, "dbpedia219_5k": 2}  # training texts that a class must have


def documents(folder: Path, name: str) -> pl.DataFrame:
    """Return a set's rows with their numbers: no out-of-scope queries, no classes too small to be tested.

    "20newsgroups.shuffled" are its rows without the published split, which is by date.
    """
    plain = name.removesuffix(SHUFFLED)
    table = read_texts(folder, plain).with_row_index().filter(pl.col("label") != "oos")
    if plain != name:
        table = table.with_columns(split=pl.lit("all"))
    sizes = table.filter(pl.col("split") != "test")["label"].value_counts()
    kept = sizes.filter(pl.col("count") >= FEWEST.get(plain, 1))["label"]
    return table.filter(pl.col("label").is_in(kept.implode()))


def vectors(folder: Path, name: str, table: pl.DataFrame) -> NDArray[np.float32]:
    """Return the sentence vectors of a set's rows."""
    stored = np.load(folder / "embeddings" / f"{name}.minilm.npy")
    return np.asarray(stored[table["index"].to_numpy()], dtype=np.float32)


def parts(table: pl.DataFrame, seeds: int = SEEDS) -> Iterator[tuple[Array, Array]]:
    """Yield the rows for training and testing: the published split, or random ones."""
    if table["split"].n_unique() > 1:
        train, test = ((table["split"] == part).arg_true().to_numpy() for part in ("train", "test"))
        yield train, test
        return
    labels = table["label"].to_numpy()
    for seed in range(seeds):
        train, test = train_test_split(np.arange(len(labels)), test_size=0.2, random_state=seed, stratify=labels)
        yield train, test


def made_up_texts(n_rows: int, n_classes: int) -> tuple[list[str], Array]:
    """Return texts of ten words, half from the class's own twenty, half from all, and their classes."""
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    own = rng.integers(0, 50_000, (n_classes, 20))[codes[:, np.newaxis], rng.integers(0, 20, (n_rows, 5))]
    words = np.hstack([own, rng.zipf(1.3, (n_rows, 5)) % 50_000])  # the frequent ones more often
    texts = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    return texts, np.array([f"c{code}" for code in codes.tolist()])


def paired_interval(gains: list[Array]) -> dict[str, float]:
    """Return the paired 95 % interval in points, over test rows; the same row in several splits counts once a split."""
    pooled = np.concatenate(gains)
    width = norm.ppf(0.975) * pooled.std() / np.sqrt(len(pooled) / len(gains))  # splits overlap: as wide as one split's
    return {"low": 100 * float(pooled.mean() - width), "high": 100 * float(pooled.mean() + width)}
