"""Learning on: rows, words and classes come, labels change, rows go."""

from __future__ import annotations

from copy import copy

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, vstack
from sklearn.base import clone
from sklearn.datasets import load_iris
from tests.model.conftest import let_stack_win

from untwin import TableEncoder, TextCounts
from untwin._errors import InputError
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.model import UntwinClassifier
from untwin.model.selection.candidates import STACK
from untwin.report import write_report


@pytest.fixture
def model(texts, labels):
    return UntwinClassifier(preset="fast").fit(texts, labels)


def test_rows_are_answered_before_they_are_learnt(model, new, truth):
    before = model.predict(new)
    learnt = model.add(new, truth)
    assert learnt.accuracy_before == (before == truth).mean()
    assert model.ids_.tolist() == list(range(240))
    assert model.confusion_.total == 240  # new rows are held out too
    assert learnt.refitted == tuple(model.candidates_[0].name.split(" + "))
    assert "trained again" in str(learnt)


def test_models_trained_anew_are_those_of_all_rows_together(model, labels, new, truth):
    chosen = [clone(member.model) for member in model.state_.ensemble.members]
    model.add(new, truth)
    y = np.concatenate([labels, truth])
    rows = model.state_.view.prepare(y).rows
    for member, plain in zip(model.state_.ensemble.members, chosen, strict=True):
        np.testing.assert_array_equal(member.model.predict(rows), plain.fit(rows, y).predict(rows))


def test_new_words_and_new_classes(model):
    learnt = model.add(["zebra stripes", "zebra herd", "zebra foal"], ["animal"] * 3)
    assert learnt.new_classes == ("animal",)
    assert learnt.n_new_terms == 7  # four stems and three pairs; runs of characters are no news to anybody
    assert learnt.accuracy_before == 0.0
    assert model.predict(["zebra"]).tolist() == ["animal"]
    assert model.classes_.tolist() == ["animal", "class00", "class01", "class02", "class03"]
    assert model.confusion_.total == 163  # also the new class is held out
    assert model.explain(["zebra herd"])[0].neighbours.prediction == "animal"
    assert model.findings_


@pytest.fixture
def only(monkeypatch):
    """Let one candidate have no rival."""

    def force(name, candidate):
        monkeypatch.setattr("untwin.model.selection.select.first_stage", lambda now, C: {name: candidate})

    return force


def test_a_class_space_that_learns_on_is_that_of_all_rows_together(only, texts, labels, new, truth):
    only("class space", LatentClassClassifier())
    model = UntwinClassifier().fit(texts, labels)
    assert model.add(new, truth).refitted == ("class space",)
    view, y = model.state_.view, np.concatenate([labels, truth])
    preprocessing, rows = view.prepare(y)
    together = LatentClassClassifier().fit(rows, y)
    np.testing.assert_array_equal(model.predict(new), together.predict(preprocessing.transform(view.encode(new))))


def test_groups_learn_rows_and_classes(only, make_texts):
    texts, labels = make_texts(480, 12)
    only("multi-level", MultiLevelClassifier(hierarchy="centroids", cv=None))
    model = UntwinClassifier().fit(texts, labels)
    (before,) = model.state_.ensemble.members
    new = [f"own0x{number} own0x3 own0x4 com1" for number in range(8)]
    assert model.add(new, ["class00"] * 8).refitted == ("multi-level",)
    (after,) = model.state_.ensemble.members
    assert after.model is not before.model
    assert before.model.classes_.tolist() == after.model.classes_.tolist()
    assert before.model.n_features_in_ < after.model.n_features_in_  # what was there has not changed
    assert model.add(["zebra stripes", "zebra herd", "zebra foal"], ["animal"] * 3).refitted == ("multi-level",)
    assert model.predict(["zebra herd", new[0]]).tolist() == ["animal", "class00"]


def test_a_stack_learns_on(monkeypatch, texts, labels, new, truth):
    let_stack_win(monkeypatch)
    model = UntwinClassifier().fit(texts, labels)
    (before,) = model.state_.ensemble.members
    assert before.name == STACK == model.candidates_[0].name
    assert model.add(new, truth).refitted == (STACK,)
    (after,) = model.state_.ensemble.members
    view, y = model.state_.view, np.concatenate([labels, truth])
    rows = view.prepare(y).rows
    for (_, plain), fitted in zip(before.model.estimators, after.model.models_, strict=True):
        expected = clone(plain).fit(rows, np.unique(y, return_inverse=True)[1])
        np.testing.assert_array_equal(fitted.predict(rows), expected.predict(rows))
    model.add(["zebra stripes", "zebra herd", "zebra foal"], ["animal"] * 3)
    assert model.predict(["zebra herd", texts[0]]).tolist() == ["animal", labels[0]]


