"""One text or many, in whole numbers: the same bits, and the answers of the models they were made from."""

from __future__ import annotations

import pickle
import subprocess
import sys
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.answer.conftest import tickets

from untwin import UntwinClassifier
from untwin.answer.layers import FEW
from untwin.model.answering import compile_state

ASKED = [
    "the courier is late",
    "printer jam, paper!",
    "",
    "zzz qqq",
    "PASSWORD password PassWord locked",
    "refund refund refund refund of a bill",
    "Grüße: l'été à la délivery\u0301",
]


def test_many_texts_get_the_bits_that_one_gets(model):
    answerer = model.state_.answerer
    assert answerer is not None
    asked = [*ASKED, *tickets(4, 2 * FEW)[0]]
    many, mute = answerer.log_proba(asked)
    for row, text in enumerate(asked):
        one, silent = answerer.log_proba([text])
        np.testing.assert_array_equal(one[0], many[row])
        assert silent[0] == mute[row]
    assert mute.tolist()[2:4] == [True, True]


@settings(max_examples=30, deadline=None)
@given(asked=st.lists(st.text(st.sampled_from("printer bill fee Été.\u0301 "), max_size=40), min_size=1, max_size=9))
def test_so_do_any_texts(any_model, asked):
    few, _ = any_model.log_proba(asked)
    many, _ = any_model.log_proba(asked + ["bill"] * FEW)
    np.testing.assert_array_equal(few, many[: len(asked)])


@pytest.fixture(scope="module")
def any_model():
    return UntwinClassifier(preset="fast").fit(*tickets(4)).state_.answerer


def test_at_full_precision_it_answers_as_the_ensemble(model):
    known = model.state_
    asked = [*ASKED[:2], *ASKED[4:]]
    exact = known.ensemble.log_proba(known.terms(known.view.encode(asked)))
    found, _ = compile_state(known, "full").log_proba(asked)
    np.testing.assert_allclose(np.exp(found), np.exp(exact), atol=3e-3)
    rough, _ = known.answerer.log_proba(asked)
    np.testing.assert_allclose(np.exp(rough), np.exp(exact), atol=0.03)


def test_a_text_without_a_known_term_gets_the_shares_of_the_classes(model):
    shares = np.unique(model.state_.y, return_counts=True)[1] / len(model.state_.y)
    np.testing.assert_allclose(model.predict_proba(["zzz"])[0], shares, rtol=1e-5)


def test_a_model_that_has_answered_can_still_be_pickled_and_copied(model):
    before = model.predict_proba(ASKED)
    for again in (pickle.loads(pickle.dumps(model)), deepcopy(model)):
        np.testing.assert_array_equal(again.predict_proba(ASKED), before)


def test_a_few_texts_need_no_other_package_than_numpy_and_a_stemmer():
    code = """
import sys, numpy as np
from untwin.answer.answerer import TextAnswerer
from untwin.answer.counting import Vocabulary
from untwin.answer.fixed_point import PackedWeights
from untwin.answer.terms import TermReader
weights = PackedWeights(np.array([0, 1, 2]), np.array([0, 1], np.uint8), np.array([127, 127], np.int8), 2)
reader = Vocabulary(TermReader("word", 1, 1, "english"), ["bill", "paper"], np.array([0, 1]))
answerer = TextAnswerer(vocabularies=(reader,), idf=np.array([1024, 1024]), block_of=np.zeros(2, np.int8),
    weights=weights, scale=np.full(2, 0.1), offset=np.zeros((1, 2)), intercept=np.zeros((1, 2)),
    by_length=np.array([False]), second=None, temperature=1.0, slope=1.0, shift=0.0,
    shares=np.log([0.5, 0.5]), count_many=None)
assert answerer.log_proba(["bills", "papers"])[0].argmax(axis=1).tolist() == [0, 1]
print(sorted({"sklearn", "scipy", "polars", "pandas", "numba", "joblib"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
