"""Documents that arrive in batches, learnt in three ways: updating, folding-in, recomputing."""

from __future__ import annotations

import time
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from papers.datasets import read_texts
from untwin.classify.knn.classifier import KNNClassifier
from untwin.data.counts import TextCounts
from untwin.linalg.update import loss_of_orthogonality
from untwin.represent.sprinkle import SprinkledLSI
from untwin.represent.weights import SupervisedWeights
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

N_COMPONENTS = 100
STRENGTH = 4.0
MIN_DF = 2
N_BATCHES = 20
N_LATE = 5
N_TEST = 2000
N_POSTS = 18_846
ARXIV_DOCUMENTS = 16_000


@dataclass(frozen=True)
class Stream:
    """Labelled texts; `part` is the batch that a text comes with, 0 the beginning. A test text is asked from it on."""

    name: str
    train: pl.DataFrame  # text, label, part
    test: pl.DataFrame

    def texts(self, part: int) -> pl.DataFrame:
        """Return what arrives with a part."""
        return self.train.filter(pl.col("part") == part)

    @property
    def n_batches(self) -> int:
        """How many parts follow the first."""
        return int(self.train["part"].max())  # type: ignore[arg-type]

    def counted(self) -> tuple[csr_array, csr_array, list[int]]:
        """Return the counts of training and test texts, and how many of their columns are known at each part."""
        counts, parts = TextCounts(stop_words="english", min_df=MIN_DF), range(self.n_batches + 1)
        widths = [len(counts.partial_fit(self.texts(part)["text"]).terms_) for part in parts]
        return csr_array(counts.transform(self.train["text"])), csr_array(counts.transform(self.test["text"])), widths


def newsgroups(data: Path, seed: int = 0, most: int | None = None) -> Stream:
    """Return 20 Newsgroups: fifteen classes at first, then the other five, mixed, in 20 batches."""
    posts = read_texts(data, "20newsgroups").sample(fraction=1, shuffle=True, seed=seed).head(most or N_POSTS)
    names = np.sort(posts["label"].unique().to_numpy())
    late = pl.col("label").is_in(np.random.default_rng(seed).permutation(names)[:N_LATE].tolist())
    number = pl.int_range(pl.len()).over(late)
    batch = (number * N_BATCHES // pl.len().over(late)) + 1
    train = posts.filter(pl.col("split") == "train").with_columns(part=pl.when(late).then(batch).otherwise(0))
    test = posts.filter(pl.col("split") == "test").head(N_TEST).with_columns(part=late.cast(pl.Int64))
    return Stream("20newsgroups", train.sort("part", maintain_order=True), test)


def arxiv(data: Path, seed: int = 0) -> Stream:
    """Return a sample of arXiv year by year: the first third at once, then a batch a year; one text in five tests."""
    papers = read_texts(data, "arxiv").sample(ARXIV_DOCUMENTS, seed=seed)
    years = papers["year"].cast(pl.Int64)
    first = int(years.quantile(1 / 3))  # type: ignore[arg-type]
    papers = papers.with_columns(part=pl.max_horizontal(years - first, pl.lit(0)), held=pl.int_range(pl.len()) % 5 == 0)
    return Stream("arxiv", papers.filter(~pl.col("held")).sort("part", maintain_order=True), papers.filter("held"))


def run(stream: Stream) -> Iterator[dict[str, Any]]:
    """Learn the stream in all three ways, and yield the figures after each batch."""
    X, T, widths = stream.counted()
    parts, labels = stream.train["part"].to_numpy(), stream.train["label"].to_numpy()
    asked_from, truth = stream.test["part"].to_numpy(), stream.test["label"].to_numpy()
    first = parts == 0
    updating = _Updating(X[first, : widths[0]], labels[first])
    folding = deepcopy(updating)
    for part in range(1, stream.n_batches + 1):
        here, known, asked = parts == part, parts <= part, asked_from <= part
        batch, width = (X[here, : widths[part]], labels[here]), widths[part]
        figures = {
            "updating": updating.add(*batch),
            "folding": folding.fold(*batch),
            "recomputing": (anew := _Updating(X[known, :width], labels[known])).seconds,
        }
        learners = dict(zip(figures, (updating, folding, anew), strict=True))
        accuracy = {name: way.accuracy(labels[known], T[asked], truth[asked]) for name, way in learners.items()}
        yield {
            "stream": stream.name,
            "batch": part,
            "documents": int(known.sum()),
            "terms": width,
            **accuracy,
            **{f"{name} s": seconds for name, seconds in figures.items()},
            "times cheaper": figures["recomputing"] / figures["updating"],
            "updated |U'U-I|": updating.loss(),
            "folded |U'U-I|": folding.loss(),
            "discarded": round(updating.space.discarded_energy_, 4),
            "discarded anew": round(anew.space.discarded_energy_, 4),
            "fired": updating.space.n_updates_ == 0 and not updating.space._learnt.waiting,
        }


class _Updating:
    """Weights and a space, fitted to counts and labels; then updated, or only folded into."""

    def __init__(self, counts: csr_array, labels: Any) -> None:
        start = time.perf_counter()
        plan = SprinklingPlan.uniform(s=STRENGTH)
        self.weights = SupervisedWeights()
        self.space = SprinkledLSI(n_components=N_COMPONENTS, plan=plan, training="reconstructed", random_state=0)
        self.Z = self.space.fit_transform(self.weights.fit_transform(counts), labels)
        self.seconds = time.perf_counter() - start

    def add(self, counts: csr_array, labels: Any) -> float:
        """Update, and return the seconds."""
        start = time.perf_counter()
        rows = self.weights.partial_fit(counts).transform(counts)
        self.Z = self.space.partial_fit(rows, labels).documents()
        return time.perf_counter() - start

    def fold(self, counts: csr_array, labels: Any) -> float:
        """Fold in: words and classes that were not there at first stay unknown. Return the seconds."""
        start = time.perf_counter()
        rows = csr_array(self.weights.transform(counts[:, : self.space.components_.shape[1]]))
        learnt = self.space._learnt
        self.space._learnt = learnt.folded(rows, csr_array(labels[:, None] == learnt.classes, dtype=float))
        self.Z = self.space.documents()
        return time.perf_counter() - start

    def accuracy(self, labels: Any, asked: csr_array, truth: Any) -> float:
        """Return the share of test texts that the nearest ten documents name rightly."""
        points = self.space.transform(self.weights.transform(asked[:, : self.space.components_.shape[1]]))
        return round(float((KNNClassifier().fit(self.Z, labels).predict(points) == truth).mean()), 4)

    def loss(self) -> float:
        """Return |U'U - I|, with the rows of documents that are folded in."""
        learnt = self.space._learnt
        U, S, _ = learnt.leading()
        late = learnt.reconstructed(learnt.ids[learnt.X.shape[0] :], np.eye(len(S))) / S
        return loss_of_orthogonality(np.concatenate([U, late]))
