"""Learning on: updating against folding-in and recomputing, one document at a time, and semi-discrete decomposition.

Parts: "newsgroups" and "arxiv" are streams in batches, "gensim" gives the first of them to `LsiModel.add_documents`,
"single" adds one document to 100,000, "claim" measures paper 4's ratio of update times, "sdd" compares decompositions,
"discrete" the estimators that take a semi-discrete one, "corrections" what `relabel`, `add` and `remove` cost and do.
Recomputing means: counts are there; weights, plan, SVD and projection are not.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from papers.datasets import read_texts
from papers.latent import semidiscrete, streams
from papers.latent.updates import update_ratios
from scipy.sparse import csr_array, save_npz

from bench import _discrete
from bench._corrections import corrections
from bench._measure import parser, show
from untwin import KNNClassifier, SprinkledLSI, SprinklingPlan, SupervisedWeights, TextCounts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

N_SINGLE, K_SINGLE = 100_000, 200

GENSIM = """
import sys
from gensim.matutils import Sparse2Corpus
from gensim.models import LsiModel
from scipy.sparse import load_npz
first, batch = (load_npz(path) for path in sys.argv[1:3])
names = dict(enumerate(map(str, range(first.shape[1]))))
model = LsiModel(Sparse2Corpus(first, documents_columns=False), 100, id2word=names, random_seed=0)
model.add_documents(Sparse2Corpus(batch, documents_columns=False))
print("added", model.projection.u.shape)
"""


def gensim(data: Path) -> Iterable[dict[str, Any]]:
    """Give gensim the beginning of the stream, then the first batch with its unseen words, in another process."""
    stream = streams.newsgroups(data)
    counts = TextCounts(stop_words="english", min_df=streams.MIN_DF)
    first = counts.fit_transform(stream.texts(0)["text"])
    batch = counts.partial_fit(stream.texts(1)["text"]).transform(stream.texts(1)["text"])
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("first.npz", "batch.npz")]
        for path, rows in zip(paths, (first, batch), strict=True):
            save_npz(path, csr_array(rows, dtype=float), compressed=False)
        done = subprocess.run(
            [sys.executable, "-c", GENSIM, *map(str, paths)], capture_output=True, text=True, timeout=600, check=False
        )
    said = (done.stdout + done.stderr).strip().splitlines()
    unseen = batch.shape[1] - first.shape[1]
    yield {"gensim": "add_documents", "unseen terms": unseen, "exit code": done.returncode, "said": (said or [""])[-1]}


def single(data: Path) -> Iterable[dict[str, Any]]:
    """Add one document to 100,000 and search for it; then the exact update that the folding-in puts off."""
    entries = read_texts(data, "webdirectory").sample(N_SINGLE + 11, seed=0)
    counts, weights = TextCounts(stop_words="english", min_df=2), SupervisedWeights()
    X = csr_array(weights.fit_transform(counts.fit_transform(entries["text"])))
    labels = entries["label"].to_numpy()
    plan = SprinklingPlan.uniform(s=streams.STRENGTH)
    space = SprinkledLSI(n_components=K_SINGLE, plan=plan, training="reconstructed", random_state=0)
    start = time.perf_counter()
    Z = space.fit_transform(X[:N_SINGLE], labels[:N_SINGLE])
    fit, model = time.perf_counter() - start, KNNClassifier().fit(Z, labels[:N_SINGLE])
    folded, kept, searched = [], [], []
    for i in range(N_SINGLE, N_SINGLE + 10):
        folded.append(_milliseconds(partial(space.partial_fit, X[[i]], labels[[i]])))
        kept.append(_milliseconds(partial(model.partial_fit, space.documents([i]), labels[[i]])))
        searched.append(_milliseconds(partial(model.kneighbors, space.transform(X[[i]]))))
    exact = _milliseconds(lambda: space._update(lambda learnt: learnt))
    yield {
        "documents": N_SINGLE,
        "k": K_SINGLE,
        "terms": X.shape[1],
        "fold in ms": float(np.median(folded)),
        "keep ms": float(np.median(kept)),
        "search ms": float(np.median(searched)),
        "exact update ms": exact,
        "fit s": fit,
    }


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


def main(options: argparse.Namespace) -> None:
    """Run the parts asked for."""
    parts: dict[str, Callable[[Path], Iterable[dict[str, Any]]]] = {
        "newsgroups": lambda data: streams.run(streams.newsgroups(data)),
        "arxiv": lambda data: streams.run(streams.arxiv(data)),
        "gensim": gensim,
        "single": single,
        "claim": update_ratios,
        "sdd": semidiscrete.compared,
        "discrete": _discrete.options,
        "corrections": corrections,
    }
    rows = []
    for name in options.parts or parts:
        for row in parts[name](options.data):
            rows.append(row)
            print(name, *row.values(), file=sys.stderr)
    show(rows, as_json=options.json, parts=options.parts or list(parts))


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--parts", nargs="*", help="only these parts")
    main(arguments.parse_args())
