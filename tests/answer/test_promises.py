"""Promises on made-up probabilities: coverage, nesting, errors by literal counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untwin.answer.error_curve import MOST_POINTS, ErrorCurve, default_target
from untwin.answer.heights import NO_ANSWER, ClassTree, TreePromise, merge_tree, path_tree
from untwin.answer.shortlists import GROUP_PENALTY, PENALTIES, GroupScores, Must, RankedClasses, SetRule, SetScores
from untwin.answer.spread import SpreadOfKnown, UnknownChance, spread_of
from untwin.calibrate.unknown import chance_of

C = 8
NAMES = np.array([f"c{number}" for number in range(C)])


def made_up(n_rows, seed, sharpness=1.5):
    """Return probabilities, and true classes that are drawn by others, so that probabilities are off."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n_rows, C)) * sharpness
    P = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
    Q = np.exp(0.7 * S) / np.exp(0.7 * S).sum(axis=1, keepdims=True)
    true = (Q.cumsum(axis=1) > rng.random((n_rows, 1))).argmax(axis=1)
    return P, true


def must(P):
    return Must(P.argmax(axis=1), np.zeros(len(P), dtype=bool))


def scores_of(P, true):
    return SetScores.of(RankedClasses.of(P).at(true), P)


# ---------------------------------------------------------------------- sets


@pytest.mark.parametrize("coverage", [0.8, 0.9, 0.95, 0.99])
def test_exchangeable_rows_are_covered_as_promised(coverage):
    """Means over many draws: at least the promise, and not much more, since thresholds are quantiles."""
    held, exact = [], []
    for seed in range(40):
        P, true = made_up(1000, seed)
        old, new = slice(0, 500), slice(500, 1000)
        rule = scores_of(P[old], true[old]).rule(coverage)
        held.append(rule.shortlists(P[new], NAMES, must(P[new])).hold(NAMES[true[new]]).mean())
        rule = SetRule.exact(P[old], true[old], coverage, 0.02)
        exact.append(rule.shortlists(P[new], NAMES, must(P[new])).hold(NAMES[true[new]]).mean())
    spread = 3 * np.sqrt(coverage * (1 - coverage) / (40 * 500)) + 3 * np.sqrt(coverage * (1 - coverage) / (40 * 500))
    for found in (np.mean(held), np.mean(exact)):
        assert coverage - spread <= found <= coverage + spread + 1 / 500


