"""Over everything that sees labels: with shuffled labels it answers as well as chance, with the right ones far better.

Whoever lets held-out rows or their labels reach a training row, a weight, a plan, a tree or a choice fails here.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from untwin import (
    AdaptiveSprinkling,
    BatchLinearSVC,
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
from untwin.classify.linear import ComplementBayes, LinearSVM

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
    "supervised weights": make_pipeline(TextCounts(), SupervisedWeights(scheme="ig", select=0.5), ComplementBayes()),
    "chi2": make_pipeline(TextCounts(), SupervisedWeights(scheme="chi2"), KNNClassifier()),
    "adaptive": make_pipeline(*TFIDF, AdaptiveSprinkling(KNNClassifier(), scores=ScoreSpace(SVM), n_components=10)),
    "confusion graph": make_pipeline(*TFIDF, ConfusionGraphClassifier()),
    "multi-level": make_pipeline(*TFIDF, MultiLevelClassifier()),
    "class space": make_pipeline(TextCounts(), LatentClassClassifier()),
    "class space, as published": make_pipeline(TextCounts(), LatentClassClassifier.as_published()),
    "instance space": make_pipeline(*TFIDF, LatentInstanceClassifier(n_components=10)),
    "centroids": make_pipeline(*TFIDF, CentroidClassifier()),
    "SVM in batches": make_pipeline(*TFIDF, BatchLinearSVC()),
    "SVM": make_pipeline(*TFIDF, LinearSVM()),
}
ON_TABLES = {
    "untwin": UntwinClassifier(preset="fast"),
    "encoder": make_pipeline(TableEncoder(), LinearSVM()),
    "intervals": make_pipeline(MDLPDiscretizer(), LatentClassClassifier()),
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
    """Return what the model does on new rows after it has learnt the right labels, and after shuffled ones."""
    rng = np.random.default_rng(seed)
    (X, y), (X_test, y_test) = make(N_ROWS, rng), make(N_TEST, rng)
    names = np.array([f"class {code}" for code in range(N_CLASSES)])
    learnt = [model.fit(X, names[labels]).predict(X_test) for labels in (y, rng.permutation(y))]
    return [float((answers == names[y_test]).mean()) for answers in learnt]


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
