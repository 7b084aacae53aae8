"""Classes that were merged or retired are answered no longer at once: by the model, its answering part, its report."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untwin import AnswerModel, UntwinClassifier
from untwin._errors import InputError
from untwin.answer.redirect import Redirect
from untwin.taxonomy import Merge, Rename, Retire


@st.composite
def redirects(draw):
    n_trained = draw(st.integers(2, 7))
    heirs = np.array(draw(st.lists(st.integers(-1, 3), min_size=n_trained, max_size=n_trained)))
    if (heirs < 0).all():
        heirs[0] = 0
    kept = np.unique(heirs[heirs >= 0])
    heirs = np.where(heirs >= 0, np.searchsorted(kept, heirs), -1)
    own = np.array([np.flatnonzero(heirs == number)[-1] for number in range(len(kept))])
    return Redirect(heirs, own)


@given(redirects(), st.integers(0, 10_000))
def test_probabilities_are_added_up_or_left_out_as_in_the_literal_computation(redirect, seed):
    P = np.random.default_rng(seed).dirichlet(np.ones(len(redirect.heirs)), size=5)
    found = np.exp(redirect(np.log(P).astype(np.float32)).astype(np.float64))
    wanted = np.zeros((5, redirect.n_classes))
    for trained, heir in enumerate(redirect.heirs.tolist()):
        if heir >= 0:
            wanted[:, heir] += P[:, trained]
    wanted /= wanted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-7)


@given(redirects(), st.data())
def test_one_after_the_other_is_both_at_once(earlier, data):
    later = data.draw(redirects().filter(lambda one: len(one.heirs) <= earlier.n_classes))
    heirs = np.concatenate([later.heirs, np.full(earlier.n_classes - len(later.heirs), -1)])
    later = Redirect(heirs, later.own)
    P = np.random.default_rng(0).dirichlet(np.ones(len(earlier.heirs)), size=4)
    log_p = np.log(P).astype(np.float32)
    np.testing.assert_allclose(np.exp(later.after(earlier)(log_p)), np.exp(later(earlier(log_p))), rtol=1e-4)
    assert later.after(earlier).heirs[later.after(earlier).own].tolist() == list(range(later.n_classes))


def test_where_nothing_is_left_all_classes_are_as_likely():
    log_p = np.array([[0.0, -np.inf, -np.inf]], dtype=np.float32)
    assert np.exp(Redirect(np.array([-1, 0, 1]), np.array([1, 2]))(log_p)).tolist() == [[0.5, 0.5]]


def test_rows_that_were_never_held_out_stay_without_an_answer():
    found = Redirect(np.array([0, 0, 1]), np.array([0, 2]))(np.full((1, 3), np.nan, dtype=np.float32))
    assert np.isnan(found).all()


def made(kind, texts, labels):
    """Return a model of some kind, and rows to ask it about."""
    rng = np.random.default_rng(0)
    codes = np.unique(labels, return_inverse=True)[1]
    X = rng.normal(size=(len(codes), 8)) + 2 * np.eye(8)[codes]
    if kind == "texts":
        return UntwinClassifier(preset="fast").fit(texts, labels), texts
    if kind == "vectors":
        return UntwinClassifier(preset="fast").fit(X, labels), X
    if kind == "numbers":
        return UntwinClassifier(preset="fast").fit(X, codes * 10), X
    import polars as pl

    frame = pl.DataFrame({f"x{number}": X[:, number] for number in range(8)})
    return UntwinClassifier(preset="fast").fit(frame, labels), frame


@pytest.mark.parametrize("kind", ["texts", "vectors", "numbers", "frame"])
def test_at_once_and_after_saving_the_same_answers(kind, texts, labels, tmp_path):
    model, rows = made(kind, texts, labels)
    P, a, b, c = model.predict_proba(rows), *map(str, model.classes_.tolist()[:3])
    new = "7" if kind == "numbers" else "aaa"
    model.apply(Merge((a, b), new), author="Ada", learn=False)
    model.apply(Retire(c), author="Ada", learn=False)
    assert sorted(map(str, model.classes_.tolist())) == sorted([new, *map(str, np.unique(model.state_.y).tolist())][1:])
    Q = np.column_stack([P[:, 0] + P[:, 1], P[:, 3:]])
    np.testing.assert_allclose(model.predict_proba(rows), Q / Q.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-6)
    assert model.classes_.dtype.kind == ("i" if kind == "numbers" else "U")
    before = model.predict_proba(rows)
    model.save(tmp_path / "m")
    loaded = UntwinClassifier.load(tmp_path / "m")
    assert np.array_equal(loaded.predict_proba(rows), before)
    assert loaded.taxonomy_ == model.taxonomy_
    if kind != "frame":
        assert np.array_equal(AnswerModel.load(tmp_path / "m").predict_proba(rows), before)
        loaded.export(tmp_path / "small")
        assert np.array_equal(AnswerModel.load(tmp_path / "small").predict_proba(rows), before)
    model.save(tmp_path / "full", precision="full")
    np.testing.assert_allclose(UntwinClassifier.load(tmp_path / "full").predict_proba(rows), before, atol=0.02)
    loaded.measure()
    if kind != "vectors":
        assert loaded.explain(rows[:2], top=2)
    y = loaded.state_.y
    loaded.relabel(loaded.ids_[:3], np.roll(y, 1)[:3])  # the next change trains without what was retired
    assert set(loaded.predict(rows).tolist()) <= set(model.classes_.tolist())
    assert loaded.state_.ensemble.redirect is None


def test_held_out_answers_are_redirected_too(texts, labels):
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    before = model.state_.answers
    model.apply(Merge(("class00", "class01"), "zero"), learn=False)
    after = model.state_.answers
    P, Q = np.exp(before.log_p), np.exp(after.log_p)
    np.testing.assert_allclose(Q[:, after.classes.tolist().index("zero")], P[:, 0] + P[:, 1], rtol=1e-4)
    assert model.scores_["accuracy"] == pytest.approx((after.true == after.said).mean())
    assert model.confusion_.classes.tolist() == ["class02", "class03", "zero"]


def test_a_renamed_class_changes_no_answer_and_is_trained_on_as_before(texts, labels):
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    P = model.predict_proba(texts)
    report = model.apply(Rename("class00", "class00b"))
    assert np.array_equal(model.predict_proba(texts), P)
    assert (report.refitted, report.new_classes, report.lost_classes) == ((), ("class00b",), ("class00",))
    assert model.state_.learning.points  # the order of the classes is the same
    report = model.apply(Rename("class00b", "zzz"))
    np.testing.assert_allclose(model.predict_proba(texts), P[:, [1, 2, 3, 0]], rtol=1e-12)
    model.relabel(model.ids_[:1], [model.state_.y[1]])
    assert model.classes_.tolist() == ["class01", "class02", "class03", "zzz"]


def test_of_two_classes_none_can_be_merged_away(texts):
    model = UntwinClassifier(preset="fast").fit(texts[:40], ["a", "b"] * 20)
    for change in (Merge(("a", "b"), "a"), Retire("a"), Retire("a", "b")):
        with pytest.raises(InputError, match="two classes must be left"):
            model.apply(change)
    assert model.classes_.tolist() == ["a", "b"]
    assert not model.has_history_


def test_a_name_that_is_no_label_of_this_kind_is_refused(texts, labels):
    model, _ = made("numbers", texts, labels)
    with pytest.raises(InputError, match="Labels of this model are like 0"):
        model.apply(Rename("10", "ten"))


def test_grades_stay_on_their_scale(texts):
    model = UntwinClassifier(preset="fast", order=["low", "mid", "high"]).fit(texts, ["low", "mid", "high", "low"] * 40)
    with pytest.raises(InputError, match="order"):
        model.apply(Rename("mid", "middle"))
    model.apply(Merge(("low", "mid"), "low"))
    assert model.classes_.tolist() == ["high", "low"]
