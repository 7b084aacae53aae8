"""Promises as stored arrays: what does not fit together is refused."""

from __future__ import annotations

import numpy as np
import pytest

from untwin import AnswerModel, UntwinClassifier
from untwin.export.model import counter
from untwin.export.parts import from_parts, to_parts
from untwin.store import ModelRefused


@pytest.fixture(scope="module")
def stored():
    texts = ["red bus", "blue car", "red tram", "blue bike", "green bus", "green tram"] * 8
    labels = ["r", "b", "r", "b", "g", "g"] * 8
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    model.find(parents={"r": "warm", "b": "cold", "g": "cold"}, keep=True)
    return to_parts(model.state_.answerer, model._decision(), model.promises_)


def test_what_is_stored_is_what_is_read(stored):
    parts, facts = stored
    answerer, decision, promises = from_parts(parts, facts, counter)
    again = to_parts(answerer, decision, promises)
    assert again[1] == facts
    assert again[0].keys() == parts.keys()
    for name, value in parts.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(again[0][name], value, err_msg=name)
    assert promises.known_heights is not None


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("sure_thresholds", lambda a: a[::-1] + np.arange(len(a))[::-1]),
        ("sure_thresholds", lambda a: np.full(len(a), np.nan)),
        ("sure_thresholds", lambda a: a.astype(np.float32)),
        ("sure_answered", lambda a: a[:-1]),
        ("sure_wrong", lambda a: a + 100),
        ("heights_parents", lambda a: a[::-1]),
        ("heights_parents", np.zeros_like),
        ("heights_parents", lambda a: a[:3]),
        ("heights_parents", lambda a: np.append(a, a[-1] + 1)),
        ("heights_parents", lambda a: np.arange(10**6, dtype=np.uint32)),
        ("known_parents", lambda a: a + 1),
        ("heights_thresholds", lambda a: np.full(10_000, 0.5)),
        ("sets_scores", lambda a: a[:1]),
        ("sets_sizes", lambda a: np.full(a.shape, np.inf)),
        ("group_rows", lambda a: a + 1),
        ("group_scores", lambda a: a[1:]),
        ("spreads", lambda a: np.zeros(10_000)),
        ("spreads", lambda a: a.reshape(1, -1)),
    ],
)
def test_arrays_that_do_not_fit_are_refused(stored, name, change):
    parts, facts = stored
    with pytest.raises(ModelRefused):
        from_parts({**parts, name: change(parts[name])}, facts, counter)


@pytest.mark.parametrize(
    "change",
    [
        {"target_error": 2.0},
        {"target_error": None},
        {"chance": [1.0]},
        {"chance": [-1.0, 0.0]},
        {"chance": [float("nan"), 0.0]},
        {"rows": {"sure": -1, "heights": 1, "sets": 1}},
        {"rows": {"sure": 10**15, "heights": 1, "sets": 10**14}},
        {"rows": None},
        {"rows": {}},
    ],
)
def test_facts_that_do_not_fit_are_refused(stored, change):
    parts, facts = stored
    with pytest.raises(ModelRefused):
        from_parts(parts, {**facts, "promises": {**facts["promises"], **change}}, counter)


def test_a_model_without_any_promise_is_refused(stored):
    parts, facts = stored
    with pytest.raises(ModelRefused):
        from_parts(parts, {name: fact for name, fact in facts.items() if name != "promises"}, counter)


def test_a_model_of_which_no_row_was_held_out_is_stored(tmp_path):
    UntwinClassifier(preset="fast").fit(["red bus", "blue car", "green tram"], ["r", "b", "g"]).export(tmp_path / "m")
    small = AnswerModel.load(tmp_path / "m")
    assert small.threshold_ == np.inf
    assert small.predict_all(["red bus"]).unsure.all()
    assert small.shortlist(["red bus"]).sizes.tolist() == [3]
