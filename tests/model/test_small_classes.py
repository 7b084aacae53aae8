"""Classes of one and two rows, anywhere: long tails are what real tables have."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.linear import LinearSVM
from untwin.crossfit.together import SharedFolds
from untwin.model import UntwinClassifier
from untwin.model.selection.comparison import Comparison
from untwin.report import write_report

TAIL = (16, 9, 5, 3, 2, 2, 1, 1, 1, 1)
SHAPES = {
    "long tail": TAIL,
    "one class and single rows": (25, *[1] * 8),
    "one class and pairs": (20, *[2] * 6),
    "a pair and single rows": (2, *[1] * 9),
    "single rows": (1,) * 6,
    "two rows": (1, 1),
    "three rows": (2, 1),
}
KINDS = ("texts", "frame", "dense", "sparse")


def _codes(shape, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(shape)), shape))


def _rows(kind, codes, seed=0):
    """Return rows that say something about their classes; a few texts are empty."""
    rng = np.random.default_rng(seed)
    texts = ["" if row % 9 == 8 else f"own{c} {rng.choice(list('abcd'))}x com{c % 3}" for row, c in enumerate(codes)]
    vectors = rng.normal(size=(len(codes), 5)) + np.eye(5)[codes % 5] * 3
    if kind == "frame":
        prices = [None if c == 1 else float(c) for c in codes]
        return pl.DataFrame({"note": texts, "price": prices, "shop": [f"shop{c % 4}" for c in codes]})
    return {"texts": texts, "dense": vectors, "sparse": csr_array(np.abs(vectors) * (vectors > 0.2))}[kind]


@pytest.fixture
def small_samples(monkeypatch):
    """Let the rows that are asked about be so few that they lack classes, as those of a large table do."""
    monkeypatch.setattr("untwin.model.selection.sampling.MOST_SCORES", 15)
    monkeypatch.setattr("untwin.model.selection.sampling.FEWEST_ROWS_A_CLASS", 1)
    monkeypatch.setattr("untwin.model.selection.strength.ENOUGH_ROWS", 15)


def _everything_works(model, rows, tmp_path, *, report):
    P = model.predict_proba(rows)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-6)
    assert set(model.predict(rows)) <= set(model.classes_)
    assert len(model.predict_group(rows).groups) == len(model.unsure(rows, target_error=0.1)) == len(P)
    assert len(model.without_evidence(rows)) == len(P)
    assert len(model.explain(rows)) == len(P)
    assert sorted(name for group in model.groups_ for name in group) == model.classes_.tolist()
    assert model.out_of_fold_.confusion == model.confusion_
    assert isinstance(model.findings_, list)
    assert model.find(test=(rows, model.predict(rows)), unlabelled=rows) is not None
    if report:
        assert write_report(model, tmp_path / "page.html").stat().st_size > 1000
    model.save(tmp_path / "model")
    loaded = UntwinClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(rows), P)


def _grows_and_shrinks(model, kind, rows, tmp_path, *, report=False):
    n_classes, names = len(model.classes_), model.classes_
    learnt = model.add(_rows(kind, np.array([0, 90]), seed=1), np.array(["c00", "c90"]))
    assert learnt.new_classes == ("c90",)
    _everything_works(model, rows, tmp_path, report=False)
    merged = model.ids_[model.state_.y == names[0]]
    assert model.relabel(merged, [names[1]] * len(merged)).lost_classes == (names[0],)
    _everything_works(model, rows, tmp_path, report=report)
    if n_classes > 2:
        gone = model.ids_[model.state_.y == names[-1]]
        assert model.remove(gone).lost_classes == (names[-1],)
        _everything_works(model, rows, tmp_path, report=report)


@pytest.mark.parametrize("preset", ["fast", "balanced", "best"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_long_tail_of_any_kind_with_every_preset(small_samples, kind, preset, tmp_path):
    codes = _codes(TAIL)
    rows, labels = _rows(kind, codes), np.array([f"c{code:02d}" for code in codes])
    model = UntwinClassifier(preset=preset, target_error=0.1).fit(rows, labels)
    _everything_works(model, rows, tmp_path, report=preset == "fast")
    _grows_and_shrinks(model, kind, rows, tmp_path)


@pytest.mark.parametrize("kind", ["texts", "dense"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_any_shape_of_classes(small_samples, shape, kind, tmp_path):
    codes = _codes(SHAPES[shape])
    rows, labels = _rows(kind, codes), np.array([f"c{code:02d}" for code in codes])
    model = UntwinClassifier(preset="fast").fit(rows, labels)
    _everything_works(model, rows, tmp_path, report=kind == "texts")
    _grows_and_shrinks(model, kind, rows, tmp_path, report=kind == "dense")


@pytest.mark.parametrize("scoring", ["macro_f1", "mae", "kappa"])
def test_a_long_tail_of_grades(small_samples, scoring, tmp_path):
    """New classes are of the order that fit was given, though it had not seen them."""
    codes = _codes(TAIL)
    rows, order = _rows("dense", codes), [f"c{code:02d}" for code in range(99)]
    model = UntwinClassifier(preset="balanced", scoring=scoring, order=order, target_error=0.0)
    model.fit(rows, np.array(order)[codes])
    _everything_works(model, rows, tmp_path, report=False)
    _grows_and_shrinks(model, "dense", rows, tmp_path)


def test_more_classes_than_half_of_the_rows():
    """1,000 rows in 900 classes, without a warning that this might be a regression."""
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.concatenate([np.arange(900), rng.integers(0, 40, 100)]))
    rows = [f"word{code} about{code % 30} and{rng.integers(50)}" for code in codes]
    model = UntwinClassifier(preset="fast").fit(rows, codes)
    assert len(model.classes_) == 900
    assert (model.predict(rows) == codes).mean() > 0.9
    assert model.add(["word7 anew", "nothing like it"], [7, 900]).new_classes == (900,)
    assert any(finding.code == "tiny-class" for finding in model.findings_)


def test_identical_rows_of_different_classes(tmp_path):
    """A class whose only rows are also rows of another: no fold's model could know it while it is held out."""
    rows = np.repeat(np.eye(3), [6, 3, 1], axis=0)
    labels = np.array(["a", "b", "a", "b", "a", "c", "d", "d", "d", "e"])
    for preset in ("fast", "balanced"):
        model = UntwinClassifier(preset=preset).fit(rows, labels)
        _everything_works(model, rows, tmp_path, report=False)


