"""`truncated_svd` against scikit-learn's `TruncatedSVD`, ARPACK and gensim's `LsiModel`: seconds, energy, memory.

Energy is the sum of squares of the singular values, as a share of what ARPACK finds. Memory is the peak above the
loaded modules, as a multiple of what any method must hold: the non-zeros of X and (n + m) k numbers of the result.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array, eye_array, load_npz, save_npz
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

from bench._measure import arguments, best_seconds, peak_memory, show
from untwin import TextCounts
from untwin.linalg.blocks import Blocks
from untwin.linalg.svd import truncated_svd
from untwin.represent.membership import membership
from untwin.represent.sprinkle import SprinkledLSI
from untwin.structure.plan import SprinklingPlan

try:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LsiModel
except ImportError:
    LsiModel = None

if TYPE_CHECKING:
    from collections.abc import Callable

JOBS = (("20newsgroups", 100), ("20newsgroups", 200), ("webdirectory", 200))
SPRINKLED = 8.0  # columns a class; the cost does not depend on it
SMALL = (2000, 5000)  # rows and terms of the dense reconstruction


def documents(path: Path) -> tuple[csr_array, csr_array]:
    """Return the tf-idf rows of a data set and the membership of its classes."""
    table = pl.read_parquet(path, columns=["text", "label"])
    counts = TextCounts(stop_words="english").fit_transform(table["text"])
    return csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts)), membership(table["label"].to_numpy())[
        0
    ]


def untwin(X: csr_array, k: int) -> np.ndarray:
    """Decompose X, and return the singular values."""
    return truncated_svd(Blocks(X), k, random_state=0).S


def sprinkled(X: csr_array, Y: csr_array, k: int) -> None:
    """Decompose X with sprinkled columns."""
    truncated_svd(Blocks(X, Y, csr_array(eye_array(Y.shape[1]) * SPRINKLED**0.5)), k, random_state=0)


def sklearn(X: csr_array, k: int) -> np.ndarray:
    """Decompose X as scikit-learn does by default, and return the singular values."""
    return TruncatedSVD(k, random_state=0).fit(X).singular_values_


def gensim(X: csr_array, k: int) -> np.ndarray:
    """Decompose X as gensim does by default, and return the singular values."""
    names = dict(enumerate(map(str, range(X.shape[1]))))
    return LsiModel(Sparse2Corpus(X, documents_columns=False), k, id2word=names, random_seed=0).projection.s


def loaded(work: Callable[[csr_array, int], object], path: Path, k: int) -> None:
    """Read X and decompose it: what the memory measurement runs in a process of its own."""
    work(load_npz(path), k)


def multiple(work: Callable[[csr_array, int], object], X: csr_array, k: int) -> float:
    """Return peak memory as a multiple of nnz + (n + m) k numbers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npz"
        save_npz(path, X, compressed=False)
        return peak_memory(loaded, work, path, k) * 2**20 / (8 * (X.nnz + sum(X.shape) * k))


def measured(X: csr_array, Y: csr_array, name: str, k: int, repeats: int) -> dict[str, Any]:
    """Return the figures of one decomposition."""
    single, found = X.astype(np.float32), {}

    def keep(rival: str, work: Callable[[csr_array, int], np.ndarray], X: csr_array) -> None:
        found[rival] = np.square(work(X, k), dtype=np.float64).sum()

    rivals: dict[str, Callable[[], object]] = {
        "untwin": lambda: keep("untwin", untwin, X),
        "sprinkled": lambda: sprinkled(X, Y, k),
        "float32": lambda: keep("float32", untwin, single),
    }
    slow: dict[str, Callable[[], object]] = {"sklearn": lambda: keep("sklearn", sklearn, X)}
    if LsiModel is not None:
        slow["gensim"] = lambda: keep("gensim", gensim, X)
    # The slow ones once: their margins are wide and they take minutes.
    seconds = best_seconds(rivals, repeats) | best_seconds(slow, 1)
    start = time.perf_counter()
    exact = np.square(truncated_svd(Blocks(X), k, solver="arpack", random_state=0).S).sum()
    return {
        "set": name,
        "k": k,
        **{f"{rival} s": value for rival, value in seconds.items()},
        "arpack s": time.perf_counter() - start,
        **(
            {"times as fast as gensim": seconds["gensim"] / seconds["untwin"]}
            if LsiModel
            else {"gensim": "not installed"}
        ),
        "sprinkled / plain": seconds["sprinkled"] / seconds["untwin"],
        "times as fast as sklearn": seconds["sklearn"] / seconds["untwin"],
        **{f"{rival} energy": round(value / exact, 4) for rival, value in found.items()},
        "untwin memory": multiple(untwin, X, k),
        "sklearn memory": multiple(sklearn, X, k),
    }


def dense_reconstruction(X: csr_array, Y: csr_array, k: int) -> np.ndarray:
    """Return paper 1's training documents: decompose with whole sprinkled columns, multiply out, drop the columns."""
    copies = np.repeat(Y.toarray(), int(SPRINKLED), axis=1)
    U, S, Vt = np.linalg.svd(np.hstack([X.toarray(), copies]), full_matrices=False)
    return ((U[:, :k] * S[:k]) @ Vt[:k])[:, : X.shape[1]]


def avoided(X: csr_array, Y: csr_array, k: int) -> dict[str, Any]:
    """Return what the paper's dense reconstruction costs on a small part of X, against the same documents as z."""
    n, m = SMALL
    frequent = np.sort(np.argsort(-np.bincount(X.indices, minlength=X.shape[1]), kind="stable")[:m])
    rows = np.random.default_rng(0).permutation(X.shape[0])[:n]
    small, labels = X[rows][:, frequent], Y[rows]
    space = SprinkledLSI(n_components=k, plan=SprinklingPlan.uniform(s=SPRINKLED), training="reconstructed")
    seconds = best_seconds(
        {
            "dense": lambda: dense_reconstruction(small, labels, k),
            "untwin": lambda: space.fit_transform(small, labels.toarray()),
        },
        1,
    )
    return {
        "rows x terms": f"{n} x {m}",
        "dense s": round(seconds["dense"], 2),
        "untwin s": round(seconds["untwin"], 2),
        "dense MB": 8 * n * m / 1e6,
        "untwin MB": 8 * (n + m) * k / 1e6,
        "dense MB for all of X": 8 * X.shape[0] * X.shape[1] / 1e6,
    }


def main() -> None:
    """Run all jobs."""
    options = arguments(__doc__)
    sets = {name: documents(options.data / "text" / f"{name}.parquet") for name, _ in JOBS}
    rows = [measured(*sets[name], name, k, options.repeats) for name, k in JOBS]
    dense = avoided(*sets["20newsgroups"], 100)
    show(rows, as_json=options.json, cores=os.cpu_count(), dense_reconstruction_avoided=dense)


if __name__ == "__main__":
    main()
