"""Over everything that sees labels: with shuffled labels it answers as well as chance, with the right ones far better.

Whoever lets held-out rows or their labels reach a training row, a weight, a plan, a tree or a choice fails here.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from untwin import (
    AdaptiveSprinkling,
    CentroidClassifier,
    ConfusionGraphClassifier,
    KNNClassifier,
    LatentClassClassifier,
    LatentInstanceClassifier,
    MDLPDiscretizer,
    MultiLevelClassifier,
    ScoreSpace,
    SemiDiscreteLSI,
    SprinkledLSI,
    SprinklingPlan,
    SupervisedWeights,
    TableEncoder,
    TextCounts,
    UntwinClassifier,
    out_of_fold,
)
from untwin.classify.linear import LinearSVM, LogisticModel, NaiveBayes

N_CLASSES, N_ROWS, N_TEST = 5, 400, 400
SPREADS = 4.0  # of a binomial: one shuffle in 16,000 goes beyond by luck
SVM = LinearSVC(random_state=0)
TFIDF = (TextCounts(), TfidfTransformer())
PLAN = SprinklingPlan.uniform(s=2.0)

ON_TEXTS = {
    "untwin, fast": UntwinClassifier(preset="fast"),
    "untwin, balanced": UntwinClassifier(),
    "neighbours": make_pipeline(*TFIDF, KNNClassifier()),
    "neighbours, their number chosen": make_pipeline(*TFIDF, KNNClassifier(n_neighbors="cv")),
    "sprinkled": make_pipeline(*TFIDF, SprinkledLSI(n_components=10, plan=PLAN), KNNClassifier()),
    "sprinkled, rebuilt and whitened": make_pipeline(
        *TFIDF, SprinkledLSI(n_components=10, plan=PLAN, training="reconstructed", whiten=True), KNNClassifier()
    ),
    "semi-discrete": make_pipeline(*TFIDF, SemiDiscreteLSI(n_components=10), KNNClassifier()),
    "scores": make_pipeline(*TFIDF, ScoreSpace(SVM), KNNClassifier()),
    "supervised weights": make_pipeline(TextCounts(), SupervisedWeights(scheme="ig", select=0.5), NaiveBayes()),
    "supervised weights, neighbours": make_pipeline(
        TextCounts(), SupervisedWeights(scheme="ig", select=0.3), KNNClassifier()
    ),
    "whitened": make_pipeline(*TFIDF, SprinkledLSI(n_components=10, whiten=True, random_state=0), KNNClassifier()),
    "chi2": make_pipeline(TextCounts(), SupervisedWeights(scheme="chi2"), KNNClassifier()),
    "adaptive": make_pipeline(*TFIDF, AdaptiveSprinkling(KNNClassifier(), scores=ScoreSpace(SVM), n_components=10)),
    "confusion graph": make_pipeline(*TFIDF, ConfusionGraphClassifier()),
    "multi-level": make_pipeline(*TFIDF, MultiLevelClassifier()),
    "class space": make_pipeline(TextCounts(), LatentClassClassifier()),
    "class space, as published": make_pipeline(TextCounts(), LatentClassClassifier.as_published()),
    "instance space": make_pipeline(*TFIDF, LatentInstanceClassifier(n_components=10)),
    "centroids": make_pipeline(*TFIDF, CentroidClassifier()),
    "SVM": make_pipeline(*TFIDF, LinearSVM()),
    "logistic regression": make_pipeline(*TFIDF, LogisticModel()),
}
ON_TABLES = {
    "untwin": UntwinClassifier(preset="fast"),
    "encoder": make_pipeline(TableEncoder(), LinearSVM()),
    "intervals": make_pipeline(MDLPDiscretizer(), LatentClassClassifier()),
    "intervals, naive Bayes": make_pipeline(MDLPDiscretizer(), MultinomialNB()),
}


def made_texts(n, rng):
    codes = rng.integers(0, N_CLASSES, n)
    own = codes[:, np.newaxis] * 12 + rng.integers(0, 12, (n, 3))
    common = 1000 + rng.integers(0, 200, (n, 9))
    return [" ".join(f"w{word}" for word in row) for row in np.hstack([own, common]).tolist()], codes


def made_table(n, rng):
    codes = rng.integers(0, N_CLASSES, n)
    columns = {f"n{i}": np.round(codes * (i == 0) + rng.normal(0, 0.3 if i == 0 else 1, n), 3) for i in range(4)}
    return pl.DataFrame(columns), codes


def accuracies(model, make, seed):
    """Return what the model does on new rows if all labels are right, and if all are shuffled.

    Test labels are shuffled too: else a cluster of alike rows is right or wrong as one, and chance has no binomial.
    """
    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = make(N_ROWS, rng), make(N_TEST, rng)
    names = np.array([f"class {code}" for code in range(N_CLASSES)])
    return [
        float((model.fit(X, names[known]).predict(X_test) == names[asked]).mean())
        for known, asked in ((y, y_test), (rng.permutation(y), rng.permutation(y_test)))
    ]


def require_chance(accuracy, n):
    chance = 1 / N_CLASSES
    assert abs(accuracy - chance) < SPREADS * np.sqrt(chance * (1 - chance) / n)


@pytest.mark.filterwarnings("ignore")  # nothing can be learnt: what converges elsewhere may not here
@pytest.mark.parametrize("name", ON_TEXTS)
def test_texts(name):
    right, shuffled = accuracies(ON_TEXTS[name], made_texts, seed=0)
    assert right > 0.5
    require_chance(shuffled, N_TEST)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ON_TABLES)
def test_tables(name):
    right, shuffled = accuracies(ON_TABLES[name], made_table, seed=1)
    assert right > 0.5
    require_chance(shuffled, N_TEST)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in ON_TEXTS if not name.startswith("untwin")])
def test_out_of_fold(name):
    """What is said about training rows out of fold is at chance too: nothing that a fold learns has seen its rows."""
    rng = np.random.default_rng(2)
    X, y = made_texts(N_ROWS, rng)
    require_chance(out_of_fold(ON_TEXTS[name], X, rng.permutation(y)).confusion.accuracy, N_ROWS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ON_TABLES)
def test_tables_out_of_fold(name):
    rng = np.random.default_rng(3)
    X, y = made_table(N_ROWS, rng)
    require_chance(out_of_fold(ON_TABLES[name], X, rng.permutation(y)).confusion.accuracy, N_ROWS)


@pytest.mark.parametrize("preset", ["fast", "balanced"])
def test_what_the_product_says_of_itself_is_chance_too(preset):
    rng = np.random.default_rng(4)
    X, y = made_texts(N_ROWS, rng)
    require_chance(UntwinClassifier(preset=preset).fit(X, rng.permutation(y)).scores_["accuracy"], N_ROWS)
