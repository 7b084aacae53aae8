"""Each approach against the rules of paper 2, written out document by document."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

from untwin import out_of_fold
from untwin.classify.graph.classifier import ConfusionGraphClassifier

EXPERT = LinearSVC(dual=False, tol=1e-6)
NAMES = np.array(["ape", "bee", "cat", "dog", "elk", "fox"])


def documents(n, seed, n_terms=24):
    """Counts of six classes that resemble each other; the later classes more than the first."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(NAMES), n)
    rate = 0.5 + np.eye(len(NAMES))[:, np.arange(n_terms) % len(NAMES)] * np.linspace(1.5, 0.4, len(NAMES))[:, None]
    return rng.poisson(rate[y]).astype(float), NAMES[y]


TRAIN, TEST = documents(240, 0), documents(400, 1)


def fitted(**parameters):
    model = ConfusionGraphClassifier(base=MultinomialNB(), expert=EXPERT, blend=False, **parameters)
    return model.fit(csr_array(TRAIN[0]), TRAIN[1])


@cache
def margins(wins, *loses):
    """Return what an expert says of the test documents for the class `wins` against `loses`."""
    X, y = TRAIN
    chosen = np.isin(y, [wins, *loses])
    return clone(EXPERT).fit(X[chosen], y[chosen] == wins).decision_function(TEST[0])


def all_duels():
    return {(a, b): margins(a, b) for a in NAMES for b in NAMES if a != b}


def test_one_vs_rest_as_published():
    model = fitted(threshold=0.05, candidates=None)
    expected = []
    for row, said in enumerate(model.base_.predict(TEST[0])):
        members = {said, *model.graph_.neighbours(said)}
        alone = len(members) == 1
        expected.append(said if alone else max(members, key=lambda c: margins(c, *sorted(members - {c}))[row]))
    assert model.n_experts_ == len(NAMES)
    assert (model.predict(TEST[0]) != model.base_.predict(TEST[0])).sum() > 20
    np.testing.assert_array_equal(model.predict(csr_array(TEST[0])), expected)


def test_max_wins_as_published():
    model, duel = fitted(threshold=0.05, candidates=None, approach="max-wins"), all_duels()
    expected = []
    for row, said in enumerate(model.base_.predict(TEST[0])):
        members = [said, *model.graph_.neighbours(said)]
        sums = Counter({said: 0.0})
        for a in members:
            sums[a] += sum(max(duel[a, b][row], 0.0) for b in members if b != a)
        expected.append(max(members, key=sums.__getitem__))
    np.testing.assert_array_equal(model.predict(TEST[0]), expected)


def verified(said, neighbours, weights, duel, row):
    """Return the class that approach 1 settles on, and which of its four cases applied."""
    dissenters = [c for c in neighbours if duel[c, said][row] > 0]
    if not dissenters:
        return said, 1
    if len(dissenters) == 1:
        return dissenters[0], 2
    if len(dissenters) == 2:
        first, second = dissenters
        return (first if duel[first, second][row] > 0 else second), 3
    return max(dissenters, key=weights.__getitem__), 4


def test_verify_as_published_in_all_four_cases():
    model, duel = fitted(threshold=0.0, candidates=None, approach="verify"), all_duels()
    weights = {(edge.predicted, edge.true): edge.weight for edge in model.graph_.edges}
    said = model.base_.predict(TEST[0])
    verdicts = [
        verified(c, model.graph_.neighbours(c), {d: weights[p, d] for p, d in weights if p == c}, duel, row)
        for row, c in enumerate(said)
    ]
    assert {case for _, case in verdicts} == {1, 2, 3, 4}
    np.testing.assert_array_equal(model.predict(TEST[0]), [name for name, _ in verdicts])


@pytest.mark.parametrize("threshold", [None, 0.05])
def test_one_vs_rest_with_bounded_candidates(threshold):
    """The expert of a class learns from its own rows and from those that, out of fold, have it as a candidate."""
    X, y = TRAIN
    model = fitted(threshold=threshold, candidates=3)
    held_out = out_of_fold(MultinomialNB(), X, y)
    retrain = {name: set(np.flatnonzero(y == name)) for name in NAMES}
    for row, scores in enumerate(held_out.scores):
        best = NAMES[np.argsort(-scores)[:3]]
        rates = held_out.without(held_out.folds[row]).rates.toarray()
        for name in best:
            share = rates[np.flatnonzero(name == NAMES)[0], np.flatnonzero(best[0] == NAMES)[0]]
            if threshold is None or name == best[0] or share > threshold:
                retrain[name].add(row)
    experts = {}
    for name, rows in retrain.items():
        chosen = sorted(rows)
        experts[name] = clone(EXPERT).fit(X[chosen], y[chosen] == name)
    expected = []
    for x, scores in zip(TEST[0], model.base_.predict_proba(TEST[0]), strict=True):
        best = NAMES[np.argsort(-scores)[:3]]
        allowed = best if threshold is None else [c for c in best if c in (best[0], *model.graph_.neighbours(best[0]))]
        expected.append(max(allowed, key=lambda name: experts[name].decision_function([x])[0]))
    np.testing.assert_array_equal(model.predict(TEST[0]), expected)


def test_pairs_with_bounded_candidates_judge_only_the_best_ranked():
    model, duel = fitted(threshold=None, candidates=2, approach="max-wins"), all_duels()
    best = NAMES[np.argsort(-model.base_.predict_proba(TEST[0]), axis=1)[:, :2]]
    expected = [a if duel[a, b][row] > 0 else b for row, (a, b) in enumerate(best)]
    assert model.n_experts_ == 15
    np.testing.assert_array_equal(model.predict(TEST[0]), expected)


def test_a_pair_without_an_expert_leaves_the_base_its_say(monkeypatch):
    monkeypatch.setattr("untwin.classify.graph.classifier.PAIR_ROWS", 10_000)
    for approach in ("max-wins", "verify"):
        model = fitted(threshold=0.05, candidates=3, approach=approach)
        assert model.n_experts_ == 0
        np.testing.assert_array_equal(model.predict(TEST[0]), model.base_.predict(TEST[0]))
