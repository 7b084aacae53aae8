"""Semi-discrete against singular value decomposition: bytes, seconds, residual, accuracy."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from papers.datasets import read_texts
from papers.timing import best_seconds
from untwin.classify.knn.classifier import KNNClassifier
from untwin.data.counts import TextCounts
from untwin.linalg.blocks import Blocks, product, squared_length
from untwin.linalg.sdd import semi_discrete
from untwin.linalg.svd import truncated_svd
from untwin.represent.weights import SupervisedWeights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from untwin.linalg.sdd import SemiDiscrete

    Floats = NDArray[np.floating]

TERMS = 400  # of the semi-discrete decomposition
N_TRAIN, N_TEST = 4000, 2000


def compared(data: Path, *, repeats: int = 3, n_terms: int = TERMS, n_train: int = N_TRAIN) -> Iterator[dict[str, Any]]:
    """Yield one row a decomposition: SDD, SVD with as many triples, SVD with the same residual.

    A query is one document against all: SVD stores U S and V in float32, SDD two bits an entry and d in float64.
    """
    X, T, labels = _newsgroups(data, n_train)
    start = time.perf_counter()
    discrete = semi_discrete(X, n_terms)
    build, residual = time.perf_counter() - start, discrete.squared_residual(X) / squared_length(X)
    left = 1 - np.cumsum(truncated_svd(Blocks(X), n_terms, random_state=0).S ** 2) / squared_length(X)
    equal = int(np.searchsorted(-left, -residual)) + 1

    x = T[[0]].toarray()[0]
    yield {
        "decomposition": "SDD, 2 bits",
        "k": len(discrete.d),
        "residual": residual,
        "MB": discrete.nbytes / 1e6,
        "build s": build,
        "query ms": _query(lambda: discrete.times(x), repeats),
        "accuracy": _voted(_cosines(discrete, T), *labels),
    }
    for k in (n_terms, equal):
        start = time.perf_counter()
        U, S, V = truncated_svd(Blocks(X), k, random_state=0)
        build = time.perf_counter() - start
        documents, terms = (U * S).astype(np.float32), V.astype(np.float32)
        yield {
            "decomposition": "SVD, float32",
            "k": k,
            "residual": float(left[k - 1]),
            "MB": (documents.nbytes + terms.nbytes) / 1e6,
            "build s": build,
            "query ms": _query(partial(_asked, documents, terms, T[[0]].astype(np.float32)), repeats),
            "accuracy": float((KNNClassifier().fit(U * S, labels[0]).predict(product(T, V)) == labels[1]).mean()),
        }


def _newsgroups(data: Path, n_train: int) -> tuple[csr_array, csr_array, Any]:
    """Return training and test posts by their terms, and the labels of both."""
    posts = read_texts(data, "20newsgroups").sample(fraction=1, shuffle=True, seed=0)
    train, test = (posts.filter(pl.col("split") == split) for split in ("train", "test"))
    train, test = train.head(n_train), test.head(N_TEST)
    counts, weights = TextCounts(stop_words="english", min_df=2), SupervisedWeights()
    X = csr_array(weights.fit_transform(counts.fit_transform(train["text"])))
    T = csr_array(weights.transform(counts.transform(test["text"])))
    return X, T, (train["label"].to_numpy(), test["label"].to_numpy())


def _asked(documents: Floats, terms: Floats, x: csr_array) -> Floats:
    """Return the scores of all documents for one, by the terms that it has."""
    return np.asarray(documents @ (x.data @ terms[x.indices]))


def _query(work: Callable[[], object], repeats: int) -> float:
    return 1e3 * best_seconds({"query": work}, 10 * repeats)["query"]


def _cosines(found: SemiDiscrete, T: csr_array) -> Floats:
    """Return the scores of D = P diag(d) Q': D_i . x / |D_i| = (d p_i) . Q'x / sqrt((d p_i)' Q'Q (d p_i))."""
    weighted = found.P.unpacked() * found.d
    lengths = np.sqrt(np.einsum("ij,ij->i", weighted @ found.Q.gram(), weighted))
    asked = found.Q.transposed_times(csr_array(T.T)).T
    return np.asarray((asked @ weighted.T) / np.maximum(lengths, np.finfo(float).tiny))


def _voted(scores: Floats, labels: Any, truth: Any, k: int = 10) -> float:
    """Return the accuracy of a vote of the k best rows, weighted by their scores."""
    classes, codes = np.unique(labels, return_inverse=True)
    best = np.argpartition(-scores, k, axis=1)[:, :k]
    votes = np.zeros((len(scores), len(classes)))
    np.add.at(votes, (np.arange(len(scores))[:, None], codes[best]), np.maximum(np.take_along_axis(scores, best, 1), 0))
    return float((classes[votes.argmax(axis=1)] == truth).mean())