def test_candidates_of_a_sample_have_a_column_for_each_class():
    """A sample of a long tail lacks classes: their numbers must not move."""
    rng = np.random.default_rng(0)
    codes = np.array([0, 0, 0, 0, 2, 2, 2, 2])
    rows = rng.normal(size=(8, 3)) + np.eye(3)[codes] * 3
    folds, classes = np.arange(8) % 2, np.array(list("abcd"))
    comparison, models = Comparison(classes, codes, folds, "accuracy", None), (LinearSVM(), KNNClassifier())
    scores = SharedFolds(rows, codes, 4, folds, folds, None).scores({type(model).__name__: model for model in models})
    for found, model in zip(scores.values(), models, strict=True):
        result = comparison.result("one", model, found)
        assert result.log_p.shape == (8, 4)
        assert set(result.predicted) <= {0, 2}


def test_experts_stand_in_the_order_of_the_classes_where_one_has_no_row_to_learn_from():
    """The only row of class 1 is also one of class 0, which fold 0 holds out: the experts after it were mixed up."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4)) + np.eye(4)[np.arange(30) % 3] * 4
    y = np.arange(30) % 3 * 2
    X[29], y[29] = X[0], 1
    for approach in ("one-vs-rest", "max-wins", "verify"):
        for candidates in ("auto", None):
            how = {"candidates": candidates, "threshold": 0.01} if candidates is None else {"candidates": candidates}
            model = ConfusionGraphClassifier(approach=approach, cv=3, **how).fit(X, y)
            assert model.score(X[:29], y[:29]) > 0.8


@pytest.mark.parametrize("n", [2, 3, 5, 8])
@pytest.mark.parametrize("kind", ["texts", "matrix"])
def test_a_handful_of_rows(kind, n):
    """Two folds out, as a stack of few rows is judged, may leave one class to train on."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = np.array(["a", "b"] * n)[:n]
        texts = [" ".join(rng.choice(["red", "bus", "a", "car", "x"], 4)) for _ in range(n)]
        X = {"texts": texts, "matrix": np.abs(rng.normal(size=(n, 4)))}[kind]
        assert set(UntwinClassifier().fit(X, y).predict(X)) <= {"a", "b"}
