"""A model of vectors that only answers: equal answers, few modules, nothing taken on trust."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from untwin import AnswerModel, UntwinClassifier
from untwin.answer.layers import SecondStage
from untwin.cli.loaded_model import load_answers_for
from untwin.data.columns import ColumnRoles
from untwin.export.model import counter
from untwin.export.parts import from_parts, to_parts
from untwin.store import ModelRefused, load, save
from untwin.store.texts import Texts

HEAVY = ("sklearn", "polars", "pandas", "numba", "joblib", "pyarrow")
N_COLUMNS = 6


def _rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    return rng.normal(size=(n_rows, N_COLUMNS)) + 2 * np.eye(3, N_COLUMNS)[y], np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def model():
    return UntwinClassifier(preset="fast").fit(*_rows(120, 0))


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    place = tmp_path_factory.mktemp("small")
    model.export(place)
    return place


@pytest.mark.parametrize("n_rows", [1, 64, 65, 5000])
def test_answers_are_those_of_the_model_to_the_bit(model, folder, n_rows):
    small, asked = AnswerModel.load(folder), _rows(n_rows, 1)[0]
    for X in (asked, asked.astype(np.float32), csr_array(asked), asked.tolist()):
        for one, other in zip(small.predict_all(X, top=2), model.predict_all(X, top=2), strict=True):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(small.predict_proba(asked), model.predict_proba(asked))
    assert small.n_features_in_ == N_COLUMNS


@pytest.mark.parametrize(("precision", "kind"), [("full", np.int32), ("default", np.int16), ("small", np.int8)])
def test_precisions(model, tmp_path, precision, kind):
    model.export(tmp_path, precision=precision)
    small = AnswerModel.load(tmp_path)
    assert small.answerer.weights.dtype == kind
    X, y = _rows(200, 2)
    assert abs((small.predict(X) == y).mean() - (model.predict(X) == y).mean()) < 0.02


def test_a_saved_model_answers_as_before(model, tmp_path):
    model.save(tmp_path)
    X = _rows(9, 3)[0]
    np.testing.assert_array_equal(UntwinClassifier.load(tmp_path).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("whole", [False, True])
def test_vectors_need_neither_scikit_learn_nor_frames(model, folder, tmp_path, whole):
    if whole:
        folder = tmp_path
        model.save(folder)
    code = (
        "import sys; import numpy as np; from untwin import AnswerModel; model = AnswerModel.load(sys.argv[1]);"
        "model.predict_all(np.ones((100, 6)), top=2); model.predict([[1, 2, 3, 4, 5, 6]]);"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (np.ones((2, 5)), "must have 6 columns, as in fit. Got 5"),
        (csr_array(np.ones((2, 7))), "must have 6 columns, as in fit. Got 7"),
        (np.ones(6), "must be a matrix, a row for each answer. Got 1"),
        (["toner jam"], "must hold numbers"),
        (None, "must hold numbers"),
        ({"x": [1.0]}, "must hold numbers"),
        (np.full((1, 6), np.nan), "no NaN. Got nan"),
        (np.full((1, 6), 1e300), "Got 1e"),
    ],
)
def test_what_cannot_be_answered(folder, asked, message):
    with pytest.raises(ValueError, match=message):
        AnswerModel.load(folder).predict(asked)


def test_a_table_with_named_columns_is_no_matrix(folder):
    pd = pytest.importorskip("pandas")
    small, X = AnswerModel.load(folder), _rows(3, 1)[0]
    with pytest.raises(ValueError, match="table with named columns"):
        small.predict(pd.DataFrame(X, columns=list("uvwxyz")))
    np.testing.assert_array_equal(small.predict(pd.DataFrame(X)), small.predict(X))


def test_the_command_says_that_it_reads_tables(folder):
    with pytest.raises(Exception, match="reads vectors of 6 numbers") as caught:
        load_answers_for(folder, ColumnRoles())
    assert "AnswerModel.load(folder)" in caught.value.hint


def test_a_second_stage_is_stored(model):
    parts, facts = to_parts(model.state_.answerer, model._decision(), model.promises_)
    parts |= {"second_weights": np.ones((3, 3), np.int16), "second_scale": np.ones(3), "second_intercept": np.zeros(3)}
    assert isinstance(from_parts(parts, facts, counter)[0].second, SecondStage)
    with pytest.raises(ModelRefused, match="second stage"):
        from_parts({**parts, "second_weights": np.ones((1, 3), np.int16)}, facts, counter)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weights", np.ones((6, 3), np.int64)),
        ("weights", np.ones((6, 2), np.int16)),
        ("weights", np.ones((5, 3), np.int16)),
        ("weights", np.ones(18, np.int16)),
        ("weights", np.ones((0, 3), np.int16)),
        ("weights", np.full((6, 3), 2**31 - 1, np.int32)),
        ("weights", np.full((6, 3), -(2**31), np.int32)),
        ("weights", Texts.of(["a"])),
        ("column_scale", np.full(6, 3.0)),
        ("column_scale", np.full(6, -2.0)),
        ("column_scale", np.full(6, 2.0**200)),
        ("column_scale", np.full(6, 2.0**-200)),
        ("column_scale", np.full(6, np.nan)),
        ("column_scale", np.ones(5)),
        ("column_scale", np.ones(6, np.float32)),
        ("offset", np.full((1, 3), np.inf)),
        ("by_length", np.array([[True]])),
    ],
)
def test_parts_that_do_not_fit_are_refused(model, name, value):
    parts, facts = to_parts(model.state_.answerer, model._decision(), model.promises_)
    from_parts(parts, facts, counter)
    with pytest.raises(ModelRefused):
        from_parts({**parts, name: value}, facts, counter)


def _forged(parts, facts, rng):
    """Change one array or fact of a model in one of many ways; all digests will fit."""
    parts, facts = dict(parts), json.loads(json.dumps(facts))
    if rng.random() < 0.3:
        how = facts["answering"]
        wrong = [None, -1.0, 1e300, 1e-300, "x", [], {}, 10**9, [0, 0, 0]]
        how[rng.choice([*sorted(how), "readers"])] = wrong[rng.integers(len(wrong))]
        return parts, facts
    name = rng.choice([name for name in sorted(parts) if not isinstance(parts[name], Texts)])
    array = parts[name]
    changes = (
        lambda: array[:-1],
        lambda: np.concatenate([array, array]),
        lambda: array.astype(np.float32),
        lambda: array[np.newaxis],
        lambda: array.T,
        lambda: np.full_like(array, np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1),
        lambda: -array.astype(np.int64) - 1,
        lambda: np.zeros_like(array),
        lambda: np.full(array.shape, np.nan),
        lambda: np.full(array.shape, 1e30),
        lambda: array[:0],
    )
    parts[name] = np.ascontiguousarray(changes[rng.integers(len(changes))]())
    return parts, facts


@pytest.mark.parametrize("seed", range(5))
def test_a_forged_model_is_refused_or_answers(folder, tmp_path, seed):
    stored, rng, refused = load(folder), np.random.default_rng(seed), 0
    for number in range(30):
        place = tmp_path / f"forged-{number}"
        parts, facts = _forged(stored.parts["answering"], stored.facts, rng)
        save(place, {"answering": parts}, facts)
        try:
            small = AnswerModel.load(place)
        except ModelRefused:
            refused += 1
            continue
        with np.errstate(all="ignore"):
            for asked in (np.ones((1, 6)), np.full((70, 6), -3e38), csr_array(np.eye(2, 6))):
                assert small.predict_proba(asked).shape == (asked.shape[0], len(small.classes_))
    assert refused > 10
