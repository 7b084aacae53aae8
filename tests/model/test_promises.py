"""What a fitted model promises, and that it is measured on rows that it had not seen."""

from __future__ import annotations

from copy import copy

import numpy as np
import polars as pl
import pytest
from scipy.special import log_softmax

from untwin import AnswerModel, UntwinClassifier
from untwin.answer.heights import NO_ANSWER
from untwin.answer.predictions import probabilities_of
from untwin.answer.shortlists import RankedClasses
from untwin.answer.spread import spread_of
from untwin.model.best_scores import BestScores
from untwin.model.unknown import measure_chance


@pytest.fixture(scope="module")
def model(make_texts):
    return UntwinClassifier(preset="fast").fit(*make_texts(900, 6))


@pytest.fixture(scope="module")
def asked(make_texts):
    return make_texts(600, 6, seed=1)


def test_the_default_target_is_half_of_the_error_to_expect(model, asked):
    assert model.target_error is None
    assert model.target_error_ == pytest.approx(min((1 - model.scores_["accuracy"]) / 2, 0.1))
    confidence, right = model.state_.answers.confidence_and_truth
    assert (~right[confidence >= model.threshold_]).mean() <= model.target_error_
    unsure = model.unsure(asked[0])
    assert 0 < unsure.mean() < 0.9
    wrong = model.predict(asked[0]) != asked[1]
    assert wrong[~unsure].mean() < wrong.mean()


def test_the_target_can_be_changed_without_a_fit(model, asked):
    shares = [1 - model.unsure(asked[0], target_error=target).mean() for target in (0.0, 0.02, 0.1, 1.0)]
    assert shares == sorted(shares)
    assert shares[-1] > 0.9 > shares[0]
    found = model.predict_all(asked[0], target_error=0.02)
    np.testing.assert_array_equal(found.unsure, model.unsure(asked[0], target_error=0.02))
    fitted = copy(model).set_params(target_error=0.02)
    assert fitted.target_error_ == 0.02


@pytest.mark.parametrize("n_classes", [2, 6])
def test_what_looks_like_nothing_learnt_is_never_sure(make_texts, n_classes):
    texts, labels = make_texts(300, n_classes)
    skewed = np.array(["common"] * 280 + ["rare"] * 20)
    for y in (labels, skewed):
        some = UntwinClassifier(preset="fast").fit(texts, y)
        assert some.unsure(["zzzz qqqq", "", "xcomx"], target_error=1.0).all()
        assert some.unknown(["zzzz qqqq", ""]).all()
        assert some.heights(["zzzz qqqq", ""], target_error=1.0).labels().tolist() == [None, None]


def test_a_text_of_known_parts_of_words_is_answered_but_not_sure(model, tmp_path):
    found = model.predict_all(["shared0x own0"])  # "own0x..." and "shared0x..." are words, these are parts of them
    assert (found.no_evidence.tolist(), found.strange.tolist(), found.unsure.tolist()) == ([False], [True], [True])
    many = model.predict_all(["shared0x own0"] * 70)  # counted otherwise
    assert many.strange.all()
    model.export(tmp_path / "small")
    assert AnswerModel.load(tmp_path / "small").predict_all(["shared0x own0"]).unsure.all()
    assert str(model.explain(["shared0x own0"])[0]).splitlines()[0].count("(unsure)") == 1


def test_shortlists_hold_what_they_promise(model, asked):
    texts, labels = asked
    sizes = []
    for coverage in (0.8, 0.9, 0.97):
        found = model.shortlist(texts, coverage=coverage)
        assert found.hold(labels).mean() >= coverage - 0.03
        assert all(answer in names for answer, names in zip(model.predict(texts), found.lists(), strict=True))
        sizes.append(found.sizes.mean())
    assert sizes == sorted(sizes)
    exact = model.shortlist(texts[300:], coverage=0.9, calibration_rows=(texts[:300], labels[:300]))
    assert exact.hold(labels[300:]).mean() >= 0.85
    groups = model.shortlist(texts, coverage=0.9, by_group=True)
    for members in model.groups_:
        some = np.isin(labels, members)
        assert groups.hold(labels)[some].mean() >= 0.83
    assert (model.shortlist([""]).sizes == 6).all()


def test_calibration_rows_must_be_of_known_classes(model, asked):
    with pytest.raises(ValueError, match="must have classes of the model"):
        model.shortlist(asked[0], calibration_rows=(["a", "b"], ["class00", "other"]))
    with pytest.raises(ValueError, match="by_group must be False"):
        model.shortlist(asked[0], calibration_rows=asked, by_group=True)


def test_heights_keep_to_the_target_and_tell_more_than_classes_alone(model, asked):
    texts, labels = asked
    codes = np.searchsorted(model.classes_, labels)
    for target in (0.02, 0.05, 0.1):
        found = model.heights(texts, target_error=target)
        said = found.levels < NO_ANSWER
        assert (~found.hold(codes))[said].mean() <= target + 0.03
        assert said.mean() >= (~model.unsure(texts, target_error=target)).mean() - 0.02
    labels_at = model.predict(texts, height="auto", target_error=0.05)
    assert {type(label) for label in labels_at} <= {str, tuple, type(None)}
    twins = {label for label in labels_at if isinstance(label, tuple)}
    assert twins  # classes 2k and 2k + 1 are twins
    assert all(len(label) <= 3 for label in twins)


def test_the_tree_of_the_owner(make_texts):
    texts, labels = make_texts(300, 4)
    some = UntwinClassifier(preset="fast").fit(texts, labels)
    with pytest.raises(ValueError, match="'known' if the model knows a tree"):
        some.heights(texts[:1], tree="known")
    some.find(parents={f"class0{number}": f"top{number // 2}" for number in range(4)}, keep=True)
    found = some.predict(texts, height="known", target_error=0.03)
    assert set(found) <= {*labels, ("class00", "class01"), ("class02", "class03"), None}


