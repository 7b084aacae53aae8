"""Paper 4's promise of mixed data: reviews of women's clothing, whose department is told by text, columns, or both.

Splits are random and stratified; words, intervals and values are learnt on the training part. LSI_ac scales terms by
itself and takes plain counts, the others tf-idf. kNN works in the space that `AdaptiveSprinkling` chooses, the scores
of a linear SVM among its candidates. "Not below" is judged by the paired interval over splits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy.stats import ttest_1samp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from untwin._progress import report
from untwin.classify.adaptive import AdaptiveSprinkling
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.data.counts import TextCounts
from untwin.data.encode import TableEncoder
from untwin.represent.scores import ScoreSpace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TEXT = ("title", "review_text")
NUMERIC = ("age", "rating", "positive_feedback_count")
NOMINAL = ("division", "recommended")
TFIDF = TfidfVectorizer(sublinear_tf=True)
PARTS: dict[str, dict[str, Any]] = {
    "text": {"text": TEXT},
    "columns": {"numeric": NUMERIC, "nominal": NOMINAL},
    "both": {"text": TEXT, "numeric": NUMERIC, "nominal": NOMINAL},
}
CONTENDERS: dict[str, tuple[Any, Any]] = {
    "LSI_ac": (TextCounts(), LatentClassClassifier()),
    "adaptive kNN": (
        TFIDF,
        AdaptiveSprinkling(
            KNNClassifier(n_neighbors=20), scores=ScoreSpace(LinearSVC(random_state=0)), msl=1.0, n_components=100
        ),
    ),
    "linear SVM": (TFIDF, LinearSVC(random_state=0)),
}


def read_reviews(data: Path) -> tuple[pl.DataFrame, pl.Series]:
    """Read the reviews and their departments; a missing text is an empty one."""
    frame = pl.read_csv(data / "tabular" / "womens_clothing_reviews.csv.gz", infer_schema_length=None)
    rows = frame.with_columns(pl.col(TEXT).fill_null(""), pl.col(NOMINAL).cast(pl.String))
    return rows.drop("class"), rows["class"]


def run_mixed(
    rows: pl.DataFrame, labels: pl.Series, *, n_splits: int = 5, contenders: Sequence[str] = tuple(CONTENDERS)
) -> pl.DataFrame:
    """Return the accuracy of each contender on each part of the columns and each split."""
    y = labels.to_numpy()
    splits = list(StratifiedShuffleSplit(n_splits, test_size=0.3, random_state=0).split(y, y))
    found = []
    for number, (train, test) in enumerate(splits):
        for part, roles in PARTS.items():
            for name in contenders:
                counts, estimator = CONTENDERS[name]
                model = make_pipeline(TableEncoder(**roles, counts=counts), clone(estimator))
                accuracy = model.fit(rows[train], y[train]).score(rows[test], y[test])
                found.append({"split": number, "classifier": name, "columns": part, "accuracy": float(accuracy)})
        report("splits", number + 1, len(splits))
    return pl.DataFrame(found)


def gains(results: pl.DataFrame, rivals: Sequence[str] = ("text", "columns")) -> list[dict[str, Any]]:
    """Return by how much both together beat either alone: mean over splits and its 95 % paired interval."""
    wide = results.pivot("columns", index=["split", "classifier"], values="accuracy")
    rows = []
    for (name,), part in wide.group_by("classifier", maintain_order=True):
        for rival in rivals:
            difference = (part["both"] - part[rival]).to_numpy()
            low, high = ttest_1samp(difference, 0).confidence_interval(0.95)
            means = {"both": float(part["both"].mean()), "alone": float(part[rival].mean())}  # type: ignore[arg-type]
            gain = {"gain": float(np.mean(difference)), "low": float(low), "high": float(high)}
            rows.append({"classifier": name, "rival": rival, **means, **gain, "not below": bool(high >= 0)})
    return rows
