"""`TextCounts` against `CountVectorizer`, option by option, and what is its own."""

import pickle
import unicodedata
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from untwin import TextCounts
from untwin.data import ngrams, texts

# Few letters, so that words meet again; controls and separators, because that is where tokenisers differ.
ASCII = st.text(st.sampled_from("aabbcAB19__ \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x00.,'\"-"), max_size=40)
CORPORA = st.lists(ASCII, min_size=1, max_size=6)
ENOUGH = settings(max_examples=60, deadline=None)

OPTIONS = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "char", "char_wb"]),
        "ngram_range": st.tuples(st.integers(1, 4), st.integers(0, 2)).map(lambda pair: (pair[0], sum(pair))),
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "ascii", "unicode"]),
        "binary": st.booleans(),
        "min_df": st.sampled_from([1, 2, 0.3]),
        "max_df": st.sampled_from([1.0, 0.8, 5]),
        "max_features": st.sampled_from([None, 1, 3, 10]),
        "dtype": st.sampled_from([np.int64, np.float32]),
    }
)
WORD_OPTIONS = st.fixed_dictionaries(
    {
        "stop_words": st.sampled_from([None, "english", ["aa", "b1"]]),
        "token_pattern": st.sampled_from(
            [r"(?u)\b\w\w+\b", r"\w+", r"[ab]+", r"\b([ab])\w*", r"\S+", r"[ab ]+", r"(?i)A+", "a.b"]
        ),
    }
)


def outcome(vectorizer, corpus):
    """What fitting gives: the terms and the matrix, or that it refused."""
    try:
        counts = vectorizer.fit_transform(corpus)
    except ValueError:
        return "refused"
    return vectorizer.get_feature_names_out().tolist(), counts.toarray().tolist(), str(counts.dtype)


@ENOUGH
@given(CORPORA, OPTIONS)
def test_same_vocabulary_and_matrix_as_count_vectorizer(corpus, options):
    assert outcome(TextCounts(**options), corpus) == outcome(CountVectorizer(**options), corpus)


@ENOUGH
@given(CORPORA, WORD_OPTIONS, OPTIONS)
@pytest.mark.filterwarnings("ignore:Your stop_words may be inconsistent")
def test_same_words_as_count_vectorizer(corpus, words, options):
    options |= words | {"analyzer": "word"}
    assert outcome(TextCounts(**options), corpus) == outcome(CountVectorizer(**options), corpus)


@ENOUGH
@given(CORPORA, CORPORA, OPTIONS)
def test_transform_counts_known_terms_only(corpus, later, options):
    ours, theirs = TextCounts(**options), CountVectorizer(**options)
    if outcome(ours, corpus) != "refused":
        theirs.fit(corpus)
        assert ours.vocabulary_ == theirs.vocabulary_
        np.testing.assert_array_equal(ours.transform(later).toarray(), theirs.transform(later).toarray())


@ENOUGH
@given(CORPORA, OPTIONS, st.integers(1, 50))
def test_block_size_changes_nothing(corpus, options, size):
    whole = outcome(TextCounts(**options), corpus)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts.text_blocks, "__defaults__", (size,))
        assert outcome(TextCounts(**options), corpus) == whole


def grams_inside_words(text, shortest, longest):
    """The n-grams of a text's padded words, one by one; a word that is too short counts once as a whole."""
    for word in unicodedata.normalize("NFC", text).split():
        padded = f" {word} "
        for length in range(min(shortest, len(padded)), longest + 1):
            yield from (padded[start : start + length] for start in range(len(padded) - length + 1))
            if length < shortest:
                break


# Letters of one to four bytes, a mark that composes, spaces beyond ASCII, and two invisible characters that are none.
UNICODE = st.text(
    st.sampled_from("aabbé\u0301яΣ日🙂\u0130 \t\x1c\x1f\x85\xa0\u2003\u2028\u3000\u200b\ufeff"), max_size=30
)


