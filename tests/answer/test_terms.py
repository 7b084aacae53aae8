"""A few texts read in Python hold the terms that Polars finds in them."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untwin.answer.terms import TermReader, clean, find_words, is_known
from untwin.data.counts import EmptyVocabularyError, TextCounts

READERS = [
    TermReader("word", 1, 1),
    TermReader("word", 1, 2, "english"),
    TermReader("word", 2, 3),
    TermReader("char_wb", 3, 3),
    TermReader("char_wb", 5, 5),
    TermReader("char_wb", 2, 4),
    TermReader("char", 1, 3),
]


def by_polars(reader, text):
    counts = TextCounts(analyzer=reader.analyzer, ngram_range=(reader.shortest, reader.longest), stemmer=reader.stemmer)
    try:
        X = counts.fit_transform([text])
    except EmptyVocabularyError:
        return Counter()
    return Counter(dict(zip(counts.get_feature_names_out().tolist(), X.toarray()[0].tolist(), strict=True)))


LETTERS = st.sampled_from("abAB é\u0301\u0308ñÉİIıΣσςßﬁ\u200d\u200c’'_-٣³½Ⅷⓐनमस्तेไทย日本語한국 \t\n\x1c\u00a0\u2028.,!")
TEXTS = st.one_of(
    st.text(LETTERS, max_size=30),
    st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=20),
    st.text(st.sampled_from("The cats ARE running, 2x! _a"), max_size=60),
)


@pytest.mark.parametrize("reader", READERS, ids=str)
@given(text=TEXTS)
def test_terms_are_those_of_polars(reader, text):
    assert Counter(reader.read(clean(text))) == by_polars(reader, text)


def test_every_character_that_python_knows_is_in_words_or_not_as_in_rust():
    known = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
    asked = [clean(f"a{character}b") for character in known]
    counts = TextCounts(lowercase=False)
    X = counts.fit_transform(asked)
    names = counts.get_feature_names_out()
    found = [set(names[X.indices[start:stop]]) for start, stop in zip(X.indptr, X.indptr[1:], strict=False)]
    wrong = [text for text, words in zip(asked, found, strict=True) if set(find_words(text)) != words]
    assert wrong == []


def test_a_character_that_python_does_not_know_is_said():
    unassigned = next(chr(code) for code in range(0x30000, 0x40000) if unicodedata.category(chr(code)) == "Cn")
    assert is_known("plain")
    assert is_known("Grüße, नमस्ते")
    assert not is_known(f"a {unassigned}")
