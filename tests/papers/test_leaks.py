"""With shuffled labels the papers' experiments give chance; `tests/test_leaks.py` asks the same of every classifier.

Three equally large classes; chance is a third. Accuracies are of rows kept apart. Bounds
are four standard deviations of the binomial, since the worst of many is looked at.
"""

import numpy as np
import polars as pl
import pytest
from papers.datasets import LabelledTexts
from papers.hierarchies.collections import flat_bayes, newsgroups
from papers.hierarchies.graph import run_graph
from papers.hierarchies.levels import run_levels
from papers.hierarchies.trees import grown
from papers.sprinkling.background import run_background
from papers.sprinkling.chosen import Grid, run_chosen
from papers.sprinkling.local import local_accuracy
from scipy.sparse import csr_array
from sklearn.model_selection import StratifiedKFold

N_ROWS, N_TERMS, N_CLASSES = 600, 60, 3


def bound(n):
    return 4 * np.sqrt(2 / 9 / n)


@pytest.fixture(scope="module")
def counts():
    """Counts of words, and labels that have nothing to do with them."""
    rng = np.random.default_rng(0)
    rates = rng.gamma(0.5, 1.0, N_TERMS)
    return csr_array(rng.poisson(rates, (N_ROWS, N_TERMS)).astype(float)), rng.permutation(
        np.arange(N_ROWS) % N_CLASSES
    )


def test_flat_naive_bayes_is_at_chance(counts):
    X, y = counts
    hits = 0
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(y, y):
        hits += (flat_bayes().fit(X[train], y[train]).predict(X[test]) == y[test]).sum()
    assert abs(hits / N_ROWS - 1 / N_CLASSES) < bound(N_ROWS)


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(2)
    words = [f"word{number}" for number in range(40)]
    made = [" ".join(rng.choice(words, 12)) for _ in range(N_ROWS)]
    labels = rng.permutation(np.array(["ape", "bee", "cat"])[np.arange(N_ROWS) % N_CLASSES])
    return LabelledTexts("made", pl.Series(made), pl.Series(labels))


def test_paper_1s_choices_are_at_chance(texts):
    found = run_chosen([texts], Grid((4, 8), (64.0,)), n_halves=1, n_jobs=1)
    assert (found["accuracy"] - 1 / N_CLASSES).abs().max() < bound(N_ROWS / 2)


def test_local_spaces_and_background_are_at_chance(texts):
    figures = [local_accuracy(texts, n_halves=1)["accuracy"]]
    (row,) = run_background(texts, n_halves=1, labelled=(40,), n_jobs=1)
    figures += [figure for name, figure in row.items() if name not in ("set", "labelled a class")]
    assert np.abs(np.array(figures) - 1 / N_CLASSES).max() < bound(N_ROWS / 2)


def test_paper_2s_classifiers_are_at_chance(made_data, texts):
    split = np.where(np.arange(N_ROWS) % 2, "train", "test")
    posts = "Subject: a post\n\n" + texts.texts
    frame = pl.DataFrame({"text": posts, "label": texts.labels, "split": split})
    frame.write_parquet(made_data / "text" / "20newsgroups.parquet")
    collection = newsgroups(made_data, by_date=True)
    figures = [grown(collection).accuracy]
    figures += [row["accuracy"] for row in run_graph(collection, (0.03,))[0]]
    levels = run_levels(collection, [("ape", "bee"), ("cat",)], "given").rows
    figures += [row[name] for row in levels for name in ("flat", "end to end")]
    assert np.abs(np.array(figures) - 1 / N_CLASSES).max() < bound(N_ROWS / 2)