@given(st.integers(0, 50), st.integers(1, 40), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_sets_grow_with_the_coverage_and_hold_the_answer(seed, n_rows, one, other):
    P, true = made_up(n_rows, seed)
    low, high = sorted([one, other])
    answers = np.random.default_rng(seed).integers(0, C, n_rows)  # any answer, as that of ordered classes may be
    for penalty in PENALTIES:
        rules = [SetRule.exact(P, true, coverage, penalty) for coverage in (low, high)]
        sets = [rule.shortlists(P, NAMES, Must(answers, np.zeros(n_rows, dtype=bool))) for rule in rules]
        small, large = ([set(names) for names in found.lists()] for found in sets)
        assert all(a <= b for a, b in zip(small, large, strict=True))
        assert all(NAMES[answer] in names for answer, names in zip(answers, small, strict=True))
        assert sets[0].sizes.tolist() == list(map(len, sets[0].lists()))


def test_sets_are_those_of_a_literal_computation():
    P, true = made_up(300, 3)
    rule = scores_of(P, true).rule(0.9)
    scores = []
    for row, label in zip(P, true, strict=True):
        order = sorted(range(C), key=lambda c: (-row[c], c))
        place = order.index(label)
        scores.append(sum(row[c] for c in order[:place]) + rule.penalty * place)
    limit = sorted(scores)[int(np.ceil(301 * 0.9)) - 1]
    assert rule.threshold == pytest.approx(limit)
    found = rule.shortlists(P[:20], NAMES, must(P[:20])).lists()
    for row, names in zip(P[:20], found, strict=True):
        order = sorted(range(C), key=lambda c: (-row[c], c))
        wanted = [
            NAMES[c] for k, c in enumerate(order) if sum(row[order[:k]]) + rule.penalty * k <= rule.threshold + 1e-9
        ]
        assert names == wanted


def test_too_few_rows_promise_nothing_but_all_classes():
    P, true = made_up(10, 0)
    rule = scores_of(P, true).rule(0.95)
    assert rule.threshold == np.inf
    assert (rule.shortlists(P, NAMES, must(P)).sizes == C).all()
    nothing = SetScores.of(RankedClasses.of(P[:0]).at(true[:0]), P[:0])
    assert nothing.rule(0.5).threshold == np.inf
    for coverage in (0.0, 1.0, float("nan")):
        with pytest.raises(ValueError, match="coverage must be a share between 0 and 1"):
            scores_of(P, true).rule(coverage)


def test_a_row_without_evidence_gets_all_classes():
    P, true = made_up(200, 1)
    mute = np.arange(200) < 2
    sizes = scores_of(P, true).rule(0.8).shortlists(P, NAMES, Must(P.argmax(axis=1), mute)).sizes
    assert (sizes[:2] == C).all()
    assert sizes[2:].mean() < C / 2


def test_each_group_is_covered_as_promised():
    """The last group is answered badly: all rows together hide that, and the promise by group does not."""
    groups = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    by_group, together = [], []
    for seed in range(30):
        P, true = made_up(3000, seed, 3.0)
        swap = true >= 6
        P[swap] = P[swap][:, ::-1]
        old, new = slice(0, 1500), slice(1500, 3000)
        at = RankedClasses.of(P[old]).at(true[old])
        own = GroupScores.of(at, true[old], groups).shortlists(P[new], NAMES, must(P[new]), 0.9, least=np.inf)
        rule = SetScores.of(at, P[old]).rule(0.9)
        bad = groups[true[new]] == 1
        by_group.append([own.hold(NAMES[true[new]])[part].mean() for part in (bad, ~bad)])
        together.append(rule.shortlists(P[new], NAMES, must(P[new])).hold(NAMES[true[new]])[bad].mean())
    assert np.mean(together) < 0.8
    assert (np.mean(by_group, axis=0) > 0.89).all()


def test_a_group_with_too_few_rows_takes_the_common_threshold():
    P, true = made_up(400, 2)
    groups = np.where(np.arange(C) == 0, 1, 0)
    few = (true != 0) | (np.cumsum(true == 0) <= 3)
    at = RankedClasses.of(P[few]).at(true[few])
    least = SetScores.of(at, P[few]).threshold(GROUP_PENALTY, 0.95)
    found = GroupScores.of(at, true[few], groups).shortlists(P, NAMES, must(P), 0.95, least=least)
    common = SetRule(GROUP_PENALTY, least).shortlists(P, NAMES, must(P))
    own = found.ranked == 0
    assert (found.inside & own).sum() == (common.inside & (common.ranked == 0)).sum()


# ---------------------------------------------------------------------- sure answers

judged = st.lists(st.tuples(st.sampled_from([0.2, 0.5, 0.7, 0.9, 1.0]), st.booleans()), min_size=1, max_size=30)


@given(judged, st.floats(0, 1))
def test_the_threshold_is_the_lowest_that_keeps_to_the_target(rows, target):
    confidence, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows])
    fitting = [t for t in np.unique(confidence) if (~right[confidence >= t]).mean() <= target]
    assert ErrorCurve.of_answers(confidence, right).threshold(target) == min(fitting, default=np.inf)


def test_few_points_stand_for_many_rows():
    rng = np.random.default_rng(0)
    confidence = rng.random(20_000)
    right = rng.random(20_000) < confidence
    curve = ErrorCurve.of_answers(confidence, right)
    assert len(curve.thresholds) == MOST_POINTS
    for target in (0.02, 0.1, 0.3):
        sure = confidence >= curve.threshold(target)
        exact = confidence >= ErrorCurve.of_answers(confidence, right, None).threshold(target)
        assert (~right[sure]).mean() <= target
        assert sure.mean() <= exact.mean() <= sure.mean() + 0.01


