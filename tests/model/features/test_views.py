"""How rows become numbers: the ways texts are counted, the columns of a frame, and C."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

from untwin import MDLPDiscretizer, TableEncoder, TextCounts
from untwin.crossfit.folds import exclude_small_classes
from untwin.crossfit.together import SharedFolds
from untwin.data.numbers import NumbersAndIntervals
from untwin.model import UntwinClassifier
from untwin.model.features.choose import make_view
from untwin.model.features.text_encoders import text_encoders
from untwin.model.selection.candidates import DataProfile, linear_svm
from untwin.model.selection.sampling import shared_folds
from untwin.model.selection.strength import STRENGTHS, choose_strength


def test_short_texts_are_counted_by_stems_and_characters_long_ones_by_stems(texts, labels):
    assert list(text_encoders(texts, 2)) == ["stems and pairs", "characters"]
    assert list(text_encoders([" ".join(texts)], 2)) == ["stems and pairs"]
    assert list(text_encoders([" ".join(texts)], 100)) == ["stems and pairs", "words"]
    assert list(text_encoders([". , " * 1000], 2)) == ["stems and pairs", "characters"]  # long, and without words
    view = make_view(texts, np.unique(labels, return_inverse=True)[1], kind="texts", encoder=None)
    assert view.name == "stems and pairs and characters"
    assert view.encoder.readable_.sum() == len(view.encoder.encoders_[0].terms_)


@pytest.mark.parametrize(("length", "run"), [(40, 3), (299, 3), (300, 5), (899, 5), (900, None)])
def test_longer_texts_have_longer_runs_of_characters(length, run):
    """By the average: one text is longer by as much as another is shorter."""
    text = "red bus " * 200
    found = text_encoders([text[: length + 30], text[: length - 30]], 2).get("characters")
    assert (None if found is None else found.ngram_range) == (None if run is None else (run, run))


def test_a_given_encoder_is_followed(texts, labels):
    codes = np.unique(labels, return_inverse=True)[1]
    view = make_view(texts, codes, kind="texts", encoder=TextCounts(ngram_range=(1, 2)))
    assert view.name == "given encoder"
    assert view.encoder.encoders_[0].ngram_range == (1, 2)


def test_new_words_become_new_columns_after_all_old_ones(texts, labels):
    codes = np.unique(labels, return_inverse=True)[1]
    view = make_view(texts, codes, kind="texts", encoder=None)
    grown = view.grow(["entirely unheard of"])
    width = view.rows.shape[1]
    assert grown.rows.shape[0] == len(texts) + 1
    np.testing.assert_array_equal(grown.rows[: len(texts), :width].toarray(), view.rows.toarray())
    assert grown.rows[: len(texts), width:].nnz == 0
    assert grown.encoder.get_feature_names_out()[:width].tolist() == view.encoder.get_feature_names_out().tolist()
    assert "unheard" in grown.encoder.get_feature_names_out()[width:]
    assert grown.preprocessing.block_of.tolist() == grown.encoder.block_of_.tolist()
    np.testing.assert_array_equal(grown.encode(texts[:5]).toarray(), grown.rows[:5].toarray())


def without_words(kind, n=60):
    """Texts of which no word of two letters or more tells the class, since there is none."""
    rng = np.random.default_rng(0)
    signs = {"emoji": ("😀😃😄", "🚗🚕🚙"), "letters": ("abc", "xyz"), "code": ("+-*", "()[")}[kind]
    labels = np.array(["one", "two"])[np.arange(n) % 2]
    return [" ".join(rng.choice(list(signs[row % 2]), 4)) for row in range(n)], labels


@pytest.mark.parametrize("preset", ["fast", "balanced"])
@pytest.mark.parametrize("kind", ["emoji", "letters", "code"])
def test_texts_without_words_are_counted_by_characters(kind, preset):
    texts, labels = without_words(kind)
    model = UntwinClassifier(preset=preset).fit(texts, labels)
    assert [encoder.analyzer for encoder in model.state_.view.encoder.encoders_] == ["char_wb"]
    assert model.scores_["accuracy"] > 0.95
    assert not model.without_evidence(texts).any()
    assert str(model.explain(texts[:1])[0])


def test_texts_that_hold_nothing_are_refused():
    with pytest.raises(ValueError, match="Empty vocabulary"):
        UntwinClassifier().fit(["", " "] * 10, np.arange(20) % 2)


def test_a_script_without_spaces_is_read_by_characters(texts, labels):
    chinese = [text.translate({ord(c): chr(0x4E00 + ord(c)) for c in text if c != "!"}) for text in texts]
    assert list(text_encoders(chinese, 2)) == ["characters"]
    mixed = [ours if row % 20 < 9 else theirs for row, (ours, theirs) in enumerate(zip(chinese, texts, strict=True))]
    assert UntwinClassifier(preset="fast").fit(mixed, labels).scores_["accuracy"] > 0.8


def test_c_is_the_one_that_does_best_on_a_fold(texts, labels):
    codes = np.unique(labels, return_inverse=True)[1]
    parts = shared_folds(texts, codes, 5)
    view = make_view(texts, codes, kind="texts", encoder=None)
    folds = exclude_small_classes(codes, np.arange(len(codes)), parts)[0]
    fold = SharedFolds(view.rows, codes, codes.max() + 1, folds, parts, view.preprocessing).prepare(0)
    now = DataProfile.of(fold.train, 4, seed=0)

    def accuracy(C):
        return linear_svm(now, C).fit(fold.train, fold.codes).score(fold.asked, fold.truth)

    assert accuracy(choose_strength(fold, now)) == max(map(accuracy, STRENGTHS))


def test_texts_of_a_frame_are_counted_as_texts_alone_are():
    frame = pl.DataFrame({"text": ["a red bus", "two cars", "a slow train"] * 20, "colour": ["red", "blue"] * 30})
    codes = np.arange(60) % 3
    encoder = make_view(frame, codes, kind="frame", encoder=TableEncoder(text="text", nominal="colour")).preprocessing
    assert [way.analyzer for way in encoder.counts.encoders] == ["word", "char_wb"]
    given = TableEncoder(text="text", counts=TextCounts())  # somebody said how
    assert make_view(frame, codes, kind="frame", encoder=given).preprocessing.counts.analyzer == "word"
    fitted = encoder.fit(frame, codes)
    readable = fitted.get_feature_names_out()[fitted.readable_].tolist()
    assert "bus" in readable
    assert " bu" not in readable
    assert "colour=red" in readable


@pytest.mark.parametrize("preset", ["fast", "balanced"])
@pytest.mark.parametrize("kind", ["emoji", "letters", "code"])
def test_texts_without_words_in_a_frame(kind, preset):
    texts, labels = without_words(kind, 120)
    frame = pl.DataFrame({"text": texts, "colour": ["red", "blue", "grey"] * 40})
    model = UntwinClassifier(preset=preset, encoder=TableEncoder(text="text", nominal="colour")).fit(frame, labels)
    assert model.scores_["accuracy"] > 0.95
    assert model.predict(frame[:2]).tolist() == labels[:2].tolist()


@pytest.mark.parametrize("counts", [None, TextCounts()])
def test_a_column_that_holds_no_texts_is_named(counts):
    frame, y = pl.DataFrame({"vector": [[1.0, 2.0]] * 20}), np.arange(20) % 2
    with pytest.raises(ValueError, match="Column 'vector' must hold texts"):
        UntwinClassifier(preset="fast", encoder=TableEncoder(text="vector", counts=counts)).fit(frame, y)


def test_numbers_of_a_frame_are_seen_as_intervals_and_as_they_are():
    X, y = load_iris(return_X_y=True)
    frame = pl.DataFrame({"length": X[:, 2], "width": X[:, 3], "colour": ["red", "blue"] * 75})
    encoder = make_view(frame, y, kind="frame", encoder=None).preprocessing
    assert isinstance(encoder.discretizer, NumbersAndIntervals)
    names = encoder.fit(frame, y).get_feature_names_out().tolist()
    assert {"length", "width", "colour=red"} <= set(names)
    assert any(name.startswith("length <") for name in names)
    given = TableEncoder(numeric=["length"], discretizer=MDLPDiscretizer())  # somebody said how
    assert isinstance(make_view(frame, y, kind="frame", encoder=given).preprocessing.discretizer, MDLPDiscretizer)