@ENOUGH
@given(st.lists(UNICODE, min_size=1, max_size=6), st.integers(1, 5), st.integers(0, 2), st.integers(1, 50))
def test_characters_inside_words_are_those_of_a_literal_count(corpus, shortest, more, size):
    expected = [Counter(grams_inside_words(text, shortest, shortest + more)) for text in corpus]
    terms = sorted(set().union(*expected))
    counts = TextCounts(analyzer="char_wb", ngram_range=(shortest, shortest + more), lowercase=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(texts.text_blocks, "__defaults__", (size,))
        ours = outcome(counts, corpus)
        if terms:
            assert ours == (terms, [[row[term] for term in terms] for row in expected], "int64")
            assert counts.transform(corpus).has_canonical_format
        else:
            assert ours == "refused"


@ENOUGH
@given(st.lists(st.integers(0, 3) | st.integers(0, 2**64 - 1)))
def test_keys_are_numbered_as_unique_does_however_many_bits_they_have(keys):
    keys = np.array(keys, dtype=np.uint64)
    for ours, theirs in zip(ngrams._number(keys), np.unique(keys, return_inverse=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("vocabulary", [["cat", "dog", "a cat"], {"dog": 1, "cat": 0}, {"dog", "cat"}])
def test_given_vocabulary(vocabulary):
    corpus = ["A cat, a dog; the cat", "nothing here", "dog dog"]
    ours = TextCounts(vocabulary=vocabulary, ngram_range=(1, 2), token_pattern=r"\w+")
    theirs = CountVectorizer(vocabulary=vocabulary, ngram_range=(1, 2), token_pattern=r"\w+")
    np.testing.assert_array_equal(ours.transform(corpus).toarray(), theirs.transform(corpus).toarray())
    np.testing.assert_array_equal(ours.fit_transform(corpus).toarray(), theirs.fit_transform(corpus).toarray())
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_stems_are_those_of_stemming_every_word_after_stop_words():
    corpus = ["The running runners ran", "He connects connections and the connected", "running connects"]
    stemmer = Stemmer.Stemmer("english")
    plain = CountVectorizer(stop_words="english").build_analyzer()
    theirs = CountVectorizer(analyzer=lambda text: stemmer.stemWords(plain(text)))
    expected = theirs.fit_transform(corpus).toarray()
    ours = TextCounts(stop_words="english", stemmer="english")
    np.testing.assert_array_equal(ours.fit_transform(corpus).toarray(), expected)
    assert ours.vocabulary_ == theirs.vocabulary_


def test_bigrams_are_made_of_stems():
    counts = TextCounts(stemmer="english", ngram_range=(2, 2)).fit(["running dogs", "runs dog"])
    assert counts.get_feature_names_out().tolist() == ["run dog"]


CORPUS = ["one text", "another one", "and another"]


@pytest.mark.parametrize(
    "column",
    [
        CORPUS,
        tuple(CORPUS),
        iter(CORPUS),
        np.array(CORPUS),
        np.array(CORPUS, dtype=object),
        pl.Series(CORPUS),
        pl.Series(CORPUS, dtype=pl.Categorical),
        pd.Series(CORPUS, index=[5, 6, 7]),
        pd.Series(CORPUS, dtype="category"),
        pd.Series(CORPUS, dtype=object),
        pa.array(CORPUS),
        pa.chunked_array([CORPUS[:1], CORPUS[1:]]),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}",
)
def test_any_column_of_texts(column):
    expected = CountVectorizer().fit_transform(CORPUS).toarray()
    np.testing.assert_array_equal(TextCounts().fit_transform(column).toarray(), expected)


def test_composed_and_decomposed_accents_are_one_word():
    counts = TextCounts().fit(["caf\u00e9", "cafe\u0301"])
    assert counts.get_feature_names_out().tolist() == ["caf\u00e9"]
    assert len(CountVectorizer().fit(["caf\u00e9 au", "cafe\u0301 au"]).vocabulary_) == 3


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
        ("\u0130stanbul", ["i\u0307stanbul"]),
        ("half \u00bd m\u00b2", ["half", "m"]),
    ],
)
def test_differences_from_count_vectorizer_beyond_ascii_are_the_documented_ones(text, ours):
    """Marks belong to words, fractions and superscripts do not; Python has it the other way round."""
    assert TextCounts(token_pattern=r"\w+").fit([text]).get_feature_names_out().tolist() == ours
    assert CountVectorizer(token_pattern=r"\w+").fit([text]).get_feature_names_out().tolist() != ours


@pytest.mark.parametrize(
    "text", ["Ἀθήνα καὶ Σπάρτη ΟΔΟΣ", "Ünïcödé naïve ÅNGSTRÖM", "Привет мир", "日本語 の 文章", "ﬁnal ǅ ß"]
)
@pytest.mark.parametrize("strip_accents", [None, "ascii", "unicode"])
@pytest.mark.parametrize("analyzer", ["word", "char_wb"])
def test_many_scripts_agree_with_count_vectorizer(text, strip_accents, analyzer):
    options = {"strip_accents": strip_accents, "analyzer": analyzer}
    assert outcome(TextCounts(**options), [text, "ab"]) == outcome(CountVectorizer(**options), [text, "ab"])


def test_a_callable_can_strip_accents():
    counts = TextCounts(strip_accents=lambda text: text.replace("x", "y")).fit(["axa bxb"])
    assert counts.get_feature_names_out().tolist() == ["aya", "byb"]


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        (r"(?<=a)\w+", "(?<="),
        (r"\w+(?=x)", "(?="),
        (r"(?!a)\w+", "(?!"),
        (r"(a)\1", r"\1"),
        (r"[ab", "["),
        (r"\w*", "empty string"),
        (r"(a)(b)", "at most one capturing group"),
    ],
)
def test_patterns_that_cannot_be_run_are_named(pattern, named):
    with pytest.raises(ValueError, match="token_pattern must") as caught:
        TextCounts(token_pattern=pattern).fit(["ab"])
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("a lone string", "put it into a list"),
        (["fine", None], "row 1"),
        (["fine", float("nan")], "row 1"),
        (["fine", b"bytes"], "row 1"),
        (["fine", "fine", "\ud800"], "row 2 holds half a surrogate pair"),
        (pl.Series(["fine", None]), "row 1"),
        (pl.Series([1, 2]), "column of Int64"),
        (pd.Series(["fine", None, "x"]), "row 1"),
    ],
)
def test_bad_texts_are_named_by_row(bad, message):
    with pytest.raises(ValueError, match=message):
        TextCounts().fit(bad)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ngram_range": (2, 1)}, "min_n <= max_n"),
        ({"min_df": 3}, "no terms remain"),
        ({"min_df": 0.9, "max_df": 1}, "fewer documents than min_df"),
        ({"stop_words": ["one", "text", "another", "and"]}, "Empty vocabulary"),
        ({"stemmer": "klingon"}, "stemmer"),
        ({"vocabulary": []}, "must not be empty"),
        ({"vocabulary": ["a", "a"]}, "Duplicate term in vocabulary: 'a'"),
        ({"vocabulary": {"a": 0, "b": 2}}, "without gaps"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TextCounts(**options).fit(CORPUS)


def test_unfitted_says_so():
    with pytest.raises(NotFittedError):
        TextCounts().transform(CORPUS)


def test_lives_in_scikit_learn():
    counts = TextCounts(ngram_range=(1, 2), stemmer="english")
    assert clone(counts).get_params() == counts.get_params()
    fitted = pickle.loads(pickle.dumps(counts.fit(CORPUS)))
    np.testing.assert_array_equal(fitted.transform(CORPUS).toarray(), counts.transform(CORPUS).toarray())
    pipeline = make_pipeline(TextCounts(), LogisticRegression()).fit(CORPUS, ["a", "b", "b"])
    assert pipeline.predict(["one text"]).tolist() == ["a"]
    assert pipeline[:-1].get_feature_names_out().tolist() == ["and", "another", "one", "text"]


@pytest.mark.parametrize("interface", ["sparray", "spmatrix"])
def test_output_follows_the_sparse_interface_setting(interface):
    with config_context(sparse_interface=interface):
        ours, theirs = TextCounts().fit_transform(CORPUS), CountVectorizer().fit_transform(CORPUS)
    assert type(ours) is type(theirs)
    assert ours.indices.dtype == theirs.indices.dtype


def test_no_texts_at_transform():
    assert TextCounts().fit(CORPUS).transform([]).shape == (0, 4)


@pytest.mark.parametrize("text", ["", "unheard of", "w7 w299 w7 unknown w0", "w1 " * 50])
def test_a_few_words_are_looked_up_as_many_are(text):
    """A few are looked for among the terms, many are hashed: the counts are the same."""
    many = [f"w{number}" for number in range(600)]
    counts = TextCounts(token_pattern=r"\S+").fit(many)
    alone = counts.transform([text]).toarray()
    assert counts._column_of is None
    among = counts.transform([text, *many]).toarray()
    assert counts._column_of is not None
    np.testing.assert_array_equal(alone[0], among[0])