@pytest.mark.parametrize(("accuracy", "target"), [(0.96, 0.02), (0.6, 0.1), (1.0, 0.0), (None, 0.1)])
def test_the_target_is_half_of_the_error_to_expect(accuracy, target):
    assert default_target(accuracy) == pytest.approx(target)


# ---------------------------------------------------------------------- heights

TREE = merge_tree([[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11], [12, 13]], [0, 0, 1, 1, 2, 2, 3, 3])


@given(st.integers(0, 100), st.floats(0, 1), st.floats(0, 1))
def test_heights_are_nested_and_hold_the_answer(seed, one, other):
    P, _ = made_up(20, seed)
    answers, (low, high) = P.argmax(axis=1), sorted([one, other])
    nodes = [TREE.climb(P, answers, threshold)[0] for threshold in (low, high)]
    for answer, small, large in zip(answers, *nodes, strict=True):
        inner, outer = set(TREE.members(small).tolist()), set(TREE.members(large).tolist())
        assert inner <= outer
        assert answer in inner
        assert TREE.levels[small] <= TREE.levels[large]


@given(st.integers(0, 100), st.floats(0.01, 0.99))
def test_the_node_is_the_smallest_that_is_likely_enough(seed, threshold):
    P, _ = made_up(20, seed)
    answers = P.argmax(axis=1)
    chosen, shares = TREE.climb(P, answers, threshold)
    for row, node in enumerate(chosen.tolist()):
        around = [one for one in range(len(TREE.parents)) if answers[row] in TREE.members(one)]
        fitting = [
            one
            for one in around
            if TREE.levels[one] < NO_ANSWER and P[row, TREE.members(one)].sum() >= threshold - 1e-9
        ]
        assert node == (min(fitting, key=lambda one: TREE.size[one]) if fitting else len(TREE.parents) - 1)
        assert not fitting or shares[row] == pytest.approx(P[row, TREE.members(node)].sum())


@given(st.integers(0, 100), st.floats(0.01, 0.99))
def test_errors_on_the_tree_are_those_of_a_literal_count(seed, threshold):
    P, true = made_up(40, seed)
    answers = P.argmax(axis=1)
    answered_at, wrong_at = TREE.limits(P, answers, true)
    nodes, _ = TREE.climb(P, answers, threshold)
    said = TREE.levels[nodes] < NO_ANSWER
    wrong = [bool(ok) and label not in TREE.members(node) for ok, label, node in zip(said, true, nodes, strict=True)]
    assert said.tolist() == (answered_at >= threshold - 1e-9).tolist()
    assert wrong == (wrong_at >= threshold - 1e-9).tolist()


def test_the_error_keeps_to_the_target_on_other_rows():
    errors = []
    for seed in range(20):
        P, true = made_up(2000, seed, 2.5)
        promise = TreePromise(TREE, TREE.curve(P[:1000], P[:1000].argmax(axis=1), true[:1000]))
        new = P[1000:]
        found = promise.answers(new, new.argmax(axis=1), NAMES, 0.1, np.zeros(1000, dtype=bool))
        said = found.levels < NO_ANSWER
        assert 0 < said.mean() < 1
        errors.append((~found.hold(true[1000:]))[said].mean())
    assert np.mean(errors) == pytest.approx(0.1, abs=0.02)


def test_a_node_of_most_classes_is_no_answer():
    tree = merge_tree([[0, 1], [4, 2], [5, 3]], [0, 0, 0, 1])
    assert tree.levels.tolist() == [0, 0, 0, 0, 1, NO_ANSWER, NO_ANSWER]
    nodes, shares = tree.climb(np.array([[0.4, 0.1, 0.4, 0.1]]), np.array([0]), 0.8)
    assert (nodes.tolist(), shares.tolist()) == ([6], [1.0])
    pair = merge_tree([[0, 1]], [0, 1])
    assert pair.levels.tolist() == [0, 0, NO_ANSWER]