def test_what_labels_and_what_the_model_did_is_told_apart(model, labels):
    row = int(np.flatnonzero(model.out_of_fold_.predictions != labels)[0])
    before = model.out_of_fold_.predictions.copy()
    learnt = model.relabel([row], [before[row]])
    after = model.out_of_fold_.predictions
    assert (learnt.n_rows, learnt.accuracy_before) == (1, None)
    label, own = learnt.label_effect, learnt.model_effect
    assert label.after - label.before == pytest.approx(1 / 160)
    assert label.after == own.before
    assert own.after == pytest.approx(model.confusion_.accuracy)
    assert label.low < 1 / 160 < label.high
    assert {flip.row for flip in learnt.flipped} == set(np.flatnonzero(before != after).tolist())
    assert all((before[flip.row], after[flip.row]) == (flip.before, flip.after) for flip in learnt.flipped)
    assert f"labels: {label}" in str(learnt)
    model.relabel([0, 1], ["fresh class", "fresh class"])
    assert "fresh class" in model.classes_


def test_labels_that_agree_with_the_model_are_no_learning(model, labels):
    said = model.out_of_fold_.predictions
    wrong = np.flatnonzero(said != labels)
    learnt = model.relabel(wrong, said[wrong])
    assert learnt.label_effect.after == 1.0
    assert learnt.model_effect.after <= 1.0


def test_twins_that_a_merge_ends_are_named(texts, labels):
    by_chance = labels.copy()
    either = np.flatnonzero(np.isin(labels, ["class00", "class01"]))
    by_chance[either] = np.random.default_rng(0).choice(["class00", "class01"], len(either))
    model = UntwinClassifier(preset="fast").fit(texts, by_chance)
    gone = model.ids_[by_chance == "class00"]
    learnt = model.relabel(gone, ["class01"] * len(gone))
    assert learnt.twins_gone == (("class00", "class01"),)
    assert learnt.twins_new == ()
    assert learnt.label_effect.after > learnt.label_effect.before + 0.1  # what was said of one is right of both


def test_after_many_changes_all_is_chosen_anew(model, labels, texts):
    first = model.candidates_
    assert not model.relabel(range(10), labels[40:50]).fitted_anew
    assert model.candidates_ is first
    learnt = model.relabel(range(10, 20), labels[50:60])
    assert "20 changes since the fit, for 160 rows" in learnt.fitted_anew
    assert "fitted anew" in str(learnt)
    y = np.concatenate([labels[40:60], labels[20:]])
    again = UntwinClassifier(preset="fast").fit(texts, y)
    np.testing.assert_array_equal(model.predict_proba(texts), again.predict_proba(texts))


@pytest.mark.parametrize("preset", ["fast", "balanced"])
def test_classes_that_won_and_lost_no_row_need_not_be_learnt_again(make_texts, preset):
    """From the second change of labels on, held-out scores of the other classes are those of before."""
    texts, labels = make_texts(480, 12)
    model = UntwinClassifier(preset=preset).fit(texts, labels)
    for row in (3, 40, 41):
        all_again = copy(model)
        all_again._held_out = None
        reports = [one.relabel([row], ["class05"]) for one in (model, all_again)]
        assert model._held_out is not None
        assert model.confusion_ == all_again.confusion_
        assert reports[0].flipped == reports[1].flipped
        log_p = [one.state_.answers.log_p for one in (model, all_again)]
        np.testing.assert_allclose(*log_p, atol=1e-3)


def test_scores_of_before_are_of_no_use_where_classes_come_or_go(model, labels):
    model.relabel([3], ["class01"])
    model.relabel([0, 4, 8], ["brand new"] * 3)
    assert model.confusion_.total == 160
    model.relabel([0, 4, 8], labels[[0, 4, 8]])
    assert model.classes_.tolist() == np.unique(labels).tolist()
    assert model.confusion_.total == 160


