from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import NearestNeighbors

from untwin import Confusion, ConfusionGraph, out_of_fold
from untwin.classify.graph import candidates
from untwin.classify.graph.candidates import rank_classes, rank_out_of_fold


def rows(n=200, m=15, n_classes=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.poisson(1 + (np.arange(m) % n_classes == y[:, None])).astype(float), np.array(list("abcde"))[y]


def out_of_fold_candidates(X, y, base, k=3):
    result = out_of_fold(base, X, y, cv=4)
    found, confusions = rank_out_of_fold(
        base, X, y, classes=result.classes, folds=(result.folds, result.folds), k=k, n_jobs=None
    )
    return result, found, confusions


def test_ranks_as_a_full_sort_does(monkeypatch):
    X, y = rows()
    model = MultinomialNB().fit(X, y)
    log_p = model.predict_log_proba(X)
    monkeypatch.setattr(candidates, "BLOCK_CELLS", 35)  # seven rows at a time
    found = rank_classes(model, X, model.classes_, 3)
    np.testing.assert_array_equal(found.codes, np.argsort(-log_p, axis=1)[:, :3])
    np.testing.assert_allclose(found.scores, -np.sort(-log_p, axis=1)[:, :3])
    assert found.open.all()


def test_classes_that_the_model_does_not_know_or_excludes_are_not_open():
    X, y = rows()
    known = y != "c"
    model = MultinomialNB().fit(X[known], y[known])
    found = rank_classes(model, X, np.unique(y), 5)
    np.testing.assert_array_equal(found.open.sum(axis=1), 4)
    assert not (found.codes[found.open] == 2).any()
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        rank_classes(forest, X, forest.classes_, 5).open.sum(axis=1), (forest.predict_proba(X) > 0).sum(axis=1)
    )


def test_out_of_fold_ranks_are_those_of_the_scores_out_of_fold():
    X, y = rows()
    base = LogisticRegression()
    result, found, confusions = out_of_fold_candidates(X, y, base)
    np.testing.assert_array_equal(found.codes, np.argsort(-result.scores, axis=1, kind="stable")[:, :3])
    assert confusions == list(result.fold_confusions)


def test_edges_of_a_row_come_from_the_other_folds():
    X, y = rows()
    result, found, _ = out_of_fold_candidates(X, y, MultinomialNB())
    for row in range(0, len(y), 7):
        rest = result.folds != result.folds[row]
        confusion = Confusion.from_predictions(y[rest], result.predictions[rest], classes=result.classes)
        incidence = ConfusionGraph.from_confusion(confusion, 0.0).incidence.toarray()
        np.testing.assert_allclose(found.weights[row], incidence[found.codes[row, 0], found.codes[row]])


def test_within_keeps_the_base_class_and_heavy_edges():
    X, y = rows()
    _, found, _ = out_of_fold_candidates(X, y, MultinomialNB(), k=5)
    kept = found.within(0.1).open
    assert kept[:, 0].all()
    np.testing.assert_array_equal(kept[:, 1:], found.weights[:, 1:] > 0.1)
    assert found.within(None) is found


def test_rows_never_held_out_have_no_candidates():
    X, y = rows()
    folds = np.arange(len(y)) % 3 - 1
    found, confusions = rank_out_of_fold(
        MultinomialNB(), X, y, classes=np.unique(y), folds=(folds, folds), k=2, n_jobs=2
    )
    np.testing.assert_array_equal(found.open, np.repeat(folds[:, None] >= 0, 2, axis=1))
    assert sum(part.total for part in confusions) == (folds >= 0).sum()


def test_a_base_without_scores_is_refused():
    model = NearestNeighbors().fit(np.eye(2))
    model.classes_ = np.array([0, 1])
    with pytest.raises(ValueError, match="base must have decision_function or predict_proba"):
        rank_classes(model, np.eye(2), model.classes_, 2)
