"""What words add to the log-odds: all of them add up, and a deleted word is missing by as much."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.answer.conftest import tickets

from untwin.answer.evidence import contributions_of_terms, contributions_of_words, log_odds, strongest_evidence
from untwin.answer.words import read_text

ASKED = [*tickets(4, 40)[0], "REFUNDS of refund-bills, printer's paper", "Grüße: a late parcel :-)"]


def score_of(answerer, text):
    rows = read_text(text, answerer.lookups).rows
    return answerer.layer_scores(rows)


def two_best(answerer, text):
    return np.argsort(-answerer.log_proba([text])[0][0])[:2].tolist()


def test_contributions_add_up_to_the_log_odds_but_for_the_intercepts(model):
    answerer = model.state_.answerer
    for text in ASKED:
        pair, read = two_best(answerer, text), read_text(text, answerer.lookups)
        by_word = contributions_of_words(answerer, read, *pair)
        np.testing.assert_allclose(by_word.sum(), contributions_of_terms(answerer, read.rows, *pair).sum())
        gained = log_odds(answerer, score_of(answerer, text), *pair)[0]
        gained -= log_odds(answerer, answerer.intercept[np.newaxis], *pair)[0]
        # A second stage leaves small probabilities out, at once: along the way there are steps.
        tolerance = 1e-9 if answerer.second is None else 0.25 * max(1.0, abs(gained))
        np.testing.assert_allclose(by_word.sum(), gained, atol=tolerance)


def test_log_odds_are_those_of_the_answer(model):
    answerer = model.state_.answerer
    for text in ASKED[:5]:
        first, second = two_best(answerer, text)
        (log_p,), _ = answerer.log_proba([text])
        found = log_odds(answerer, score_of(answerer, text), first, second)[0]
        assert found >= -1e-6
        if (answerer.slope, answerer.shift) == (1.0, 0.0):
            np.testing.assert_allclose(found, log_p[first] - log_p[second], atol=1e-4)


def test_a_deleted_word_is_missing(model):
    """The strongest word is among those whose deletion lowers the log-odds most; strong ones have the right sign."""
    answerer, agreed, strongest = model.state_.answerer, [], []
    for text in ASKED[:40]:
        pair, read = two_best(answerer, text), read_text(text, answerer.lookups)
        added = contributions_of_words(answerer, read, *pair)
        rest = [" ".join(w for w in text.split() if w.lower() != word.lower()) for word in read.words]
        whole = log_odds(answerer, score_of(answerer, text), *pair)[0]
        lost = np.array([whole - log_odds(answerer, score_of(answerer, one), *pair)[0] for one in rest])
        strongest.append(lost[added.argmax()] >= np.sort(lost)[-2:][0])
        strong = np.abs(added) > 0.3 * np.abs(added).max()
        agreed += (np.sign(added) == np.sign(lost))[strong].tolist()
    assert np.mean(strongest) > 0.85
    assert np.mean(agreed) > 0.85


@pytest.mark.parametrize("text", ["", "zzz", "\u0301"])
def test_nothing_known_says_nothing(model, text):
    read = read_text(text, model.state_.answerer.lookups)
    assert strongest_evidence(read.words, contributions_of_words(model.state_.answerer, read, 0, 1), 5) == ()


def test_words_are_as_written(model):
    (reason,) = model.explain(["REFUNDS, refunded: Printers"], top=9)
    assert {term for term, _ in reason.evidence.terms} <= {"REFUNDS", "Printers"}


def test_a_model_that_only_answers_explains_by_words_alone(model, tmp_path):
    from untwin import AnswerModel

    model.export(tmp_path / "small")
    small = AnswerModel.load(tmp_path / "small")
    for mine, theirs in zip(small.explain([*ASKED, ""], top=3), model.explain([*ASKED, ""], top=3), strict=True):
        assert mine == theirs._replace(neighbours=None)
    assert small.explain([""])[0].no_evidence
    code = f"""
import sys
from untwin import AnswerModel
assert AnswerModel.load({str(tmp_path / "small")!r}).explain(["printer jam"])[0].evidence.terms
print(sorted({{"sklearn", "polars", "pandas", "numba"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