def test_a_saved_model_learns_on_like_the_one_that_was_saved(model, texts, new, truth, tmp_path):
    model.relabel([3], ["class01"])
    model.save(tmp_path / "model", precision="full")
    loaded = UntwinClassifier.load(tmp_path / "model")
    for one in (model, loaded):
        one.relabel([5, 6], ["class02", "class03"])
        one.add(new, truth)
        one.remove([0, 1])
    np.testing.assert_allclose(loaded.predict_proba(texts), model.predict_proba(texts), atol=1e-4)
    assert loaded.confusion_ == model.confusion_


def test_rows_and_classes_that_go_are_forgotten(model, texts, labels, new, truth):
    gone = np.flatnonzero(labels == "class02")
    learnt = model.remove(gone)
    assert learnt.lost_classes == ("class02",)
    assert "class02" not in model.predict(texts)
    assert np.isfinite(model.predict_proba(new)).all()
    left = np.delete(np.arange(160), gone)
    assert model.ids_.tolist() == left.tolist()
    assert model.explain(new[:1])[0].neighbours.neighbours[0].row in left
    model.remove([159])
    model.add(new[:1], truth[:1])
    assert model.ids_[-1] == 160  # a number is never given twice


def test_what_fails_changes_nothing(model, labels, new):
    before = model.predict_proba(new)
    for work in (
        lambda: model.add(["a text", "another"], [1, 2]),
        lambda: model.relabel([999], ["class00"]),
        lambda: model.relabel([0, 1], ["class00"]),
        lambda: model.remove(np.flatnonzero(labels != "class00")),
    ):
        with pytest.raises(ValueError, match="must"):
            work()
    np.testing.assert_array_equal(model.predict_proba(new), before)
    assert len(model.ids_) == 160


def test_a_class_that_the_order_lacks_is_refused_before_anything_changes(texts, labels, new):
    order = ["class00", "class01", "class02", "class03", "class04"]
    model = UntwinClassifier(preset="fast", scoring="mae", order=order).fit(texts, labels)
    before = model.predict_proba(new)
    for work in (
        lambda: model.add(["zebra stripes", "zebra herd"], ["class00", "class05"]),
        lambda: model.relabel([0], ["class05"]),
    ):
        with pytest.raises(InputError, match=r"order that fit was given\. Got 'class05' instead\. Fit"):
            work()
    np.testing.assert_array_equal(model.predict_proba(new), before)
    assert model.add(["zebra stripes", "zebra herd"], ["class04"] * 2).new_classes == ("class04",)
    assert set(model.predict(new)) <= set(order)


@pytest.mark.parametrize("kind", ["texts", "frame", "matrix"])
def test_rows_learnt_before_are_no_evidence(kind, texts, labels, new, truth):
    X, others = texts, new
    if kind == "frame":
        X, others = pl.DataFrame({"text": texts}), pl.DataFrame({"text": new})
    if kind == "matrix":
        words = TextCounts().fit(texts)
        X, others = words.transform(texts), words.transform(new)
    model = UntwinClassifier(preset="fast").fit(X, labels)
    learnt = model.add(X, labels)
    assert (learnt.n_rows, learnt.n_learnt_before, learnt.accuracy_before) == (160, 160, None)
    assert "160 of them learnt before" in str(learnt)
    folds = model.out_of_fold_.folds
    assert (folds[:160] == folds[160:]).all()  # a row and its double are held out together
    before = model.predict(others)
    both = {"texts": lambda: [*new, *texts[:10]], "frame": lambda: pl.concat([others, X[:10]])}
    rows = both.get(kind, lambda: vstack([others, X[:10]]))()
    learnt = model.add(rows, np.concatenate([truth, labels[:10]]))
    assert learnt.n_learnt_before == 10
    assert learnt.accuracy_before == (before == truth).mean()
    assert model.confusion_.total == 160 + 160 + 90


def test_an_id_that_comes_twice_is_named(model):
    with pytest.raises(ValueError, match=r"ids must be distinct\. Got 7 more than once"):
        model.relabel([3, 7, 7], ["class00"] * 3)


@pytest.mark.parametrize(("first", "then"), [(np.asarray, csr_array), (csr_array, np.asarray)])
def test_matrices_learn_on_in_another_form(first, then):
    X, y = load_iris(return_X_y=True)
    model = UntwinClassifier(preset="fast").fit(first(X[::2]), y[::2])
    model.add(then(X[1::2]), y[1::2])
    same = UntwinClassifier(preset="fast").fit(first(X[::2]), y[::2])
    same.add(first(X[1::2]), y[1::2])
    np.testing.assert_array_equal(model.predict_proba(first(X)), same.predict_proba(first(X)))


