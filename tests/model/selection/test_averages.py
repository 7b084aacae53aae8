"""Averages: they grow as long as that helps, and the figure that is told has not seen its rows choose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from untwin.model.selection.averages import Averages
from untwin.model.selection.comparison import CandidateResult, Comparison, Member
from untwin.model.selection.select import TIE, expected_scores

N, CLASSES = 600, 4


def comparison_of(codes, scoring="accuracy"):
    folds = np.arange(len(codes)) % 5
    return Comparison(np.array(list("abcd")), codes, folds, scoring, None)


def result(name, log_p):
    member = Member(name, None, 1.0)
    return CandidateResult(name, (member,), 1.0, log_p.astype(np.float32), log_p.argmax(axis=1), 1.0)


def opinion(codes, skill, seed):
    """Log-probabilities that point to the right class more or less, with errors of their own."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(len(codes), CLASSES)) + skill * np.eye(CLASSES)[codes]
    return S - np.log(np.exp(S).sum(axis=1, keepdims=True))


@pytest.fixture
def codes():
    return np.random.default_rng(0).integers(0, CLASSES, N)


def test_independent_opinions_join_even_if_they_are_weaker(codes):
    comparison = comparison_of(codes)
    found = Averages(
        comparison,
        [result(f"m{n}", opinion(codes, skill, n)) for n, skill in enumerate((1.5, 1.4, 1.2, 1.0))],
        3,
    )
    path = found.grow()
    scores = [comparison.score(grown.predicted) for grown in path]
    assert len(path) == 3
    assert scores == sorted(set(scores))
    assert [len(grown.members) for grown in path] == [1, 2, 3]


def test_an_average_is_the_mean_of_log_probabilities_at_the_temperature_that_suits_it(codes):
    comparison = comparison_of(codes)
    a, b, c = (opinion(codes, 1.5, seed) for seed in range(3))
    grown = Averages(comparison, [result("a", a), result("b", b), result("c", c)], 3).grow()[-1]
    S = (a + b + c) / 3 / grown.temperature
    np.testing.assert_allclose(grown.log_p, S - np.log(np.exp(S).sum(axis=1, keepdims=True)), atol=1e-4)
    assert grown.name == "a + b + c"
    own = np.arange(N), codes
    assert grown.log_p[own].mean() >= ((a + b + c) / 3)[own].mean()


def test_a_copy_or_noise_does_not_join(codes):
    best = opinion(codes, 2.0, 0)
    others = [result("copy", best), result("noise", np.random.default_rng(9).normal(size=(N, CLASSES)) * 0.01)]
    assert [grown.name for grown in Averages(comparison_of(codes), [result("best", best), *others], 3).grow()] == [
        "best"
    ]


def test_one_candidate_alone(codes):
    only = result("only", opinion(codes, 2.0, 0))
    averages = Averages(comparison_of(codes), [only], 3)
    assert averages.grow() == [only]
    assert averages.honest_answers().tolist() == only.predicted.tolist()


def test_the_told_accuracy_of_a_choice_among_noise_is_that_of_chance(codes):
    """The best of many averages of noise looks better than chance on the rows that chose it."""
    told, seen, told_f1, seen_f1 = [], [], [], []
    for seed in range(10):
        shuffled = np.random.default_rng(seed).permutation(codes)
        comparison = comparison_of(shuffled)
        noise = [result(f"m{n}", opinion(codes, 0.0, 100 * seed + n)) for n in range(6)]
        averages = Averages(comparison, noise, 3)
        best, answers = averages.grow()[-1].predicted, averages.honest_answers()
        seen.append(comparison.score(best))
        told.append((answers == shuffled).mean())
        seen_f1.append(f1_score(shuffled, best, average="macro"))
        told_f1.append(expected_scores(comparison, answers)["macro_f1"])
    for all_told, all_seen in ((told, seen), (told_f1, seen_f1)):
        error = np.std(all_told, ddof=1) / len(all_told) ** 0.5
        assert abs(np.mean(all_told) - 1 / CLASSES) < 3 * error
        assert np.mean(all_seen) > np.mean(all_told) + error


def test_all_figures_that_are_told_are_those_of_the_same_answers(codes):
    order = np.array([2, 0, 3, 1])
    comparison = replace(comparison_of(codes, "mae"), order=order)
    answers = Averages(comparison, [result(f"m{n}", opinion(codes, 0.5, n)) for n in range(6)], 3).honest_answers()
    told, grade = expected_scores(comparison, answers), np.argsort(order)
    assert told["accuracy"] == pytest.approx((answers == codes).mean())
    assert told["macro_f1"] == pytest.approx(f1_score(codes, answers, average="macro"))
    assert told["mae"] == pytest.approx(abs(grade[answers] - grade[codes]).mean())
    assert told["quadratic_kappa"] == pytest.approx(
        cohen_kappa_score(grade[codes], grade[answers], weights="quadratic")
    )


def test_macro_f1_decides_where_it_is_asked_for(codes):
    rare = np.where(np.arange(N) % 61 == 0, 3, codes % 3)
    blind = np.where(rare == 3, 0, rare)  # wrong ten times, but always about the same class
    fair = np.where(np.arange(N) % 41 == 7, (rare + 1) % 3, rare)  # wrong fifteen times, about common classes
    blind, fair = (np.log(0.8 * np.eye(CLASSES)[answers] + 0.05) for answers in (blind, fair))
    results = [result("blind", blind), result("fair", fair)]
    assert Averages(comparison_of(rare), results, 1).grow()[0].name == "blind"
    assert Averages(comparison_of(rare, "macro_f1"), results, 1).grow()[0].name == "fair"


def behind(lost, gained, n=10_000):
    """Return a comparison and two candidates, one best alone, whose average loses and gains these rows.

    On those rows the second candidate is sure of another class; on the others it is wrong, but weakly.
    """
    codes, rows = np.arange(n) % CLASSES, np.arange(n)
    other = (codes + 1) % CLASSES
    first = np.where((rows >= lost) & (rows < lost + gained), other, codes)
    second = np.where((rows >= lost) & (rows < lost + gained), codes, other)
    sure = np.where(rows < lost + gained, 0.97, 0.28)[:, np.newaxis]
    results = [
        result("first", np.log(0.6 * np.eye(CLASSES)[first] + 0.1)),
        result("second", np.log(np.where(np.eye(CLASSES)[second] > 0, sure, (1 - sure) / (CLASSES - 1)))),
    ]
    return comparison_of(codes), results


@pytest.mark.parametrize(
    ("lost", "gained", "joins"),
    [
        (30, 31, True),  # better
        (39, 25, True),  # 14 rows behind, and two standard errors are 16 rows
        (41, 23, False),  # 18 rows
        (209, 191, True),  # two standard errors are 40 rows; 18 rows are less than 0.2 points
        (211, 189, False),  # 22 rows are more
    ],
)
def test_a_tie_joins_within_two_standard_errors_and_a_fifth_of_a_point(lost, gained, joins):
    comparison, results = behind(lost, gained)
    average = comparison.average(results).predicted
    assert (average != results[0].predicted).sum() == lost + gained
    assert comparison.score(average) - comparison.score(results[0].predicted) == pytest.approx((gained - lost) / 10_000)
    path = [grown.name for grown in Averages(comparison, results, 2, tie=TIE).grow()]
    assert path == (["first", "first + second"] if joins else ["first"])
    strict = [grown.name for grown in Averages(comparison, results, 2).grow()]
    assert strict == (["first", "first + second"] if gained > lost else ["first"])
