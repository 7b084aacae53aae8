"""A model that only answers: equal answers, few modules, nothing taken on trust."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from untwin import AnswerModel, UntwinClassifier
from untwin._errors import InputError
from untwin.export.model import counter
from untwin.export.parts import from_parts, to_parts
from untwin.store import ModelRefused, load, save
from untwin.store.texts import Texts

WORDS = {
    "printer": "paper jam tray toner print page cartridge",
    "billing": "invoice charge refund card amount paid twice",
    "password": "login reset account locked token sign secret",
}
HEAVY = ("sklearn", "polars", "pandas", "numba", "joblib", "pyarrow")


def _texts(n_rows: int, seed: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    labels = rng.choice(sorted(WORDS), n_rows).tolist()
    return [" ".join(rng.choice(WORDS[label].split(), 4)) + f" été {rng.integers(9)}" for label in labels], labels


@pytest.fixture(scope="module")
def model():
    return UntwinClassifier().fit(*_texts(150, 0))


@pytest.fixture
def folder(model, tmp_path):
    model.export(tmp_path / "small")
    return tmp_path / "small"


@pytest.mark.parametrize("n_rows", [1, 64, 65, 200])
def test_answers_are_those_of_the_model_to_the_bit(model, folder, n_rows):
    small, asked = AnswerModel.load(folder), [*_texts(n_rows, 1)[0][:-1], ""]
    given, expected = small.predict_all(asked, top=3), model.predict_all(asked, top=3)
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(small.predict(asked), model.predict(asked))
    np.testing.assert_array_equal(small.predict_proba(asked), model.predict_proba(asked))
    assert given.no_evidence[-1]
    assert small.groups_ == model.groups_
    assert small.threshold_ == model.threshold_


def test_grades_and_numbers_as_classes(tmp_path):
    texts, labels = _texts(90, 2)
    grades = np.array([sorted(WORDS).index(label) + 1 for label in labels])
    model = UntwinClassifier(scoring="mae", order=[1, 2, 3]).fit(texts, grades)
    model.export(tmp_path)
    small = AnswerModel.load(tmp_path)
    np.testing.assert_array_equal(small.predict(texts), model.predict(texts))
    assert small.order.tolist() == [1, 2, 3]


def test_stacks_are_exported(model, tmp_path):
    """A second stage is an array like the others."""
    from untwin.answer.layers import SecondStage

    parts, facts = to_parts(model.state_.answerer, model._decision(), model.promises_)
    n_layers = len(parts["by_length"])
    parts |= {"second_weights": np.ones((3 * n_layers, 3), np.int16), "second_scale": np.ones(3)}
    parts["second_intercept"] = np.zeros(3)
    answerer, *_ = from_parts(parts, facts, counter)
    assert isinstance(answerer.second, SecondStage)
    with pytest.raises(ModelRefused, match="second stage"):
        from_parts({**parts, "second_weights": np.ones((1, 3), np.int16)}, facts, counter)


@pytest.mark.parametrize("kept", ["exported", "default", "full"])
def test_a_few_texts_need_neither_scikit_learn_nor_frames(model, folder, tmp_path, kept):
    if kept != "exported":  # a whole model, of which the part that answers is read alone
        folder = tmp_path / "whole"
        model.save(folder, precision=kept)
    code = (
        "import sys; from untwin import AnswerModel; model = AnswerModel.load(sys.argv[1]);"
        "model.predict_all(['toner jam', 'refund été'] * 32, top=2);"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_whole_model_is_not_replaced_by_its_answers(model, tmp_path):
    model.save(tmp_path)
    with pytest.raises(InputError, match="whole model"):
        model.export(tmp_path)
    assert UntwinClassifier.load(tmp_path).predict(["toner"]) == model.predict(["toner"])
    part = AnswerModel.load(tmp_path)
    assert np.array_equal(part.predict_proba(["toner", "refund"]), model.predict_proba(["toner", "refund"]))


def test_a_whole_model_without_such_a_part_is_refused(tmp_path):
    rows = [[1.0, 2.0], [2.0, 1.0]] * 10
    UntwinClassifier(preset="fast", encoder=StandardScaler()).fit(rows, ["a", "b"] * 10).save(tmp_path)
    with pytest.raises(ModelRefused, match="has no part that answers alone"):
        AnswerModel.load(tmp_path)


def test_an_export_can_be_replaced_and_is_no_whole_model(model, folder):
    model.export(folder, precision="full")
    assert AnswerModel.load(folder).answerer.weights.weights.dtype == np.int16
    with pytest.raises(ModelRefused, match="can only answer"):
        UntwinClassifier.load(folder)


def test_what_cannot_be_exported(model, tmp_path):
    own = UntwinClassifier(preset="fast", encoder=StandardScaler()).fit([[1.0, 2.0], [2.0, 1.0]] * 10, ["a", "b"] * 10)
    with pytest.raises(InputError, match="Only models of linear candidates"):
        own.export(tmp_path)
    with pytest.raises(ValueError, match="precision must be one of"):
        model.export(tmp_path, precision="half")


def test_what_cannot_be_answered(folder):
    small = AnswerModel.load(folder)
    with pytest.raises(ValueError, match="single text"):
        small.predict("toner")
    with pytest.raises(ValueError, match="holds a int"):
        small.predict(["toner", 1])


def _forged(parts, facts, rng):
    """Change one array or fact of a model in one of many ways; all digests will fit."""
    parts, facts = dict(parts), json.loads(json.dumps(facts))
    if rng.random() < 0.25:
        how = facts["answering"]
        name = rng.choice(sorted(how))
        how[name] = [None, -1.0, 1e300, "x", [], [["word", 1, 9999, None, 5]], {}, 10**9, [0, 0, 0]][rng.integers(9)]
        return parts, facts
    name = rng.choice(sorted(parts))
    array = parts[name]
    if isinstance(array, Texts):
        parts[name] = [["a"], ["a", "a", "b"], [str(text) for text in array] * 2][rng.integers(3)]
        return parts, facts
    changes = (
        lambda: array[:-1],
        lambda: np.concatenate([array, array]),
        lambda: array.astype(np.float32),
        lambda: array[np.newaxis],
        lambda: np.full_like(array, np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1),
        lambda: -array.astype(np.int64) - 1,
        lambda: (array.astype(np.int64) << 40) + 1,
        lambda: np.zeros_like(array),
        lambda: array[::-1],
        lambda: np.full(array.shape, np.nan),
        lambda: array[:0],
    )
    parts[name] = np.ascontiguousarray(changes[rng.integers(len(changes))]())
    if rng.random() < 0.1:
        del parts[name]
    return parts, facts


@pytest.mark.parametrize("seed", range(10))
def test_a_forged_model_is_refused_or_answers(folder, tmp_path, seed):
    stored, rng, refused = load(folder), np.random.default_rng(seed), 0
    for number in range(30):
        parts, facts = _forged(stored.parts["answering"], stored.facts, rng)
        place = tmp_path / f"forged-{number}"
        save(place, {"answering": parts}, facts)
        try:
            small = AnswerModel.load(place)
        except ModelRefused:
            refused += 1
            continue
        with np.errstate(all="ignore"):
            for asked in (["toner jam", ""], ["refund été"] * 70):
                assert small.predict_proba(asked).shape == (len(asked), len(small.classes_))
    assert refused > 10