def test_frames_and_matrices_learn_too():
    X, y = load_iris(return_X_y=True)
    model = UntwinClassifier(preset="fast").fit(X[::2], y[::2])
    assert model.add(X[1::2], y[1::2]).n_rows == 75
    assert model.score(X, y) > 0.9
    frame = pl.DataFrame({"length": X[:, 2], "width": X[:, 3]})
    table = UntwinClassifier(preset="fast").fit(frame[::2], y[::2])
    assert table.add(frame[1::2], y[1::2]).n_rows == 75
    assert table.score(frame, y) > 0.9


def test_new_words_and_names_of_a_table_are_counted():
    X, y = load_iris(return_X_y=True)
    note = ["red leaf", "wide leaf", "red stem"] * 25
    frame = pl.DataFrame({"length": X[::2, 2], "note": note, "town": ["Ulm", "Bonn", "Kiel"] * 25})
    encoder = TableEncoder(numeric="length", text="note", nominal="town")
    model = UntwinClassifier(preset="fast", encoder=encoder).fit(frame, y[::2])
    again = frame.with_columns(length=X[1::2, 2])
    assert model.add(again, y[1::2]).n_new_terms == 0  # other cuts, perhaps, but nothing new
    new = again.head(4).with_columns(note=pl.lit("blue leaf, soft"), town=pl.lit("Jena"))
    learnt = model.add(new, y[1:8:2])
    assert learnt.n_new_terms == 5  # blue, soft, blue leaf, leaf soft, Jena
    assert "5 new terms" in str(learnt)


def test_columns_keep_their_roles_when_rows_are_added():
    X, y = load_iris(return_X_y=True)
    frame = pl.DataFrame({"plant_id": np.arange(75), "length": X[::2, 2]})
    model = UntwinClassifier(preset="fast").fit(frame, y[::2])
    model.add(frame.with_columns(length=X[1::2, 2]), y[1::2])  # numbered from 0 again: no longer all distinct
    assert list(model.state_.preprocessing.blocks_) == ["length"]
    assert {member.model.n_features_in_ for member in model.state_.ensemble.members} == {
        len(model.state_.preprocessing.get_feature_names_out())
    }
    model.remove(model.ids_[:75])
    assert model.state_.preprocessing.numeric == ["length"]


@pytest.mark.parametrize("away", ["relabel", "remove"])
@pytest.mark.parametrize("preset", ["fast", "balanced"])
def test_a_class_that_goes_leaves_everything_in_working_order(make_texts, preset, away, tmp_path):
    """Out of fold, rows of other classes were answered with it."""
    texts, labels = make_texts(100, 4)
    model = UntwinClassifier(preset=preset, target_error=0.1).fit(texts, labels)
    right = (model.out_of_fold_.predictions == labels).sum()
    ids = model.ids_[labels == "class00"]
    assert (model.out_of_fold_.predictions[labels != "class00"] == "class00").any()
    learnt = model.relabel(ids, ["class01"] * len(ids)) if away == "relabel" else model.remove(ids)
    assert learnt.lost_classes == ("class00",)
    assert model.findings_ is not None
    assert write_report(model, tmp_path / "page.html").exists()
    assert model.curves_ is not None
    assert model.explain(texts[:2])
    assert model.out_of_fold_.confusion == model.confusion_
    assert model.confusion_.classes.tolist() == ["class01", "class02", "class03"]
    assert model.confusion_.total == (100 if away == "relabel" else 75)
    if away == "relabel":  # what was said of one of the twins is now right for both
        assert model.confusion_.correct.sum() > right
    model.save(tmp_path / "model")
    assert UntwinClassifier.load(tmp_path / "model").predict(texts[:9]).tolist() == model.predict(texts[:9]).tolist()


def test_a_new_class_of_one_row_is_never_held_out_and_of_two_it_is(model):
    learnt = model.relabel([0], ["brand new"])
    assert learnt.new_classes == ("brand new",)
    assert model.confusion_.total == 159
    assert not model.confusion_.toarray()[model.classes_ == "brand new"].any()
    model.relabel([4], ["brand new"])  # a neighbour of row 0, first in the same fold
    assert model.confusion_.total == 160
    assert model.confusion_.toarray()[model.classes_ == "brand new"].sum() == 2