def test_the_row_of_a_fold_has_no_part_in_its_tree(make_texts, monkeypatch):
    """Trees are grown from the confusions of the other folds."""
    from untwin.model import promises

    seen, grown = [], promises._tree_of

    def grow(answers, some):
        seen.append(np.unique(answers.folds[some]).tolist())
        return grown(answers, some)

    monkeypatch.setattr(promises, "_tree_of", grow)
    fitted = UntwinClassifier(preset="fast").fit(*make_texts(120, 4))
    _ = fitted.promises_
    folds = np.unique(fitted.state_.answers.folds).tolist()
    assert seen == [[other for other in folds if other != fold] for fold in folds]


def test_unknown_rows_have_a_chance_that_says_so(make_texts, model):
    outside = make_texts(400, 10, seed=2)
    texts, unknown = outside[0], ~np.isin(outside[1], model.classes_)
    chance = model.promises_.unknown_chance(model.predict_all(texts))
    assert chance[unknown].mean() > chance[~unknown].mean() + 0.1
    flagged = model.unknown(texts)
    assert flagged[unknown].mean() > 2 * flagged[~unknown].mean()
    assert model.unknown(texts, lost=0.3).sum() > flagged.sum()


def test_no_class_can_be_left_out_of_two(make_texts):
    two = UntwinClassifier(preset="fast").fit(*make_texts(80, 2))
    assert two.unknown_chance_ is None
    assert np.isnan(two.promises_.unknown_chance(two.predict_all(["com1"]))).all()


@pytest.mark.parametrize("kind", ["frame", "matrix", "stack"])
def test_other_rows_than_texts(kind, make_texts, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c", "d"], 60)
    X = rng.normal(size=(240, 5)) + 1.2 * np.eye(5)[np.repeat(range(4), 60)]
    if kind == "stack":
        from tests.model.conftest import let_stack_win

        let_stack_win(monkeypatch)
    given = pl.DataFrame({f"x{k}": X[:, k] for k in range(5)}) if kind == "frame" else X
    some = UntwinClassifier(preset="balanced" if kind == "stack" else "fast").fit(given, y)
    assert some.shortlist(given, coverage=0.9).hold(y).mean() > 0.85
    assert some.unknown_chance_ is not None
    assert 0 < (~some.unsure(given)).mean() < 1
    some.save(tmp_path / "model")
    again = UntwinClassifier.load(tmp_path / "model")
    assert again.unknown_chance_ == some.unknown_chance_
    assert again.shortlist(given, coverage=0.9).lists() == some.shortlist(given, coverage=0.9).lists()


def test_nothing_held_out_promises_nothing():
    bare = UntwinClassifier(preset="fast").fit(["red bus", "blue car", "green tram"], ["r", "b", "g"])
    assert (bare.target_error_, bare.threshold_) == (0.1, np.inf)
    assert bare.unsure(["red bus"]).all()
    assert bare.shortlist(["red bus"]).sizes.tolist() == [3]
    assert bare.predict(["red bus"], height="auto").tolist() == [None]


def test_a_model_that_only_answers_makes_the_same_promises(model, asked, tmp_path):
    model.export(tmp_path / "small")
    small, texts = AnswerModel.load(tmp_path / "small"), [*asked[0][:100], "", "zzzz qqqq"]
    for coverage in (0.5, 0.9, 0.99):
        assert small.shortlist(texts, coverage=coverage).lists() == model.shortlist(texts, coverage=coverage).lists()
    assert small.shortlist(texts, by_group=True).lists() == model.shortlist(texts, by_group=True).lists()
    assert small.heights(texts).labels().tolist() == model.heights(texts).labels().tolist()
    np.testing.assert_array_equal(small.unknown(texts), model.unknown(texts))
    one, other = (of.promises_.unknown_chance(of.predict_all(texts)) for of in (small, model))
    np.testing.assert_array_equal(one, other)
    for target in (None, 0.01, 0.3):
        found = small.predict_all(texts, target_error=target).unsure
        np.testing.assert_array_equal(found, model.predict_all(texts, target_error=target).unsure)


def test_the_best_scores_tell_as_much_as_all_scores():
    rng = np.random.default_rng(0)
    log_p = log_softmax(3 * rng.normal(size=(200, 14)), axis=1).astype(np.float32)
    codes = rng.integers(0, 14, 200)
    scores = BestScores.of(log_p)
    P = probabilities_of(scores.dense())
    of_best, of_all = scores.true_classes(codes), RankedClasses.of(P).at(codes)
    np.testing.assert_array_equal(of_best.places, of_all.places)
    np.testing.assert_allclose(of_best.before, of_all.before, atol=1e-5)
    np.testing.assert_allclose(scores.spread(), spread_of(P), rtol=1e-4)


def test_left_out_classes_are_not_trained_on(model, monkeypatch):
    """Each round trains on neither the rows it asks about nor any row of the classes it leaves out."""
    from untwin.model import unknown as module

    rounds, measure = [], module._spread_without

    def spread_without(known, train, asked):
        rounds.append((train, asked))
        return measure(known, train, asked)

    monkeypatch.setattr(module, "_spread_without", spread_without)
    assert measure_chance(model.state_) == model.unknown_chance_
    answers = model.state_.answers
    assert len(rounds) == len(np.unique(answers.folds))  # 30 rows a round are too few
    for train, asked in rounds:
        left_out = np.setdiff1d(answers.true[asked], answers.true[train])
        assert len(left_out) == 1
        assert not set(answers.folds[asked]) & set(answers.folds[train])
