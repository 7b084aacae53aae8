"""A model of tables that only answers: equal answers, few modules, nothing taken on trust."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest
from tests.answer.test_tables import table

from untwin import AnswerModel, TableEncoder, UntwinClassifier
from untwin._errors import InputError
from untwin.cli.loaded_model import load_answers_for
from untwin.data.columns import ColumnRoles
from untwin.export.model import counter
from untwin.export.parts import from_parts, to_parts
from untwin.store import ModelRefused, load, save
from untwin.store.texts import Texts

ROLES = {"text": ("body", "title"), "nominal": ("colour",), "numeric": ("price", "floor")}


@pytest.fixture(scope="module")
def model():
    encoder = TableEncoder(**{role: list(names) for role, names in ROLES.items()})
    return UntwinClassifier(preset="fast", encoder=encoder).fit(*table(160))


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    place = tmp_path_factory.mktemp("small")
    model.export(place)
    return place


@pytest.mark.parametrize("n_rows", [1, 64, 65, 300])
def test_answers_are_those_of_the_model_to_the_bit(model, folder, n_rows, tmp_path):
    model.save(tmp_path)
    frame, _ = table(n_rows, 1)
    expected = model.predict_all(frame, top=2)
    for small in (AnswerModel.load(folder), AnswerModel.load(tmp_path), UntwinClassifier.load(tmp_path)):
        for X in (frame, pl.DataFrame(frame)):
            for one, other in zip(small.predict_all(X, top=2), expected, strict=True):
                np.testing.assert_array_equal(one, other)


def test_evidence_is_that_of_the_whole_model(model, folder):
    frame, small = table(12, 3)[0], AnswerModel.load(folder)
    expected = model.explain(frame, top=3)
    for X in (frame, pl.DataFrame(frame), {**frame, "price": np.array(frame["price"], dtype=float)}):
        for told, whole in zip(small.explain(X, top=3), expected, strict=True):
            assert told == whole._replace(neighbours=None)
    with pytest.raises(ValueError, match="top must be at least 1"):
        small.explain(frame, top=0)
    with pytest.raises(InputError, match="none named"):
        small.explain({"price": [1.0]})


def test_a_table_may_have_more_columns_in_any_order(model, folder):
    frame, _ = table(5, 2)
    turned = {"more": [None] * 5, **dict(reversed(frame.items()))}
    small = AnswerModel.load(folder)
    np.testing.assert_array_equal(small.predict_proba(turned), model.predict_proba(frame))
    assert small.feature_names_in_.tolist() == list(frame)
    assert small.n_features_in_ == 5
    assert {column.name: column.role for column in small.columns_} == {
        name: role for role, names in ROLES.items() for name in names
    }


def test_the_command_reads_its_columns(folder, tmp_path):
    stored = load(folder)
    save(tmp_path, {"answering": stored.parts["answering"]}, {**stored.facts, "about": {"roles": _noted()}})
    loaded = load_answers_for(tmp_path, ColumnRoles())
    assert loaded.columns.read == list(table(1)[0])
    swapped = {**_noted(), "text": ["body", "colour"], "nominal": ["title"]}
    save(tmp_path, {"answering": stored.parts["answering"]}, {**stored.facts, "about": {"roles": swapped}})
    with pytest.raises(ModelRefused, match="roles of the columns"):
        load_answers_for(tmp_path, ColumnRoles())


def _noted():
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(ColumnRoles(**ROLES)).items()
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("names", Texts.of(["body"] * 5)),
        ("names", Texts.of(["body"])),
        ("names", np.arange(5)),
        ("points", np.array([2.0, 1.0])),
        ("points", np.array([np.nan])),
        ("moments", np.zeros((2, 2))),
        ("moments", np.ones((1, 2))),
        ("moments", np.ones((3, 2))),
        ("moments", np.ones(2)),
        ("values", Texts.of(["red"] * 6)),
        ("values", Texts.of(["red"])),
        ("factors", np.ones(4)),
        ("factors", np.full(5, np.inf)),
        ("idf", np.ones(3, np.uint16)),
    ],
)
def test_parts_that_do_not_fit_are_refused(model, name, value):
    parts, facts = to_parts(model.state_.answerer, model._decision(), model.promises_)
    from_parts(parts, facts, counter)
    with pytest.raises(ModelRefused):
        from_parts({**parts, name: value}, facts, counter)


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("value", [-1, 10**9, True, None, 1.0, "text", [], {}])
def test_facts_that_do_not_fit_are_refused(model, number, value):
    parts, facts = to_parts(model.state_.answerer, model._decision(), model.promises_)
    refused = 0
    for key in facts["columns"][number]:
        forged = json.loads(json.dumps(facts))
        if forged["columns"][number][key] is value or (key == "role" and value == forged["columns"][number][key]):
            continue
        forged["columns"][number][key] = value
        with pytest.raises(ModelRefused):
            from_parts(parts, forged, counter)
        refused += 1
    assert refused >= 3
    for columns in ([], [facts["columns"][0]] * 2, facts["columns"][:-1], facts["columns"][::-1], value):
        with pytest.raises(ModelRefused):
            from_parts(parts, {**facts, "columns": columns}, counter)


def test_what_answers_must_be_about_the_model(model, folder, tmp_path):
    model.save(tmp_path / "model")
    stored, other = load(tmp_path / "model"), UntwinClassifier(preset="fast", encoder=model.encoder).fit(*table(160, 9))
    parts, facts = to_parts(other.state_.answerer, other._decision(), other.promises_)
    facts |= {"threshold": model.threshold_}
    save(tmp_path / "forged", {**stored.parts, "answering": parts}, {**stored.facts, "answering": facts})
    with pytest.raises(ModelRefused):
        UntwinClassifier.load(tmp_path / "forged")


def _forged(parts, rng):
    parts = dict(parts)
    name = rng.choice([name for name in sorted(parts) if not isinstance(parts[name], Texts)])
    array = parts[name]
    changes = (
        lambda: array[:-1],
        lambda: np.concatenate([array, array]),
        lambda: array.astype(np.float32),
        lambda: array[np.newaxis],
        lambda: np.full_like(array, np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1),
        lambda: -array.astype(np.int64) - 1,
        lambda: np.zeros_like(array),
        lambda: np.full(array.shape, np.nan),
        lambda: array[::-1],
        lambda: array[:0],
    )
    parts[name] = np.ascontiguousarray(changes[rng.integers(len(changes))]())
    return parts


@pytest.mark.parametrize("seed", range(5))
def test_a_forged_model_is_refused_or_answers(folder, tmp_path, seed):
    stored, rng, refused = load(folder), np.random.default_rng(seed), 0
    for number in range(30):
        place = tmp_path / f"forged-{number}"
        save(place, {"answering": _forged(stored.parts["answering"], rng)}, stored.facts)
        try:
            small = AnswerModel.load(place)
        except ModelRefused:
            refused += 1
            continue
        with np.errstate(all="ignore"):
            for n_rows in (2, 70):
                assert small.predict_proba(table(n_rows, 7)[0]).shape == (n_rows, len(small.classes_))
    assert refused > 10
