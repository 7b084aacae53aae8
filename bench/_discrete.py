"""Semi-discrete decompositions as users meet them: in the plain LSI space, and in LSI_ac's table of classes."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from papers.datasets import read_texts
from scipy.sparse import csr_array, issparse

from bench._measure import best_seconds
from untwin import KNNClassifier, LatentClassClassifier, SprinkledLSI, SupervisedWeights, TextCounts
from untwin.represent.semidiscrete import SemiDiscreteLSI

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

N_TRAIN, N_TEST = 4000, 2000
SPACES = (
    SemiDiscreteLSI(n_components=400, training="reconstructed"),
    SprinkledLSI(n_components=400, training="reconstructed", random_state=0),
    SprinkledLSI(n_components=100, training="reconstructed", random_state=0),
)
TERMS_A_CLASS = (2, 5, 10)  # of a semi-discrete table of classes


def options(data: Path, repeats: int = 3) -> Iterator[dict[str, Any]]:
    """Yield one row a space, with ten neighbours in it; then one a table of LSI_ac. Bytes are those of the terms."""
    posts = read_texts(data, "20newsgroups").sample(fraction=1, shuffle=True, seed=0)
    train, test = (posts.filter(pl.col("split") == split) for split in ("train", "test"))
    train, test = train.head(N_TRAIN), test.head(N_TEST)
    counts, weights = TextCounts(stop_words="english", min_df=2), SupervisedWeights()
    X = csr_array(weights.fit_transform(counts.fit_transform(train["text"])))
    T = csr_array(weights.transform(counts.transform(test["text"])))
    labels, truth = train["label"].to_numpy(), test["label"].to_numpy()
    for space in SPACES:
        build, Z = _timed(partial(space.fit_transform, X))
        yield {
            "space": type(space).__name__,
            "k": space.n_components,
            "residual": space.discarded_energy_,
            "terms MB": _bytes_of_terms(space) / 1e6,
            "fit s": build,
            "transform ms": _best_ms(partial(space.transform, T[[0]]), repeats),
            "accuracy": float((KNNClassifier().fit(Z, labels).predict(space.transform(T)) == truth).mean()),
        }
    for discrete in (None, *(len(np.unique(labels)) * terms for terms in TERMS_A_CLASS)):
        model = LatentClassClassifier(scale_terms=False, discrete=discrete)
        build, _ = _timed(partial(model.fit, X, labels))
        yield {
            "LSI_ac by": "the table, float64" if discrete is None else "SDD, 2 bits",
            "terms": discrete or "",
            "terms MB": _bytes(model._space.terms) / 1e6,
            "fit s": build,
            "query ms": _best_ms(partial(model.decision_function, T[[0]]), repeats),
            "accuracy": float((model.predict(T) == truth).mean()),
        }


def _bytes_of_terms(space: Any) -> int:
    if isinstance(space, SemiDiscreteLSI):
        return int(space.decomposition_.Q.bits.nbytes + space.basis_.nbytes)
    return int(space.components_.nbytes)


def _bytes(table: Any) -> int:
    sparse: bool = issparse(table)
    return sum(part.nbytes for part in (table.data, table.indices, table.indptr)) if sparse else int(table.nbytes)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done


def _best_ms(work: Callable[[], object], repeats: int) -> float:
    return 1e3 * best_seconds({"query": work}, 10 * repeats)["query"]
