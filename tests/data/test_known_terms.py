"""Terms of a vocabulary looked up by compiled loops are those that `TextCounts` counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.answer.test_terms import READERS, TEXTS

from untwin.answer.counting import Vocabulary, count_few
from untwin.answer.terms import TermReader, is_known
from untwin.data import texts as texts_module
from untwin.data.counts import EmptyVocabularyError, TextCounts
from untwin.data.known_terms import KnownTerms

MORE = [*READERS, TermReader("char_wb", 4, 6), TermReader("char_wb", 5, 5), TermReader("char", 3, 3)]


def encoder_of(reader, learnt):
    counts = TextCounts(analyzer=reader.analyzer, ngram_range=(reader.shortest, reader.longest), stemmer=reader.stemmer)
    return counts.fit(learnt)


def dense(rows, width):
    assert len(
        {*zip(np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts)), rows.columns, strict=True)}
    ) == len(rows.columns)
    return csr_array((rows.counts, rows.columns, rows.starts), shape=(len(rows.starts) - 1, width)).toarray()


@pytest.mark.parametrize("reader", MORE, ids=str)
@settings(deadline=None)
@given(learnt=st.lists(TEXTS, min_size=1, max_size=4), asked=st.lists(TEXTS, max_size=4), kept=st.integers(1, 3))
def test_counts_are_those_of_text_counts(reader, learnt, asked, kept):
    try:
        encoder = encoder_of(reader, learnt)
    except EmptyVocabularyError:
        return
    asked = [*asked, *learnt]
    terms, width = encoder.terms_.to_list()[::kept], len(encoder.terms_)
    columns = np.arange(width)[::-1][: len(terms)]
    found = dense(KnownTerms((Vocabulary(reader, terms, columns),)).count(asked), width)
    wanted = np.zeros_like(found)
    wanted[:, columns] = encoder.transform(asked).toarray()[:, ::kept]
    np.testing.assert_array_equal(found, wanted)


@settings(deadline=None)
@given(learnt=st.lists(TEXTS, min_size=2, max_size=5), size=st.sampled_from([8, 64, 1 << 20]))
def test_several_vocabularies_and_blocks_are_counted_side_by_side(learnt, size):
    vocabularies, width = [], 0
    for reader in (TermReader("word", 1, 2, "english"), TermReader("char_wb", 2, 4), TermReader("char", 2, 2)):
        try:
            terms = encoder_of(reader, learnt).terms_.to_list()
        except EmptyVocabularyError:
            continue
        vocabularies.append(Vocabulary(reader, terms, np.arange(width, width + len(terms))))
        width += len(terms)
    asked = [text for text in learnt if is_known(text)]
    if not vocabularies:
        return
    few = count_few(asked, [one.lookup() for one in vocabularies])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts_module.text_blocks, "__defaults__", (size,))
        many = KnownTerms(tuple(vocabularies)).count(asked)
    np.testing.assert_array_equal(dense(many, width), dense(few, width))


def test_words_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr("untwin.data.known_terms.MOST_WORDS", 2)
    counter = KnownTerms((Vocabulary(TermReader("word", 1, 1, "english"), ["bus", "car"], np.array([0, 1])),))
    for _ in range(3):
        rows = counter.count(["A BUS and cars", "one car, another car"])
        assert dense(rows, 2).tolist() == [[1, 1], [0, 2]]


def test_a_vocabulary_without_a_term_and_no_texts_at_all():
    empty = Vocabulary(TermReader("word", 1, 1), [], np.empty(0, dtype=np.int64))
    words = Vocabulary(TermReader("word", 1, 1), ["bus"], np.array([0]))
    assert dense(KnownTerms((empty, words)).count(["a bus"]), 1).tolist() == [[1]]
    assert KnownTerms((words,)).count([]).starts.tolist() == [0]
