"""Paper 1's smaller experiments on made texts: choices see training rows only, measures are what they say."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from papers.datasets import LabelledTexts
from papers.sprinkling import background, cost, local, pictures
from papers.sprinkling.chosen import Grid, best_setting, gains, inner_parts, plan_of, run_chosen
from papers.sprinkling.multilabel import reuters_topics, run_topics
from papers.sprinkling.spaces import CONTENDERS, halves
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from untwin.crossfit import out_of_fold
from untwin.tables.confusion import Confusion

WORDS = {"crude": "opec refinery oil barrel", "earn": "dividend quarter net share", "ship": "port oil barrel vessel"}
GRID = Grid((2, 4), (1.0, 4.0))


def made_texts(n=60, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(list(WORDS), n)
    every = " ".join(WORDS.values()).split()
    texts = [" ".join([*rng.choice(WORDS[label].split() * 3 + every, 5), f"w{rng.integers(20)}"]) for label in labels]
    return LabelledTexts("made", pl.Series(texts), pl.Series(labels))


@pytest.fixture(scope="module")
def half():
    return next(halves(made_texts(), 1))


def test_the_choice_does_not_see_the_test_half(half):
    contender = CONTENDERS[0]
    raw = out_of_fold(contender.estimator, half.X, half.y, with_scores=False)
    chosen = best_setting("adaptive", contender, half, raw, GRID)
    blind = half._replace(X_test=half.X_test * 0, y_test=half.y_test[::-1])
    assert best_setting("adaptive", contender, blind, raw, GRID) == chosen
    assert chosen[0] in GRID.strengths
    assert chosen[1] in GRID.dimensions


def test_inner_parts_divide_the_training_half(half):
    raw = out_of_fold(CONTENDERS[0].estimator, half.X, half.y, with_scores=False)
    parts = list(inner_parts(half, raw))
    assert sum(len(part.y_test) for part in parts) == len(half.y)
    assert all(len(part.y) + len(part.y_test) == len(half.y) for part in parts)


@pytest.mark.parametrize("space", ["uniform", "adaptive"])
def test_plans_have_the_strength_asked_for(space):
    confusion = Confusion.from_predictions(["a", "a", "b", "b", "c"], ["a", "b", "b", "a", "c"])
    assert plan_of(space, confusion, 5.0).trace == pytest.approx(15.0)
    assert plan_of("lsi", confusion, 5.0) is None


def test_chosen_spaces_are_compared_half_by_half():
    results = run_chosen([made_texts()], GRID, n_halves=2, n_jobs=1)
    assert len(results) == 2 * 3 * 4
    (row,) = gains(results, "knn cosine", "adaptive", ("svm", "raw"))
    wide = results.filter(pl.col("space").is_in(["adaptive", "raw"])).pivot(
        ["classifier", "space"], index="half", values="accuracy"
    )
    difference = wide['{"knn cosine","adaptive"}'] - wide['{"svm","raw"}']
    assert row["gain"] == pytest.approx(difference.mean())
    assert row["low"] <= row["gain"] <= row["high"]


def test_before_and_after_are_of_the_same_test_half(monkeypatch):
    monkeypatch.setattr(pictures, "GRID", GRID)
    found = pictures.before_and_after(made_texts())
    assert found.before.total == found.after.total == 90
    assert found.before.classes.tolist() == found.after.classes.tolist()


def test_words_of_one_class_are_nearer_than_of_two(monkeypatch):
    monkeypatch.setattr(pictures, "TERM_DIMENSIONS", (3, 6))
    monkeypatch.setattr(pictures, "TOP_TERMS", 2)
    rows = pictures.term_similarities(made_texts())
    assert {row["terms"] for row in rows if row["k"] == 3} >= {"opec and refinery", "terms of two classes, mean"}
    means = {row["terms"]: row["sprinkled"] for row in rows if row["k"] == 3}
    assert means["two terms of one class, mean"] > means["terms of two classes, mean"]


def test_local_spaces_score_by_the_length_of_the_projection(half):
    hits = local._hits(half, (1, 2))
    X = half.X.toarray()
    scores = []
    for name in np.unique(half.y):
        V = np.linalg.svd(X[half.y == name], full_matrices=False)[2][:2].T
        scores.append(np.linalg.norm(half.X_test @ V, axis=1) / np.linalg.norm(half.X_test.toarray(), axis=1))
    right = np.unique(half.y)[np.argmax(scores, axis=0)] == half.y_test
    assert_allclose(hits[1], right.sum())


def test_background_rows_are_those_without_labels():
    (row,) = background.run_background(made_texts(), n_halves=1, labelled=(8,), n_jobs=1)
    assert set(row) == {
        "set", "labelled a class", "raw terms", "LSI", "LSI, background", "sprinkled", "sprinkled, background",
    }  # fmt: skip
    assert min(row["sprinkled"], row["raw terms"]) > 0.5


def test_the_cost_is_a_share_of_plain_lsi():
    rows = cost.sprinkling_cost(made_texts(), n_components=3, repeats=1)
    assert rows[0]["columns a class"] == cost.PLAIN
    assert rows[0]["share of plain LSI"] == 1.0
    assert len(rows) == 1 + len(cost.STRENGTHS)


def test_topics_are_those_of_both_parts_and_scores_are_f1(made_data):
    topics = reuters_topics(made_data)
    assert topics.names.tolist() == ["rec.cat", "rec.lynx", "sci.bus", "sci.tram"]
    assert topics.Y.sum(axis=1).max() == 2
    rows = run_topics(topics, dimensions=(3, 5), strengths=(0.3,))
    svm = OneVsRestClassifier(LinearSVC(random_state=0)).fit(topics.X, topics.Y).predict(topics.X_test)
    assert rows[0]["micro-F1"] == pytest.approx(f1_score(topics.Y_test, svm, average="micro"))
    assert rows[-1]["k"] in (3, 5)


def test_settings_of_topics_do_not_see_the_test_part(made_data):
    topics = reuters_topics(made_data)
    blind = topics._replace(Y_test=topics.Y_test[::-1])
    chosen = [
        [(row["columns a topic"], row["k"]) for row in run_topics(one, dimensions=(2, 4), strengths=(0.3, 1.0))]
        for one in (topics, blind)
    ]
    assert chosen[0] == chosen[1]
