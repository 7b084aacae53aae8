"""`TextCounts` learning new terms: old columns stay where they are."""

from __future__ import annotations

import pytest

from untwin.data.counts import TextCounts

OLD = ["cat dog", "dog owl"]
NEW = ["zebra ant cat", "ant bee", "zebra ant"]


def test_new_terms_follow_the_old_ones():
    counts = TextCounts().fit(OLD).partial_fit(NEW)
    assert counts.get_feature_names_out().tolist() == ["cat", "dog", "owl", "ant", "bee", "zebra"]
    assert counts.transform(["owl ant ant unknown"]).toarray().tolist() == [[0, 0, 1, 2, 0, 0]]
    assert counts.vocabulary_["ant"] == 3


def test_the_first_call_is_fit():
    assert TextCounts().partial_fit(OLD).get_feature_names_out().tolist() == ["cat", "dog", "owl"]


@pytest.mark.parametrize(("min_df", "entering"), [(1, ["ant", "bee", "zebra"]), (2, ["ant", "zebra"]), (3, ["ant"])])
def test_a_new_term_enters_when_enough_texts_of_the_batch_contain_it(min_df, entering):
    counts = TextCounts(min_df=min_df).fit(OLD * 3).partial_fit(NEW)
    assert counts.get_feature_names_out().tolist() == ["cat", "dog", "owl", *entering]


def test_a_share_is_one_of_the_batch():
    counts = TextCounts(min_df=0.6).fit(["dog cat"]).partial_fit(NEW)
    assert counts.get_feature_names_out().tolist() == ["cat", "dog", "ant", "zebra"]


def test_max_features_limits_all_columns_and_the_most_frequent_enter_first():
    counts = TextCounts(max_features=4).fit(OLD).partial_fit(NEW)
    assert counts.get_feature_names_out().tolist() == ["cat", "dog", "owl", "ant"]
    assert len(counts.partial_fit(["horse"]).terms_) == 4


def test_a_given_vocabulary_does_not_grow():
    counts = TextCounts(vocabulary=["dog", "ant"]).partial_fit(OLD).partial_fit(NEW)
    assert counts.get_feature_names_out().tolist() == ["dog", "ant"]


def test_texts_without_words_teach_nothing():
    counts = TextCounts().fit(OLD).partial_fit(["", "?"])
    assert counts.get_feature_names_out().tolist() == ["cat", "dog", "owl"]


def test_batches_of_one_count_what_the_whole_counts():
    counts = TextCounts(ngram_range=(1, 2)).fit(OLD)
    for text in NEW:
        counts.partial_fit([text])
    whole = TextCounts(ngram_range=(1, 2)).fit(OLD + NEW)
    assert set(counts.terms_) == set(whole.terms_)
    order = [counts.vocabulary_[term] for term in whole.terms_]
    assert (counts.transform(NEW)[:, order] != whole.transform(NEW)).nnz == 0
