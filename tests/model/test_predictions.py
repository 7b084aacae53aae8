"""All that answers consist of, from one pass; how new rows differ from those that were learnt."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from untwin.model import UntwinClassifier
from untwin.model.state import FittedState


@pytest.fixture(scope="module")
def model(texts, labels):
    return UntwinClassifier(preset="fast", target_error=0.1).fit(texts, labels)


def test_one_value_says_what_all_single_questions_say(model, new):
    rows = [*new, "zzz"]  # a text without a known word
    found = model.predict_all(rows, top=3)
    assert found.labels.tolist() == model.predict(rows).tolist()
    assert np.array_equal(found.probabilities, model.predict_proba(rows))
    assert np.array_equal(found.unsure, model.unsure(rows))
    assert np.array_equal(found.no_evidence, model.without_evidence(rows))
    assert found.no_evidence.tolist() == [False] * len(new) + [True]
    assert found.unsure.any()
    group = model.predict_group(rows)
    assert np.array_equal(group.groups, found.groups)
    assert np.array_equal(group.sure, ~found.unsure)
    assert np.array_equal(group.labels, found.labels)


def test_the_answer_is_ranked_first_and_then_the_likeliest(model, new):
    found = model.predict_all(new, top=4)
    assert model.classes_[found.ranked[:, 0]].tolist() == found.labels.tolist()
    shares = np.take_along_axis(found.probabilities, found.ranked, axis=1)
    assert (np.diff(shares, axis=1) <= 0).all()
    assert found.ranked.shape == (len(new), 4)
    assert np.array_equal(model.predict_all(new).ranked, found.ranked[:, :1])
    assert model.predict_all(new, top=9).ranked.shape == (len(new), 4)  # there are no more
    with pytest.raises(ValueError, match="top must be at least 1"):
        model.predict_all(new, top=0)


def test_the_median_grade_is_ranked_first_though_another_class_is_likelier(texts, labels, new):
    order = ["class00", "class02", "class01", "class03"]
    graded = UntwinClassifier(preset="fast", scoring="mae", order=order).fit(texts, labels)
    found = graded.predict_all(new, top=2)
    assert found.labels.tolist() == graded.predict(new).tolist()
    assert graded.classes_[found.ranked[:, 0]].tolist() == found.labels.tolist()


@pytest.mark.parametrize("ask", ["predict_all", "predict_group"])
def test_rows_are_encoded_and_answered_once(model, new, monkeypatch, ask):
    passes, answer = [], FittedState.score

    def counting(state, given):
        passes.append(len(given))
        return answer(state, given)

    monkeypatch.setattr(FittedState, "score", counting)
    monkeypatch.setattr(FittedState, "without_evidence", None)
    getattr(model, ask)(new)
    assert passes == [len(new)]


def test_drift_is_measured_before_rows_are_learnt(model, texts, labels):
    same, other = model.drift(texts, labels), model.drift(["zzz", texts[0]], ["class09", "class00"])
    assert (same.class_shares, same.without_evidence) == (0.0, 0.0)
    assert (other.class_shares, other.without_evidence) == (0.75, 0.5)  # a quarter of the rows was of class00
    assert same.accuracy_expected == other.accuracy_expected == model.scores_["accuracy"]
    with pytest.raises(ValueError, match="labels of the kind that fit saw"):
        model.drift(texts[:2], [1, 2])


def test_rows_that_were_learnt_are_known_again(model, texts, new):
    assert model.learnt([texts[3], "zzz", texts[3]]).tolist() == [True, False, True]


def test_rows_of_a_table_are_known_again_and_those_of_a_matrix_never():
    frame = pl.DataFrame({"price": [1.0, 2.0, None, 8.0, 9.0, 9.5], "shop": ["a", None, "a", "b", "b", "b"]})
    y = ["low"] * 3 + ["high"] * 3
    model = UntwinClassifier(preset="fast").fit(frame, y)
    assert model.learnt(frame).all()
    some = pl.DataFrame({"price": [2.0, 2.0, None], "shop": [None, "a", "a"]})
    assert model.learnt(some).tolist() == [True, False, True]
    X = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [1.0, 0.1]])
    assert UntwinClassifier(preset="fast").fit(X, [0, 0, 1, 1]).learnt(X) is None
