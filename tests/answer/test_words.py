"""Words as written, and the terms that they gave rise to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untwin.answer.terms import TermReader, clean
from untwin.answer.words import read_text

READERS = [
    TermReader("word", 1, 2, "english"),
    TermReader("word", 1, 1),
    TermReader("char_wb", 3, 5),
    TermReader("char_wb", 1, 2),
    TermReader("char", 1, 3),
]
TEXT = "Two RED buses; the red bus (l'été) :-) Été! a"


def lookup_of(reader, text):
    return reader, {term: column for column, term in enumerate(sorted(set(reader.read(clean(text)))))}


def by_word(reader, text, term):
    read = read_text(text, [(TermReader("word", 1, 1, "english"), {}), (reader, {term: 0})])
    shares = np.bincount(read.word, weights=read.share, minlength=len(read.words))
    return {read.words[word]: round(float(shares[word]), 3) for word in np.flatnonzero(shares)}


@pytest.mark.parametrize("reader", READERS, ids=str)
@given(text=st.text(st.sampled_from("aB é-.\u0301 \tx1_"), max_size=30))
def test_counts_are_those_of_the_reader_and_shares_add_up(reader, text):
    expected = reader.read(clean(text))
    reader, column_of = lookup_of(reader, text)
    read = read_text(text, [(reader, column_of)])
    names = sorted(column_of, key=column_of.get)
    found = dict(zip(read.rows.columns.tolist(), read.rows.counts.tolist(), strict=True))
    assert {names[column]: count for column, count in found.items()} == {t: expected.count(t) for t in expected}
    np.testing.assert_allclose(np.bincount(read.entry, weights=read.share, minlength=len(found)), 1.0)


def test_terms_go_to_the_words_that_they_are_in():
    stems = TermReader("word", 1, 2, "english")
    assert by_word(stems, TEXT, "red") == {"RED": 1.0}
    assert by_word(stems, TEXT, "red buse") == {"RED": 0.5, "buses": 0.5}
    assert by_word(stems, TEXT, "été") == {"été": 1.0}  # as where it is first
    assert by_word(TermReader("char_wb", 3, 3), TEXT, "use") == {"buses": 1.0}
    assert by_word(TermReader("char_wb", 3, 3), TEXT, ":-)") == {":-)": 1.0}
    assert by_word(TermReader("char_wb", 3, 3), TEXT, " a ") == {"a": 1.0}
    assert by_word(TermReader("char_wb", 3, 3), "red/bus", "d/b") == {"red": 1.0}
    assert by_word(TermReader("char_wb", 3, 3), "red bus red", "red") == {"red": 1.0}


def test_terms_are_spelled_as_written():
    read = read_text("Blank Pages, blank pages", [lookup_of(TermReader("word", 1, 2, "english"), "blank pages")])
    assert read.rows.counts.tolist() == [2, 2, 2]
    assert [read.spell(entry) for entry in range(3)] == ["Blank", "Blank Pages", "Pages"]


def test_without_words_characters_are_words():
    read = read_text("緑色の電車", [lookup_of(TermReader("char", 1, 2), "電車")])
    assert sorted(read.words) == ["車", "電", "電車"]
