"""`TextBlocks`: the counts of several ways side by side, terms that come later, and the way to a file and back."""

from __future__ import annotations

import json
from copy import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import hstack

from untwin import TextCounts
from untwin.data.counts import EmptyVocabularyError
from untwin.data.text_blocks import TextBlocks
from untwin.model.saving.arrays import ArrayReader, ArrayWriter
from untwin.model.saving.decode import Decoder
from untwin.model.saving.encode import Encoder
from untwin.represent.text_features import TextFeatures

OLD = ["the cat sat", "a dog sat", "cats and dogs", ""]
NEW = ["a zebra sat", "zebras!", "the cat"]
WAYS = [TextCounts(ngram_range=(1, 2)), TextCounts(analyzer="char_wb", ngram_range=(3, 3)), TextCounts(analyzer="char")]


def same(a, b):
    assert a.shape == b.shape
    np.testing.assert_array_equal(a.toarray(), b.toarray())


def test_side_by_side_is_what_each_way_counts():
    blocks = TextBlocks(WAYS)
    parts = [TextCounts(**way.get_params()).fit(OLD) for way in WAYS]
    same(blocks.fit_transform(OLD), hstack([part.transform(OLD) for part in parts]))
    same(blocks.transform(NEW), hstack([part.transform(NEW) for part in parts]))
    names = np.concatenate([part.get_feature_names_out() for part in parts])
    assert blocks.get_feature_names_out().tolist() == names.tolist()
    sizes = [len(part.terms_) for part in parts]
    runs = [
        " " in name and way.analyzer == "word" for way, part in zip(WAYS, parts, strict=True) for name in part.terms_
    ]
    assert blocks.block_of_.tolist() == (np.repeat([0, 2, 4], sizes) + runs).tolist()
    assert np.concatenate(blocks.columns_).tolist() == list(range(sum(sizes)))
    assert blocks.readable_.tolist() == (blocks.block_of_ < 2).tolist()
    assert not hasattr(WAYS[0], "terms_")  # what is given stays as it is


def test_where_only_characters_are_counted_they_can_be_read():
    assert TextBlocks(WAYS[1:]).fit(OLD).readable_.all()


def test_terms_that_come_later_follow_all_old_ones():
    blocks = TextBlocks(WAYS).fit(OLD)
    grown = copy(blocks).partial_fit(NEW)
    width = len(blocks.block_of_)
    same(grown.transform(OLD)[:, :width], blocks.transform(OLD))
    assert grown.transform(OLD)[:, width:].nnz == 0
    assert grown.get_feature_names_out()[:width].tolist() == blocks.get_feature_names_out().tolist()
    assert grown.block_of_[:width].tolist() == blocks.block_of_.tolist()
    assert {"zebra", "zebras", " ze", "z"} <= set(grown.get_feature_names_out()[width:])
    whole = TextBlocks(WAYS).fit(OLD + NEW)
    order = {(block, name): place for place, (block, name) in enumerate(terms(whole))}
    same(grown.transform(OLD + NEW), whole.transform(OLD + NEW)[:, [order[term] for term in terms(grown)]])
    assert grown.transform(NEW).has_sorted_indices
    assert len(blocks.block_of_) == width  # the copy has learnt, not this one


def terms(blocks):
    return list(zip(blocks.block_of_.tolist(), blocks.get_feature_names_out().tolist(), strict=True))


def test_several_times():
    blocks = TextBlocks(WAYS).partial_fit(OLD)  # the first call is fit
    assert terms(blocks) == terms(TextBlocks(WAYS).fit(OLD))
    for text in ("one owl", "two owls", "one owl"):
        before = terms(blocks)
        blocks.partial_fit([text])
        assert terms(blocks)[: len(before)] == before
    assert blocks.transform(["owl"]).sum() == 1 + 3 + 3  # a word, its trigrams, its characters


def test_a_way_that_finds_nothing_is_left_out():
    texts = ["+ -", "- -", "+"]
    blocks = TextBlocks(WAYS[:2]).fit(texts)
    assert [encoder.analyzer for encoder in blocks.encoders_] == ["char_wb"]
    same(blocks.transform(texts), TextCounts(analyzer="char_wb", ngram_range=(3, 3)).fit(texts).transform(texts))
    with pytest.raises(EmptyVocabularyError, match="Empty vocabulary"):
        TextBlocks(WAYS[:2]).fit(["", " "])


def test_no_texts_have_no_counts():
    assert TextBlocks(WAYS).fit(OLD).transform([]).shape == (0, TextBlocks(WAYS).fit_transform(OLD).shape[1])


@pytest.mark.parametrize("thing", [TextBlocks(WAYS).fit(OLD), TextBlocks(WAYS), TextFeatures(WAYS).fit(OLD)], ids=repr)
def test_to_a_file_and_back(thing):
    writer = ArrayWriter()
    tree = json.dumps(Encoder(writer).node(thing))
    again = Decoder(ArrayReader(writer.parts())).thing(json.loads(tree))
    assert repr(again) == repr(thing)
    if hasattr(thing, "get_feature_names_out") and "_" in "".join(vars(thing)):
        same(again.transform(OLD + NEW), thing.transform(OLD + NEW))
        assert again.get_feature_names_out().tolist() == thing.get_feature_names_out().tolist()
        assert again.readable_.tolist() == thing.readable_.tolist()


def test_one_that_has_learnt_comes_back_from_a_file_and_learns_on():
    blocks, writer = TextBlocks(WAYS).fit(OLD).partial_fit(NEW), ArrayWriter()
    tree = json.dumps(Encoder(writer).node(blocks))
    again = Decoder(ArrayReader(writer.parts())).thing(json.loads(tree))
    for each in (blocks, again):
        each.partial_fit(["one more word"])
    assert terms(again) == terms(blocks)
    same(again.transform(OLD + NEW), blocks.transform(OLD + NEW))


LETTERS = st.sampled_from("abAB é\u0301ñÉİΣσςßﬁ\u200d’'_-٣½Ⅷनम日本 \t\n\x1c\x1f\u00a0\u2028.,!")


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.text(LETTERS, max_size=25), min_size=1, max_size=6))
def test_texts_cut_once_hold_what_each_encoder_finds(many_ways, texts):
    """Encoders that share tokens count as each would alone; one with a pattern of its own reads texts itself."""
    alone = hstack([encoder.transform(texts) for encoder in many_ways.encoders_], format="csr")
    np.testing.assert_array_equal(many_ways.transform(texts).toarray(), alone.toarray())


@pytest.fixture(scope="module")
def many_ways():
    known = ["ab ba é a_b", "né ña -٣ ½ Ⅷ", "σς ßﬁ É\u0301 日本", "aa bb ab ab ba", "a b\tab\x1cba\u2028bb"]
    ways = [
        TextCounts(ngram_range=(1, 3), stemmer="english"),
        TextCounts(stop_words=["ab"]),
        TextCounts(analyzer="char_wb", ngram_range=(2, 4)),
        TextCounts(analyzer="char", ngram_range=(2, 2)),
        TextCounts(token_pattern=r"\w \w"),
    ]
    return TextBlocks(ways).fit(known)
