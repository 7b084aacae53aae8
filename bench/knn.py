"""`KNNClassifier` against scikit-learn's brute force and sparse_dot_topn: seconds for ten neighbours, peak memory."""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from bench._measure import arguments, best_seconds, peak_memory, show
from untwin.classify.knn.classifier import KNNClassifier

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Rows = tuple[Any, Any]
    Search = Callable[[str, Any, Any], Any]

K = 10
JOBS = (("dense", "cosine"), ("dense", "euclidean"), ("tf-idf", "cosine"), ("tf-idf", "euclidean"))


def dense_rows(_: Path) -> Rows:
    """Return 100,000 training rows of 200 numbers around 100 centres, and 2,000 rows to ask about."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((102_000, 200), dtype=np.float32)
    rows += rng.standard_normal((100, 200), dtype=np.float32)[rng.integers(0, 100, len(rows))]
    return rows[:100_000], rows[100_000:]


def tfidf_rows(folder: Path) -> Rows:
    """Return the tf-idf rows of 20 Newsgroups, training and test part."""
    news = pl.read_parquet(folder / "text" / "20newsgroups.parquet")
    train, test = (news.filter(pl.col("split") == part)["text"].to_list() for part in ("train", "test"))
    weights = TfidfVectorizer()
    return weights.fit_transform(train), weights.transform(test)


def untwin(metric: str, train: Any, test: Any) -> Any:
    """Return similarities or distances by untwin; rows are made ready and searched."""
    return KNNClassifier(metric=metric).fit(train, np.zeros(train.shape[0])).kneighbors(test, K)[0]


def sklearn(metric: str, train: Any, test: Any) -> Any:
    """Return the same by scikit-learn."""
    found = NearestNeighbors(metric=metric, algorithm="brute").fit(train).kneighbors(test, K)[0]
    return 1 - found if metric == "cosine" else found


def sparse_dot_topn(_: str, train: Any, test: Any) -> Any:
    """Return the similarities of sparse rows by sparse_dot_topn."""
    from sparse_dot_topn import sp_matmul_topn

    train, test = normalize(train), normalize(test)
    best = sp_matmul_topn(test, train.T.tocsr(), top_n=K, sort=True, n_threads=os.cpu_count())
    return best.data


def rivals(rows: str, metric: str) -> dict[str, Search]:
    """Return who takes part in a job."""
    both: dict[str, Search] = {"untwin": untwin, "sklearn": sklearn}
    if (rows, metric) == ("tf-idf", "cosine") and find_spec("sparse_dot_topn"):
        return both | {"sparse_dot_topn": sparse_dot_topn}
    return both


def search(rows: str, metric: str, rival: str, folder: Path) -> None:
    """Make the rows and search: what the memory measurement runs in a process of its own."""
    rivals(rows, metric)[rival](metric, *ROWS[rows](folder))


def measured(rows: str, metric: str, folder: Path, repeats: int) -> dict[str, Any]:
    """Return the figures of one job."""
    train, test = ROWS[rows](folder)
    searches = rivals(rows, metric)
    seconds = best_seconds({name: partial(work, metric, train, test) for name, work in searches.items()}, repeats)
    apart = abs(np.sort(untwin(metric, train, test), axis=1) - np.sort(sklearn(metric, train, test), axis=1)).max()
    base = peak_memory(ROWS[rows], folder)
    memory = {name: peak_memory(search, rows, metric, name, folder) - base for name in ("untwin", "sklearn")}
    topn = seconds.get("sparse_dot_topn", "not installed" if rows == "tf-idf" and metric == "cosine" else "")
    return {
        "rows": rows,
        "metric": metric,
        "untwin s": seconds["untwin"],
        "sklearn s": seconds["sklearn"],
        "sparse_dot_topn s": topn,
        "times sklearn": seconds["sklearn"] / seconds["untwin"],
        "times topn": topn / seconds["untwin"] if isinstance(topn, float) else "",
        "largest difference": float(apart),
        "untwin MiB": memory["untwin"],
        "sklearn MiB": memory["sklearn"],
    }


ROWS: dict[str, Callable[[Path], Rows]] = {"dense": dense_rows, "tf-idf": tfidf_rows}


def main() -> None:
    """Run all jobs."""
    options = arguments(__doc__)
    rows = [measured(*job, options.data, options.repeats) for job in JOBS]
    show(rows, as_json=options.json, cores=os.cpu_count(), neighbours=K)


if __name__ == "__main__":
    main()
