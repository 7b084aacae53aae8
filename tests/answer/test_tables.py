"""Rows of a table, one or many, in whole numbers: the same bits, and the answers of the models they were made from."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from untwin import MDLPDiscretizer, TableEncoder, UntwinClassifier
from untwin._errors import InputError
from untwin.answer.cells import NameColumn, NumberColumn, TextColumn
from untwin.answer.layers import FEW
from untwin.answer.plain_cells import read_plain
from untwin.data.table_cells import READERS, read_cells
from untwin.model.answering import compile_state
from untwin.model.selection import averages, candidates, select

COLOURS = ["red", "blue", "green", "01", "true", "2.5"]


def table(n_rows, seed=0, *, numbers=True):
    rng = np.random.default_rng(seed)
    labels = rng.choice(["a", "b", "c"], n_rows)
    shift = np.searchsorted(["a", "b", "c"], labels)
    price = (10 * shift + rng.normal(0, 6, n_rows)).tolist()
    frame = {
        "colour": [COLOURS[(code + rng.integers(3)) % 6] if rng.random() > 0.1 else None for code in shift],
        "body": [" ".join(rng.choice(["été", "paper jam", "refund", "Key lost", "no"], 3)) for _ in labels],
        "title": [f"{label}{rng.integers(2)} of it" if rng.random() > 0.2 else "" for label in labels],
    }
    if numbers:
        frame["price"] = [None if rng.random() < 0.1 else number for number in price]
        frame["floor"] = (shift + rng.integers(3, size=n_rows)).tolist()
    return frame, labels


ROLES = {"text": ["body", "title"], "nominal": ["colour"]}


@pytest.fixture(scope="module", params=["pair", "one", "stack", "cosine", "names and naive Bayes"])
def model(request):
    bayes = request.param == "names and naive Bayes"
    frame, labels = table(200, numbers=not bayes)
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "stack":
            patch.setattr(select.Trials, "_is_ahead", lambda *_: True)
            patch.setattr(select.Trials, "_is_better", lambda *_: True)
            patch.setattr(averages.Averages, "grow", lambda self: [self._candidates[-1]])
        if request.param == "cosine":
            patch.setattr(candidates, "LogisticModel", lambda **_: candidates.CentroidClassifier())
        if request.param in ("pair", "cosine") or bayes:
            patch.setattr(select.Trials, "_try_stack", lambda _: None)
            patch.setattr(averages.Averages, "_is_better", lambda *_: True)
        preset = "fast" if request.param == "one" else "balanced"
        roles = ROLES if bayes else {**ROLES, "numeric": ["price", "floor"]}
        fitted = UntwinClassifier(preset=preset, encoder=TableEncoder(**roles)).fit(frame, labels)
    assert fitted.state_.answerer is not None
    assert not bayes or fitted.state_.answerer.offset.any()
    assert request.param != "cosine" or fitted.state_.answerer.by_length.any()
    assert request.param != "stack" or fitted.state_.answerer.second is not None
    return fitted


def _rows(frame):
    names = list(frame)
    return [dict(zip(names, ([cell] for cell in row), strict=True)) for row in zip(*frame.values(), strict=True)]


def test_many_rows_get_the_bits_that_one_gets(model):
    answerer, (frame, _) = model.state_.answerer, table(2 * FEW, 1)
    many, mute = answerer.log_proba(pl.DataFrame(frame))
    assert not mute.any()
    for row, one in enumerate(_rows(frame)):
        np.testing.assert_array_equal(answerer.log_proba(one)[0][0], many[row])
        np.testing.assert_array_equal(answerer.log_proba(pl.DataFrame(one))[0][0], many[row])
    fitted = {name: frame[name] for name in answerer.names}
    np.testing.assert_allclose(np.log(model.predict_proba(fitted)), many, atol=1e-4)


def test_at_full_precision_it_answers_as_the_ensemble(model):
    known = model.state_
    frame = pl.DataFrame(table(100, 2)[0]).select(known.answerer.names)
    exact = known.ensemble.log_proba(known.terms(frame))
    for precision, off in (("full", 3e-3), ("default", 3e-3), ("small", 0.1)):
        found, _ = compile_state(known, precision).log_proba(frame)
        np.testing.assert_allclose(np.exp(found), np.exp(exact), atol=off)


NUMBER = NumberColumn("x", 0, np.array([0.5, 7.0]), has_missing=True, mean=1.0, scale=2.0, tells_missing=True)
NAME = NameColumn("x", 0, ("red", "1", "0.5", "true"), ("blue", "-3"), has_missing=True)
TEXT = TextColumn("x", 0, (), np.empty(0), np.empty(0), None)
CELLS = st.one_of(
    st.lists(st.none() | st.text(st.sampled_from("red1.5 eE+-_١"), max_size=6), min_size=1, max_size=5),
    st.lists(
        st.none() | st.sampled_from(["red", "blue", "", "1", " 2.5 ", "-3", "+1e2", "nan"]), min_size=1, max_size=5
    ),
    st.lists(st.none() | st.integers(-5, 2**65), min_size=1, max_size=5),
    st.lists(st.none() | st.floats(), min_size=1, max_size=5),
    st.lists(
        st.none() | st.sampled_from([0.5, 1.0, -3.0, -0.0, 1e15, 1e-3, 999999999999999.0]), min_size=1, max_size=5
    ),
    st.lists(st.none() | st.booleans(), min_size=1, max_size=5),
    st.lists(st.none() | st.booleans() | st.integers(0, 3) | st.just("red"), min_size=1, max_size=5),
)


@settings(max_examples=400, deadline=None)
@given(cells=CELLS, column=st.sampled_from([NUMBER, NAME, TEXT]))
def test_cells_that_are_read_without_a_frame_are_read_as_in_one(cells, column):
    plain = read_plain((column,), {"x": cells})
    if plain is None:
        return
    in_frame = READERS[column.role](column, pl.Series("x", cells, strict=False))
    np.testing.assert_array_equal(np.asarray(plain[0]), np.asarray(in_frame))
    if column.role == "numeric":
        _check_terms_of_numbers(plain[0])


def _check_terms_of_numbers(cells):
    """Compare the terms of numbers with what they mean, cell by cell."""
    entries, found = NUMBER.entries(cells), np.zeros((len(cells), NUMBER.size))
    found[entries.rows, entries.terms] = entries.values / 2**14
    for row, number in enumerate(cells):
        expected = np.zeros(NUMBER.size)
        if math.isnan(number):
            expected[[3, 5]] = 1
        else:
            expected[int(number >= 0.5) + int(number >= 7.0)] = 1
            expected[4] = round(min(max((number - 1) / 2, -10), 10) * 2**14) / 2**14
        np.testing.assert_array_equal(found[row], expected)


def test_usual_cells_need_no_frame():
    for cells in (
        ["1", " 2.5", None, ""],
        [1, None],
        [0.5, math.nan],
        [True, False],
        np.array([1, 2]),
        np.array([0.5]),
    ):
        assert read_plain((NUMBER,), {"x": cells}) is not None
    for cells in (["red", None, "new"], [1, None], [1.0, 0.5, math.nan], [True], np.array(["red", "blue"])):
        assert read_plain((NAME,), {"x": cells}) is not None
    assert read_plain((NAME,), {"x": ["red"] * (FEW + 1)}) is None
    assert read_plain((NUMBER,), {"x": [math.inf]}) is None


def test_other_cells_are_read_in_a_frame(model):
    answerer, (frame, _) = model.state_.answerer, table(3, 5)
    told = answerer.log_proba(frame)[0]
    others = pl.DataFrame(frame).with_columns(pl.col("colour").cast(pl.Categorical), pl.col("floor").cast(pl.UInt8))
    np.testing.assert_array_equal(answerer.log_proba(others)[0], told)
    np.testing.assert_array_equal(answerer.log_proba(others.to_arrow())[0], told)


def test_what_cannot_be_read_is_named(model):
    answerer, (frame, _) = model.state_.answerer, table(3, 5)
    with pytest.raises(InputError, match="none named \\['colour'\\]"):
        answerer.log_proba({name: cells for name, cells in frame.items() if name != "colour"})
    if any(column.name == "price" for column in answerer.columns):
        with pytest.raises(InputError, match="Got 'much' in row 2"):
            answerer.log_proba({**frame, "price": ["1", "much", None]})
    with pytest.raises(ValueError, match="columns of one length"):
        answerer.log_proba({**frame, "colour": ["red"]})
    with pytest.raises(ValueError, match="at least one row"):
        answerer.log_proba({name: [] for name in frame})
    with pytest.raises(ValueError, match="must be a frame with named columns"):
        answerer.log_proba(["a text"])


@pytest.mark.parametrize(
    "encoder",
    [
        TableEncoder(dense=["x"]),
        TableEncoder(numeric=["n"], discretizer=StandardScaler()),
    ],
)
def test_columns_of_other_kinds_are_answered_by_their_estimators(encoder):
    frame = pl.DataFrame({"x": [[float(row % 3), 1.0] for row in range(60)], "n": [row % 3 for row in range(60)]})
    fitted = UntwinClassifier(preset="fast", encoder=encoder).fit(frame, [0, 1, 2] * 20)
    assert fitted.state_.answerer is None
    assert fitted.predict(frame[:3]).tolist() == [0, 1, 2]


def test_intervals_alone():
    encoder = TableEncoder(numeric=["n"], discretizer=MDLPDiscretizer(), block_weights={"n": 3.0})
    fitted = UntwinClassifier(preset="fast", encoder=encoder).fit({"n": list(range(60))}, np.arange(60) // 20)
    known, asked = fitted.state_, pl.DataFrame({"n": [5.0, None, 45.0]})
    assert known.answerer is not None
    exact = np.exp(known.ensemble.log_proba(known.terms(asked)))
    np.testing.assert_allclose(np.exp(known.answerer.log_proba(asked)[0]), exact, atol=1e-3)


def test_a_few_rows_need_no_other_package_than_numpy(model, tmp_path):
    model.save(tmp_path)
    code = (
        "import sys, ast; from untwin import AnswerModel; model = AnswerModel.load(sys.argv[1]);"
        "model.predict_all(ast.literal_eval(sys.argv[2]), top=2);"
        "names = ('sklearn', 'scipy', 'polars', 'narwhals', 'pandas', 'numba', 'joblib', 'pyarrow');"
        "print([name for name in names if name in sys.modules])"
    )
    command = [sys.executable, "-c", code, tmp_path, repr(table(FEW, 3)[0])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_reader_of_frames_is_that_of_the_encoder(model):
    known, answerer = model.state_, model.state_.answerer
    frame = pl.DataFrame(table(150, 4)[0]).select(answerer.names)
    entries = answerer.entries(read_cells(answerer.columns, frame))
    dense = known.terms(frame).toarray()
    found = np.zeros(dense.shape)
    found[entries.rows, entries.terms] = entries.values / 2**14
    of_terms = np.repeat(answerer.factors, [column.size for column in answerer.columns])
    np.testing.assert_allclose(found * of_terms, dense, atol=3e-3 * of_terms.max())
