"""What coordinate descent promises beyond its minimum: threads change no bit, and a row may have several classes."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from untwin.classify.linear import LinearSVM, descent
from untwin.classify.linear.descent import PassOrders, Problem
from untwin.classify.linear.kernels import sweep
from untwin.classify.linear.svm import memberships


def learn(problem, n_jobs=None):
    return problem.learn(n_jobs=n_jobs)[:2]


def learn_block(problem, orders):
    block = problem._block(slice(0, 150), None)
    problem._improve(block, orders)
    return block


@pytest.fixture
def problem(made_up):
    X, y = made_up(900, 150)
    return Problem.of(X, memberships(y, 150), C=1.0, passes=6, tol=1e-9, seed=3)


def test_threads_change_no_bit(problem):
    alone, biases = learn(problem)
    for n_threads in (2, 3):
        W, b = learn(problem, n_threads)
        np.testing.assert_array_equal(W, alone)
        np.testing.assert_array_equal(b, biases)


def test_jobs_change_no_bit(made_up):
    X, y = made_up(900, 150)
    first, *others = (LinearSVM(n_jobs=n).fit(X, y).weights_ for n in (1, 2, 3))
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize("code", [0, 127, 128, 149])  # at the edges of blocks
def test_a_class_alone_has_the_weights_that_it_has_among_others(made_up, problem, code):
    X, y = made_up(900, 150)
    among, biases = learn(problem)
    alone = Problem.of(X, memberships(np.where(y == code, 0, -1), 1), C=1.0, passes=6, tol=1e-9, seed=3)
    W, b = learn(alone)
    np.testing.assert_array_equal(W[:, 0], among[:, code])
    assert b[0] == biases[code]


def test_the_seed_orders_the_rows(problem):
    assert not np.array_equal(learn(problem)[0], learn(replace(problem, seed=4))[0])


def test_a_row_may_have_several_classes_or_none(made_up):
    X, _ = made_up(500, 5)
    sets = np.random.default_rng(0).random((500, 7)) < 0.2
    sets[:, 5] = False  # a class without rows
    assert (sets.sum(axis=1) == 0).any()
    W, b = learn(Problem.of(X, csr_array(sets.astype(np.float32)), C=1.0, passes=6, tol=1e-9, seed=0))
    for code in range(7):
        codes = np.where(sets[:, code], 0, -1)
        alone, bias = learn(Problem.of(X, memberships(codes, 1), C=1.0, passes=6, tol=1e-9, seed=0))
        np.testing.assert_array_equal(alone[:, 0], W[:, code])
        assert bias[0] == b[code]
    assert (X @ W[:, 5] + b[5] < 0).all()


def test_every_pass_visits_every_row_once_part_by_part(monkeypatch):
    monkeypatch.setattr(descent, "ROWS_AT_ONCE", 8)
    orders = PassOrders(30, seed=0)
    first, second = orders[0], orders[1]
    for order in (first, second):
        assert sorted(order) == list(range(30))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, PassOrders(30, seed=0)[0])
    parts = [set(part) for part in np.split(first, np.flatnonzero(np.arange(30) % 8 == 0)[1:])]
    assert sum(len(part) for part in parts) == 30


def test_parts_of_rows_hardly_change_an_answer(made_up, monkeypatch):
    X, y = made_up(900, 20)
    whole = LinearSVM().fit(X, y)
    monkeypatch.setattr(descent, "ROWS_AT_ONCE", 100)
    assert (LinearSVM().fit(X, y).predict(X) == whole.predict(X)).mean() > 0.98


def test_more_passes_come_closer(problem):
    best = learn(replace(problem, passes=None, tol=1e-4))[0]
    far = [np.abs(learn(replace(problem, passes=n))[0] - best).max() for n in (2, 6, 30)]
    assert far == sorted(far, reverse=True)


def test_a_tiny_tolerance_changes_no_bit(problem):
    exact, biases = learn(replace(problem, tol=0.0))
    for tol in (1e-12, 1e-9):
        W, b = learn(replace(problem, tol=tol))
        np.testing.assert_array_equal(W, exact)
        np.testing.assert_array_equal(b, biases)


def test_violations_up_to_the_tolerance_are_left_alone(problem):
    """A block that is learnt to a tolerance has none beyond it, and another pass at this tolerance changes no bit."""
    orders = PassOrders(len(problem.given.slack), problem.seed)
    block = learn_block(replace(problem, passes=None, tol=0.1), orders)
    before = deepcopy(block)
    assert sweep(orders[0], problem.given, block, 1, np.float32(0.1)) == 0
    np.testing.assert_array_equal(block.W, before.W)
    np.testing.assert_array_equal(block.alpha, before.alpha)
    assert sweep(orders[0], problem.given, block, 1, np.float32(0.001)) > 0
    changed = block.alpha != before.alpha
    assert changed.any()
    assert not changed.all()


def test_in_passes_over_some_classes_too(problem):
    orders = PassOrders(len(problem.given.slack), problem.seed)
    block = learn_block(replace(problem, passes=2), orders)
    before = deepcopy(block)
    assert sweep(orders[2], problem.given, block, 0, np.float32(10)) == 0
    np.testing.assert_array_equal(block.W, before.W)
    worst = sweep(orders[2], problem.given, block, 0, np.float32(0.01))
    assert worst > 0.01


@pytest.fixture
def passes(monkeypatch):
    """Return a list to which every pass adds whether it is a full one."""
    made = []

    def counted(order, given, block, full, tol):
        made.append(bool(full))
        return sweep(order, given, block, full, tol)

    monkeypatch.setattr(descent, "sweep", counted)
    return made


def test_a_large_tolerance_stops_early(made_up, passes):
    X, y = made_up(300, 4)
    few = Problem.of(X, memberships(y, 4), C=1.0, passes=None, tol=0.0, seed=0)
    needed = []
    for tol in (2.0, 0.3, 0.01):
        passes.clear()
        W, _ = learn(replace(few, tol=tol))
        needed.append(len(passes))
        assert bool(W.any()) == (tol < 1)  # at the beginning every condition is violated by 1
    assert needed[0] == 1
    assert needed == sorted(set(needed))


def test_full_passes_are_the_first_the_third_and_every_fourth_from_there(problem, passes):
    learn(replace(problem, passes=11, n_classes=20))
    assert [number for number, full in enumerate(passes) if full] == [0, 2, 6, 10]


def test_packed_weights_are_the_dense_ones_without_those_next_to_nothing(problem):
    dense, biases = learn(problem)
    packed, b, _ = problem.learn(packed=True)
    least = descent.NEXT_TO_NOTHING * np.abs(dense).max(axis=0)
    np.testing.assert_array_equal(packed.toarray(), np.where(np.abs(dense) > least, dense, 0))
    np.testing.assert_array_equal(b, biases)
    assert packed.shape == dense.shape
    assert packed.nnz < np.count_nonzero(dense)
    assert packed.has_canonical_format
    again, _, _ = problem.learn(packed=True, n_jobs=3)
    np.testing.assert_array_equal(again.toarray(), packed.toarray())
