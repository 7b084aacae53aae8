"""`untwin demo`: the job on real texts that are on every machine."""

from __future__ import annotations

from typing import Any

import click

from untwin.cli.options import common_options
from untwin.cli.output import progress, put, put_json, put_table

TOP_PAIRS = 10


@click.command()
@common_options
def demo(*, seed: int, strict: bool, as_json: bool) -> int:
    """Tell apart the sub-packages of NumPy, SciPy, scikit-learn and Polars by their documentation.

    Gathers some 6,000 texts in some 50 classes, classifies each by a linear SVM that has not seen it, and shows which
    classes are mistaken for each other.
    """
    with progress():
        result = run_demo(seed)
    (put_json if as_json else _show)(result)
    return 0


def run_demo(seed: int) -> dict[str, Any]:
    """Do the job and return all that there is to show, as one record."""
    import polars as pl
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    from untwin._progress import report
    from untwin.data.counts import TextCounts
    from untwin.data.demo import demo_texts

    texts = demo_texts()
    report("counting words", 0, 1)
    counts = TextCounts(stop_words="english", stemmer="english").fit_transform(texts["text"])
    report("classifying out of fold", 0, 1)
    svm = make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(random_state=seed))
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    predicted = cross_val_predict(svm, counts, texts["label"].to_numpy(), cv=folds, n_jobs=2)
    answers = texts.select(true="label").with_columns(predicted=pl.Series(predicted))
    wrong = answers.filter(pl.col("true") != pl.col("predicted"))
    pairs = (
        wrong.group_by("true", "predicted")
        .len("texts")
        .sort("texts", "true", "predicted", descending=[True, False, False])
    )
    return {
        "texts": len(texts),
        "classes": texts["label"].n_unique(),
        "terms": counts.shape[1],
        "accuracy": 1 - len(wrong) / len(texts),
        "confused": pairs.head(TOP_PAIRS).to_dicts(),
    }


def _show(result: dict[str, Any]) -> None:
    put(f"{result['texts']:,} texts in {result['classes']} classes, {result['terms']:,} terms")
    put(f"Accuracy of a linear SVM out of fold: {result['accuracy']:.3f}")
    put()
    put("Most often mistaken:")
    put_table(
        ["texts", "of", "taken for"], [[row["texts"], row["true"], row["predicted"]] for row in result["confused"]]
    )
    put()
    put("Next: untwin check YOUR_TABLE.csv")