def test_what_a_tree_answers():
    P = np.array([[0.9] + [0.1 / 7] * 7, [0.5, 0.45] + [0.05 / 6] * 6, [0.125] * 8])
    curve = ErrorCurve.of_answers(np.array([0.8]), np.array([True]))
    found = TreePromise(TREE, curve).answers(P, np.zeros(3, dtype=int), NAMES, 0.0, np.zeros(3, dtype=bool))
    assert found.labels().tolist() == ["c0", ("c0", "c1"), None]
    assert found.sizes.tolist() == [1, 2, 8]
    assert found.bits.tolist() == [3.0, 2.0, 0.0]
    assert found.hold(np.array([0, 2, -1])).tolist() == [True, False, False]
    silent = TreePromise(TREE, curve).answers(P, np.zeros(3, dtype=int), NAMES, 0.0, np.ones(3, dtype=bool))
    assert silent.labels().tolist() == [None] * 3


def test_the_tree_of_an_owner():
    tree = path_tree([("all", "office", "a"), ("all", "office", "a"), ("all", "office", "b"), ("all", "home")])
    members = [sorted(tree.members(node).tolist()) for node in range(4, len(tree.parents))]
    assert members == [[0, 1], [2], [3], [0, 1, 2], [0, 1, 2, 3]]
    chain = ClassTree.of(_chain(1000), np.zeros(1000, dtype=int))
    assert chain.size[-1] == 1000
    assert chain.climb(np.full((1, 1000), 1e-3), np.array([0]), 0.3)[0].tolist() == [1000 + 298]


def _chain(n):
    """Return the parents of a tree that takes in one class after the other: 0 and 1, then 2, and so on."""
    return [n, n, *range(n + 1, 2 * n - 1), *range(n + 1, 2 * n - 1), 2 * n - 2]


# ---------------------------------------------------------------------- rows of no class


@given(st.integers(0, 100))
def test_the_spread_is_between_one_class_and_all(seed):
    P, _ = made_up(20, seed, 4.0)
    spread = spread_of(P)
    assert (spread >= 1 - 1e-9).all()
    assert (spread <= C + 1e-9).all()
    assert spread_of(np.full((1, C), 1 / C))[0] == pytest.approx(C)


def test_as_many_known_rows_are_lost_as_are_allowed():
    old, new = (spread_of(made_up(4000, seed, 3.0)[0]) for seed in (0, 1))
    known = SpreadOfKnown.of(old)
    for lost in (0.01, 0.05, 0.2):
        assert known.exceeds(new, lost).mean() == pytest.approx(lost, abs=0.015)
    assert not SpreadOfKnown.of(old[:0]).exceeds(new).any()
    with pytest.raises(ValueError, match="lost must be a share"):
        known.exceeds(new, 2.0)


def test_the_chance_rises_with_the_spread():
    rng = np.random.default_rng(0)
    spread = np.concatenate([1 + rng.exponential(1.0, 900), 1 + rng.exponential(6.0, 100)])
    unknown = np.arange(1000) >= 900
    chance = chance_of(spread, unknown)
    found = chance(np.array([1.0, 3.0, 20.0]))
    assert (np.diff(found) > 0).all()
    assert found[0] < 0.3 < 0.9 < found[2]
    known, other = chance(spread[~unknown]).mean(), chance(spread[unknown]).mean()
    assert np.mean([known, other]) == pytest.approx(0.5, abs=0.02)  # even odds
    assert chance_of(spread, np.zeros(1000, dtype=bool)) is None
    assert chance_of(spread, spread < 2).slope == 0.0  # never falls
    assert UnknownChance(0.0, 0.0)(np.array([1.0])).tolist() == [0.5]
