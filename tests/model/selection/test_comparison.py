"""Comparison of candidates: shared folds, honest figures, intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from untwin.classify.batches import BatchLinearSVC

from untwin import TextCounts, out_of_fold
from untwin.classify.linear import LinearSVM
from untwin.model import UntwinClassifier
from untwin.model.selection.comparison import binomial_interval, paired_interval
from untwin.model.selection.specs import BASELINE, DataProfile, candidate_specs


@pytest.fixture(scope="module")
def model(texts, labels):
    return UntwinClassifier().fit(texts, labels)


def situation(**changes):
    plain = {
        "preset": "balanced",
        "n_rows": 500,
        "n_numbers": 10_000,
        "n_classes": 5,
        "sparse": True,
        "unit_rows": True,
        "non_negative": True,
        "C": 1.0,
        "second_view": "",
        "order": None,
        "random_state": 0,
    }
    return DataProfile(**(plain | changes))


def test_the_linear_svm_is_always_tried_and_first():
    for preset in ("fast", "balanced", "best"):
        assert candidate_specs(situation(preset=preset))[0].name == BASELINE
    names = {spec.name for spec in candidate_specs(situation(n_classes=60, second_view="characters"))}
    assert {"multi-level", "linear SVM on characters", "confusion graph"} <= names
    assert "multi-level" not in {spec.name for spec in candidate_specs(situation())}


def test_where_classes_and_numbers_are_many_all_classes_are_learnt_at_once():
    few, many, dense = (
        candidate_specs(situation(**changes))[0].classifier
        for changes in (
            {"n_numbers": 1_000_000, "n_classes": 100},
            {"n_numbers": 4_000_000, "n_classes": 200},
            {"n_numbers": 4_000_000, "n_classes": 200, "sparse": False},
        )
    )
    assert isinstance(few, LinearSVM)
    assert isinstance(many, BatchLinearSVC)
    assert isinstance(dense, LinearSVM)


def test_the_fast_preset_tries_groups_of_classes_only_where_the_svm_is_slow():
    """There they are trained in less time than it is, and answer better; elsewhere they would double the time."""
    little, much = (
        {spec.name for spec in candidate_specs(situation(preset="fast", n_numbers=numbers, n_classes=200))}
        for numbers in (500_000, 4_000_000)
    )
    assert much - little == {"multi-level"}


@pytest.mark.parametrize("much", [{"n_numbers": 4_000_000, "n_classes": 200}, {"n_rows": 200_000}])
def test_slow_candidates_are_left_to_the_best_preset_where_even_the_svm_is_slow(much):
    balanced, best = (
        {spec.name for spec in candidate_specs(situation(preset=preset, **much))} for preset in ("balanced", "best")
    )
    slow = {"class space (LSI_ac)", "confusion graph", "neighbours in the score space"}
    assert slow <= best - balanced
    assert slow <= {spec.name for spec in candidate_specs(situation())}


def test_the_baseline_is_the_plain_pipeline_out_of_fold(texts, labels):
    """Counting once outside the folds changes nothing but what words of held-out rows weigh: compare literally."""
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    line = next(candidate for candidate in model.candidates_ if candidate.name == BASELINE)
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    plain = make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(tol=1e-2, dual=True, random_state=seed))
    said = out_of_fold(plain, TextCounts().fit_transform(texts), labels, cv=model.out_of_fold_.folds)
    assert line.accuracy == said.confusion.accuracy


def test_the_winner_has_the_best_score_and_comes_first(model):
    scores = [candidate.score for candidate in model.candidates_ if candidate.score is not None]
    assert model.candidates_[0].chosen
    assert [candidate.chosen for candidate in model.candidates_].count(True) == 1
    assert scores[0] == max(scores)
    assert model.candidates_[0].accuracy == model.confusion_.accuracy
    baseline = next(candidate for candidate in model.candidates_ if candidate.name == BASELINE)
    assert baseline.gain == baseline.gain_low == baseline.gain_high == 0


def test_intervals():
    right = np.array([True] * 80 + [False] * 20)
    found = binomtest(80, 100).proportion_ci(method="wilson")
    assert binomial_interval(right) == pytest.approx((found.low, found.high), rel=1e-12)
    other = np.array([True] * 70 + [False] * 30)
    mean, low, high = paired_interval(right, other)
    assert mean == pytest.approx(0.1)
    assert high - mean == pytest.approx(mean - low) == pytest.approx(norm.ppf(0.975) * 0.3 / 10)


def test_with_shuffled_labels_the_reported_accuracy_is_that_of_chance(make_texts):
    """On average: choosing anew for each fold makes it spread more than a binomial (0.037 against 0.028 here)."""
    reported = []
    for seed in range(12):
        rows, names = make_texts(240, 4, seed)
        shuffled = np.random.default_rng(seed).permutation(names)
        reported.append(UntwinClassifier(preset="fast", random_state=seed).fit(rows, shuffled).scores_["accuracy"])
    error = np.std(reported, ddof=1) / len(reported) ** 0.5
    assert abs(np.mean(reported) - 0.25) < 3 * error


def test_what_was_heard_about_a_row_does_not_depend_on_its_label(texts, labels):
    """Leak rule: change the label of one row; nothing that its own fold's model said about it may change.

    The temperature is fitted to all held-out rows, so that only the order of the classes can be compared.
    """
    changed = labels.copy()
    changed[0] = "class03"
    folds = np.arange(len(texts)) // 4 % 4
    a, b = (UntwinClassifier(preset="fast", cv=folds).fit(texts, y).state_.answers for y in (labels, changed))
    assert np.argsort(a.log_p[0]).tolist() == np.argsort(b.log_p[0]).tolist()


def test_slow_candidates_prove_themselves_on_a_sample(monkeypatch, texts, labels):
    monkeypatch.setattr("untwin.model.selection.sampling.TRIAL_ROWS", 60)
    monkeypatch.setattr(
        "untwin.model.selection.comparison._behind", lambda trial, spec, baseline: f"{len(trial.codes)} rows"
    )
    model = UntwinClassifier().fit(texts, labels)
    dropped = {candidate.name: candidate.note for candidate in model.candidates_ if candidate.score is None}
    slow = ["class space (LSI_ac)", "confusion graph", "neighbours in the score space"]
    assert dropped == dict.fromkeys(slow, "60 rows")


def test_many_rows_by_many_classes_are_asked_about_in_part(monkeypatch, texts, labels):
    monkeypatch.setattr("untwin.model.selection.sampling.MOST_SCORES", 400)
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    assert len(model.state_.answers.rows) == 100 == model.confusion_.total
    assert len(model.ids_) == 160
    near = model.explain(texts[:2])[0].neighbours.neighbours[0]
    assert labels[near.row] == near.label
    assert model.add(["own0x1 own0x2"], ["class00"]).accuracy_before in (0.0, 1.0)
    assert model.confusion_.total == 101
