"""Sprinkling with several labels a document: all topics of Reuters-21578, which paper 1 says costs nothing extra.

Glossary
--------
topics   the 90 that occur in training and in test documents (ModApte split)
Y        n x 90, ones where a document has a topic; sprinkled as it is, every topic with the same strength

Neighbours vote for each topic, and a document gets those with more than half of the votes (else the strongest one).
Dimension and strength are chosen on a fifth of the training documents, by micro-F1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from papers.datasets import read_texts
from untwin._progress import report
from untwin.classify.knn.classifier import KNNClassifier
from untwin.data.counts import TextCounts
from untwin.represent.sprinkle import SprinkledLSI
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]

NEIGHBOURS = 20


class Topics(NamedTuple):
    """Training and test documents as tf-idf rows, and the topics of each; `names` are those of the columns."""

    X: Any
    Y: Array
    X_test: Any
    Y_test: Array
    names: Array


def reuters_topics(data: Path, most: int | None = None) -> Topics:
    """Read the documents that have one of the topics; of the training ones at most so many, drawn at random."""
    news = read_texts(data, "reuters21578")
    pairs = news.select("split", topic=pl.col("labels")).explode("topic", empty_as_null=True, keep_nulls=True)
    both = pairs.group_by("topic").agg(pl.col("split").n_unique()).filter(pl.col("split") == 2)
    names = np.sort(both["topic"].to_numpy())
    kept = news.with_columns(labels=pl.col("labels").list.set_intersection(pl.lit(names.tolist())))
    kept = kept.filter(pl.col("labels").list.len() > 0)
    train, test = (kept.filter(split=split) for split in ("train", "test"))
    if most is not None:
        train = train.sample(min(most, len(train)), seed=0)
    counts, weights = TextCounts(stop_words="english", stemmer="english", min_df=2), TfidfTransformer(sublinear_tf=True)
    X = weights.fit_transform(counts.fit_transform(train["text"]))
    X_test = weights.transform(counts.transform(test["text"]))
    Y, Y_test = (np.array([np.isin(names, row) for row in part["labels"]], dtype=int) for part in (train, test))
    return Topics(X, Y, X_test, Y_test, names)


def run_topics(topics: Topics, *, dimensions: Sequence[int], strengths: Sequence[float]) -> list[dict[str, Any]]:
    """Return micro- and macro-F1 on the test documents: SVM, neighbours by terms, in LSI, in sprinkled LSI."""
    train, held = train_test_split(np.arange(len(topics.Y)), test_size=0.2, random_state=0)
    inner = Topics(topics.X[train], topics.Y[train], topics.X[held], topics.Y[held], topics.names)
    svm = OneVsRestClassifier(LinearSVC(random_state=0))
    seen = topics.Y.any(axis=0)  # a small sample may lack a topic
    answers = np.zeros_like(topics.Y_test)
    answers[:, seen] = svm.fit(topics.X, topics.Y[:, seen]).predict(topics.X_test)
    rows = [_scored("linear SVM, one for each topic", topics, answers, 0.0, 0)]
    rows.append(_scored("neighbours by terms", topics, _voted(topics.X, topics.Y, topics.X_test), 0.0, 0))
    report("spaces", 1, 3)
    for number, (name, tried) in enumerate((("LSI", (0.0,)), ("sprinkled LSI", strengths))):
        settings = [
            (f1_score(inner.Y_test, answers, average="micro", zero_division=0), strength, k)
            for strength in tried
            for k, answers in _answers(inner, strength, dimensions)
        ]
        _, strength, k = max(settings)
        ((_, answers),) = _answers(topics, strength, [k])
        rows.append(_scored(f"neighbours in {name}", topics, answers, strength, k))
        report("spaces", number + 2, 3)
    return rows


def _answers(topics: Topics, strength: float, dimensions: Sequence[int]) -> Iterator[tuple[int, Array]]:
    plan = SprinklingPlan.uniform(topics.names, strength) if strength else None
    template = SprinkledLSI(plan=plan, training="reconstructed", random_state=0)
    for k, (space, Z) in zip(dimensions, template.nested(topics.X, topics.Y, dimensions), strict=True):
        yield k, _voted(Z, topics.Y, space.transform(topics.X_test))


def _voted(rows: Any, Y: Array, asked: Any) -> Array:
    return np.asarray(KNNClassifier(n_neighbors=NEIGHBOURS).fit(rows, Y).predict(asked))


def _scored(name: str, topics: Topics, answers: Array, strength: float, k: int) -> dict[str, Any]:
    f1 = {
        f"{average}-F1": float(f1_score(topics.Y_test, answers, average=average, zero_division=0))
        for average in ("micro", "macro")
    }
    return {"classifier": name, "columns a topic": strength, "k": k, **f1}
