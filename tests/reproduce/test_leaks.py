"""With shuffled labels everything gives chance: every classifier, every figure that it reports, every experiment.

Three equally large classes; chance is a third. Accuracies are of rows kept apart, or out of fold as the model itself
reports them. Bounds are four standard deviations of the binomial, since the worst of many is looked at.
"""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from untwin import (
    AdaptiveSprinkling,
    ConfusionGraphClassifier,
    KNNClassifier,
    LatentClassClassifier,
    LatentInstanceClassifier,
    MDLPDiscretizer,
    MultiLevelClassifier,
    ScoreSpace,
    SprinkledLSI,
    SprinklingPlan,
    SupervisedWeights,
    UntwinClassifier,
    out_of_fold,
)
from untwin.reproduce.datasets import LabelledTexts
from untwin.reproduce.hierarchies.collections import flat_bayes, newsgroups
from untwin.reproduce.hierarchies.graph import run_graph
from untwin.reproduce.hierarchies.levels import run_levels
from untwin.reproduce.hierarchies.trees import grown
from untwin.reproduce.sprinkling.background import run_background
from untwin.reproduce.sprinkling.chosen import Grid, run_chosen
from untwin.reproduce.sprinkling.local import local_accuracy

N_ROWS, N_TERMS, N_CLASSES = 600, 60, 3
SVM = LinearSVC(random_state=0)
SUPERVISED = {
    "neighbours": KNNClassifier(n_neighbors="cv"),
    "supervised weights": make_pipeline(SupervisedWeights(scheme="ig", select=0.3), KNNClassifier()),
    "chi2 weights": make_pipeline(SupervisedWeights(scheme="chi2"), KNNClassifier()),
    "sprinkled": make_pipeline(
        SprinkledLSI(n_components=10, plan=SprinklingPlan.uniform(s=16.0), training="reconstructed", random_state=0),
        KNNClassifier(),
    ),
    "whitened": make_pipeline(SprinkledLSI(n_components=10, whiten=True, random_state=0), KNNClassifier()),
    "scores": make_pipeline(ScoreSpace(SVM), KNNClassifier()),
    "adaptive": AdaptiveSprinkling(KNNClassifier(), n_components=8, scores=ScoreSpace(SVM), cv=3),
    "latent instances": LatentInstanceClassifier(random_state=0),
    "latent classes": LatentClassClassifier(),
    "multi-level": MultiLevelClassifier(),
    "graph": ConfusionGraphClassifier(),
    "flat naive Bayes": flat_bayes(),
    "untwin, fast": UntwinClassifier(preset="fast"),
    "untwin, balanced": UntwinClassifier(),
}


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


@pytest.mark.parametrize("name", SUPERVISED)
def test_classifiers_are_at_chance(counts, name):
    X, y = counts
    hits = 0
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(y, y):
        model = clone(SUPERVISED[name]).fit(X[train], y[train])
        hits += (model.predict(X[test]) == y[test]).sum()
    assert abs(hits / N_ROWS - 1 / N_CLASSES) < bound(N_ROWS)


@pytest.mark.parametrize("preset", ["fast", "balanced"])
def test_what_the_product_says_of_itself_is_chance_too(counts, preset):
    model = UntwinClassifier(preset=preset).fit(*counts)
    assert abs(model.scores_["accuracy"] - 1 / N_CLASSES) < bound(N_ROWS)


@pytest.mark.parametrize("name", ["neighbours", "sprinkled", "scores", "latent classes"])
def test_out_of_fold_is_at_chance(counts, name):
    confusion = out_of_fold(SUPERVISED[name], *counts, with_scores=False).confusion
    assert abs(confusion.accuracy - 1 / N_CLASSES) < bound(N_ROWS)


def test_intervals_cut_inside_the_training_part_are_at_chance():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(N_ROWS, 12)), rng.permutation(np.arange(N_ROWS) % N_CLASSES)
    model = make_pipeline(MDLPDiscretizer(), MultinomialNB())
    accuracy = out_of_fold(model, X, y, with_scores=False).confusion.accuracy
    assert abs(accuracy - 1 / N_CLASSES) < bound(N_ROWS)


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
