"""One row of a matrix or many, dense or CSR, in whole numbers: the same bits, and the answers of the models."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array, csr_matrix
from sklearn.preprocessing import FunctionTransformer

from untwin import UntwinClassifier
from untwin.answer.rows import rows_to_answer, to_whole
from untwin.answer.vectors import exact_bits
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.linear import LinearSVM, LogisticModel, NaiveBayes
from untwin.model.answering import compile_state
from untwin.model.selection import averages, select
from untwin.model.vector_answering import balance

N_COLUMNS = 12


def vectors(n_classes, n_rows=150, seed=0, sparse=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    X = np.abs(rng.normal(size=(n_rows, N_COLUMNS))) + 1.5 * np.eye(n_classes, N_COLUMNS)[y]
    if sparse:
        X *= rng.random(X.shape) < 0.3
        return csr_array(X), y
    return X, y


WAYS = ["svm", "two classes", "pair", "cosine", "logistic", "stack", "stack of two classes", "sparse", "sparse stack"]
OTHERS = {"pair": NaiveBayes(), "cosine": CentroidClassifier(), "logistic": LogisticModel()}


def fit(way):
    X, y = vectors(2 if "two" in way else 4, sparse="sparse" in way)
    with pytest.MonkeyPatch.context() as patch:
        if "stack" in way:
            patch.setattr(select.Trials, "_is_ahead", lambda *_: True)
            patch.setattr(select.Trials, "_is_better", lambda *_: True)
            patch.setattr(averages.Averages, "grow", lambda self: [self._candidates[-1]])
        if way in OTHERS:
            patch.setattr(select.Trials, "_try_stack", lambda _: None)
            patch.setattr(averages.Averages, "_is_better", lambda *_: True)
            models = {"linear SVM": LinearSVM(), "other": OTHERS[way]}
            patch.setattr(select, "first_stage", lambda *_: models)
        return UntwinClassifier(preset="fast" if way == "svm" else "balanced").fit(X, y)


@pytest.fixture(scope="module", params=WAYS)
def model(request):
    fitted = fit(request.param)
    name = fitted.candidates_[0].name
    assert "stack" not in request.param or name == "stack"
    assert request.param not in OTHERS or " + " in name
    return fitted


def test_many_rows_get_the_bits_that_one_gets_dense_or_sparse(model):
    answerer = model.state_.answerer
    asked, _ = vectors(4, 5000, seed=1)
    asked[::2] *= np.random.default_rng(2).random(asked[::2].shape) < 0.4
    asked[3] = 0
    many, mute = answerer.log_proba(asked)
    assert not mute.any()
    np.testing.assert_array_equal(answerer.log_proba(csr_array(asked))[0], many)
    np.testing.assert_array_equal(answerer.log_proba(csr_matrix(asked[:90]))[0], many[:90])
    np.testing.assert_array_equal(answerer.log_proba(np.asfortranarray(asked[:777]))[0], many[:777])
    for row in [*range(20), 4095, 4096, 4999]:
        np.testing.assert_array_equal(answerer.log_proba(asked[row : row + 1])[0][0], many[row])
        np.testing.assert_array_equal(answerer.log_proba(csr_array(asked[row : row + 1]))[0][0], many[row])


@settings(max_examples=60, deadline=None)
@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.just(N_COLUMNS)), elements=st.floats(-1e38, 1e38)),
    way=st.sampled_from(["stack", "cosine", "pair"]),
)
def test_any_numbers_are_answered_alike(any_models, X, way):
    answerer = any_models[way].state_.answerer
    many, _ = answerer.log_proba(np.vstack([X, np.ones((70, N_COLUMNS))]))
    assert not np.isnan(many).any()
    for row, found in zip(X, many, strict=False):
        np.testing.assert_array_equal(answerer.log_proba(row[np.newaxis])[0][0], found)
        np.testing.assert_array_equal(answerer.log_proba(csr_array(row[np.newaxis]))[0][0], found)
    np.testing.assert_allclose(any_models[way].predict_proba(X).sum(axis=1), 1.0)


@pytest.fixture(scope="module")
def any_models():
    return {way: fit(way) for way in ("stack", "cosine", "pair")}


def test_it_answers_as_the_ensemble(model):
    known = model.state_
    asked, _ = vectors(4, 400, seed=3, sparse=not isinstance(known.view.rows, np.ndarray))
    exact = known.ensemble.log_proba(asked)
    full, _ = compile_state(known, "full").log_proba(asked)
    np.testing.assert_allclose(np.exp(full), np.exp(exact), atol=1e-3)
    first, second = np.sort(exact, axis=1)[:, -1:-3:-1].T
    clear = first - second > 1e-3
    np.testing.assert_array_equal(full.argmax(axis=1)[clear], exact.argmax(axis=1)[clear])
    np.testing.assert_allclose(np.exp(known.answerer.log_proba(asked)[0]), np.exp(exact), atol=5e-3)
    small, _ = compile_state(known, "small").log_proba(asked)
    assert (small.argmax(axis=1) == exact.argmax(axis=1)).mean() > 0.97


def test_columns_may_differ_in_size_by_any_factor():
    X, y = vectors(4, 300)
    sizes = 2.0 ** np.arange(-24, 24, 4)
    model = UntwinClassifier(preset="fast").fit(X * sizes, y)
    exact = model.state_.ensemble.log_proba(X * sizes)
    found, _ = model.state_.answerer.log_proba(X * sizes)
    np.testing.assert_allclose(np.exp(found), np.exp(exact), atol=1e-3)


@pytest.mark.parametrize("size", [1e20, 1e-20, -1e20])
def test_large_and_small_rows_get_the_labels_of_the_ensemble(size):
    X, y = vectors(4, 300)
    model = UntwinClassifier(preset="fast").fit(X, y)
    exact = model.state_.ensemble.log_proba(X * size)
    np.testing.assert_array_equal(model.predict(X * size), model.classes_[exact.argmax(axis=1)])


def test_numbers_beyond_single_precision_are_refused(model):
    asked = np.ones((2, N_COLUMNS))
    for wrong in (1e39, -np.inf, np.nan):
        asked[1, 2] = wrong
        for rows in (asked, csr_array(asked)):
            with pytest.raises(ValueError, match=r"must hold numbers up to 3.4e\+38"):
                model.state_.answerer.log_proba(rows)
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                model.predict(rows)


def test_the_same_cell_twice_is_added_up():
    model = fit("sparse")
    asked = csr_array((np.array([0.75, 0.5, 1.0]), np.array([2, 2, 1]), np.array([0, 2, 3])), shape=(2, N_COLUMNS))
    answerer = model.state_.answerer
    np.testing.assert_array_equal(answerer.log_proba(asked)[0], answerer.log_proba(asked.toarray())[0])
    assert asked.nnz == 3


def test_a_training_row_is_answered_as_a_new_one(model):
    known = model.state_
    first = known.view.rows[:1]
    np.testing.assert_array_equal(
        known.log_proba_of_training_rows(np.zeros(1, dtype=np.intp)), known.log_proba(first)[0]
    )


def test_it_learns_on_and_can_be_pickled(model):
    asked, y = vectors(2, 20, seed=4, sparse=not isinstance(model.state_.view.rows, np.ndarray))
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict_proba(asked), model.predict_proba(asked))
    copied.add(asked, y)
    assert copied.state_.answerer is not None
    assert copied.state_.answerer is not model.state_.answerer


def test_rows_that_are_encoded_are_answered_by_their_ensemble():
    X, y = vectors(3)
    fitted = UntwinClassifier(preset="fast", encoder=FunctionTransformer()).fit(X, y)
    assert fitted.state_.answerer is None


def test_sums_of_whole_numbers_are_exact():
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(5, 300)) * 10.0 ** rng.integers(-9, 9, (5, 300)), rng.integers(-32767, 32768, (300, 4))
    rows = rows_to_answer(X)
    numbers, unit = to_whole(rows, rows.values, exact_bits(300) - 15)
    literal = [[sum(int(a) * int(b) for a, b in zip(row, column, strict=True)) for column in W.T] for row in numbers]
    assert (numbers @ W.astype(np.float64)).tolist() == literal
    assert (np.abs(numbers * unit[:, np.newaxis] - X) <= unit[:, np.newaxis] / 2).all()


def test_balanced_weights_are_the_weights():
    W = np.random.default_rng(0).normal(size=(30, 5)) * 10.0 ** np.arange(-15, 15)[:, np.newaxis]
    balanced, scale = balance(W)
    np.testing.assert_array_equal(balanced * scale[:, np.newaxis], W)
    assert np.ptp(np.log2(np.abs(balanced).max(axis=1))) < 10
