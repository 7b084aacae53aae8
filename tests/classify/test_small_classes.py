"""Every estimator on its own, with classes of one row: some, all, two."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from untwin.classify.adaptive import AdaptiveSprinkling
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.latent.instances import LatentInstanceClassifier
from untwin.classify.linear import LinearSVM, LogisticModel, NaiveBayes
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.crossfit import out_of_fold
from untwin.represent.scores import ScoreSpace
from untwin.represent.sprinkle import SprinkledLSI
from untwin.structure.plan import SprinklingPlan

SHAPES = {
    "tail": (8, 5, 2, 2, 1, 1, 1, 1, 1),
    "one large": (12, 1, 1, 1),
    "single rows": (1,) * 24,
    "two rows": (1, 1),
    "three rows": (2, 1),
}
CLASSIFIERS = {
    "SVM": LinearSVM(),
    "logistic": LogisticModel(),
    "naive Bayes": NaiveBayes(),
    "centroids": CentroidClassifier(),
    "neighbours": KNNClassifier(),
    "neighbours, chosen": KNNClassifier(n_neighbors="cv"),
    "multi-level": MultiLevelClassifier(),
    "multi-level by confusion": MultiLevelClassifier(hierarchy="confusion", groups=3),
    "graph": ConfusionGraphClassifier(),
    "graph of pairs": ConfusionGraphClassifier(approach="max-wins"),
    "graph, verified": ConfusionGraphClassifier(approach="verify"),
    "sub-graphs": ConfusionGraphClassifier(candidates=None),
    "class space": LatentClassClassifier(),
    "instance space": LatentInstanceClassifier(),
    "adaptive": AdaptiveSprinkling(KNNClassifier(), n_components=5, cv=2),
    "adaptive beside scores": AdaptiveSprinkling(KNNClassifier(), scores=ScoreSpace(LinearSVM()), n_components=5, cv=2),
}


def _data(shape, *, sparse):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(shape)), shape))
    X = np.abs(np.random.default_rng(1).normal(size=(len(codes), 8))) + np.eye(8)[codes % 8] * 4
    return (csr_array(np.where(X > 0.8, X, 0.0)) if sparse else X), np.array([f"c{code:02d}" for code in codes])


@pytest.mark.parametrize("name", list(CLASSIFIERS))
@pytest.mark.parametrize("shape", list(SHAPES))
def test_classifiers(shape, name):
    X, y = _data(SHAPES[shape], sparse=True)
    model = CLASSIFIERS[name].fit(X, y)
    assert model.classes_.tolist() == sorted(set(y))
    assert set(model.predict(X)) <= set(y)
    if hasattr(model, "predict_proba"):
        P = model.predict_proba(X)
        assert P.shape == (len(y), len(model.classes_))
        np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-5)
    if hasattr(model, "partial_fit"):
        model.partial_fit(X[:1], np.array(["new"]))
        assert "new" in model.classes_
        assert set(model.predict(X)) <= {*y, "new"}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_spaces(shape):
    X, y = _data(SHAPES[shape], sparse=False)
    space = ScoreSpace(LinearSVM(), cv=3)
    rows = space.fit_transform(X, y)
    assert np.isfinite(rows).all()
    assert np.isfinite(space.transform(X)).all()
    plan = SprinklingPlan.uniform(np.unique(y))
    assert np.isfinite(SprinkledLSI(n_components=1, plan=plan, whiten=True).fit_transform(X, y)).all()


def test_nobody_is_asked_about_a_class_that_its_model_could_not_know():
    X, y = _data(SHAPES["tail"], sparse=True)
    found = out_of_fold(LinearSVM(), X, y)
    asked = np.flatnonzero(found.folds >= 0)
    assert set(y[asked]) == {"c00", "c01", "c02", "c03"}
    assert found.confusion.total == len(asked)
    scores = np.asarray(found.scores)
    assert np.isfinite(scores[asked, np.searchsorted(found.classes, y[asked])]).all()
    with pytest.raises(ValueError, match="rows in two folds"):
        out_of_fold(LinearSVM(), *_data(SHAPES["single rows"], sparse=True))


def test_a_fold_that_leaves_one_class_to_learn_from_is_not_asked():
    """The only row of class b is also one of class a: held out together, they leave a alone."""
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    found = out_of_fold(LinearSVM(), X, np.array(["a", "a", "b", "a"]), cv=3)
    assert found.folds[[0, 2]].tolist() == [-1, -1]
    assert (found.folds[[1, 3]] >= 0).all()


def test_a_temperature_does_not_follow_rows_whose_class_nobody_knew():
    """Their true class had the score of minus infinity, which made every answer as unsure as could be."""
    X, y = _data((20, 20, *[1] * 10), sparse=False)
    model = MultiLevelClassifier().fit(X, y)
    known = y < "c02"
    assert model.predict_proba(X)[known].max(axis=1).mean() > 0.5
    assert len(model.judged_[0]) == 40
