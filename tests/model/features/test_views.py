"""Choices made before candidates are compared: how texts are counted, and C."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

from untwin import MDLPDiscretizer, TableEncoder, TextCounts
from untwin.calibrate.top_class import UNCHANGED
from untwin.crossfit.outoffold import out_of_fold_confusion
from untwin.model import UntwinClassifier
from untwin.model.ensemble import Ensemble
from untwin.model.features.choose import choose_views
from untwin.model.features.view import View
from untwin.model.selection.comparison import Member
from untwin.model.selection.sampling import shared_folds
from untwin.model.selection.specs import DataProfile, baseline
from untwin.model.selection.strength import choose_strength
from untwin.model.state import drop_unused_views


def settled(texts, labels, preset="balanced"):
    codes = np.unique(labels, return_inverse=True)[1]
    parts = shared_folds(texts, codes, 5)
    chosen = {"kind": "texts", "encoder": None, "preset": preset, "n_jobs": None, "seed": 0}
    return choose_views(texts, codes, parts, **chosen), codes, parts


def told_by_order(n=400):
    """Texts of which only the order of two words tells the class."""
    rng = np.random.default_rng(0)
    rows = [[f"filler{word}" for word in rng.integers(0, 30, 4)] for _ in range(n)]
    labels = np.array(["ab", "ba"])[np.arange(n) % 2]
    return [" ".join([*row, label[0], label[1]]) for row, label in zip(rows, labels, strict=True)], labels


def test_pairs_of_words_are_counted_where_their_order_matters():
    texts, labels = told_by_order()
    texts = [text.replace(" a", " alpha").replace(" b", " beta") for text in texts]
    views, *_ = settled(texts, labels)
    assert len(views) == 2
    assert any("pairs" in view.name for view in views)


def test_the_fast_preset_counts_words_and_a_given_encoder_is_followed(texts, labels):
    assert [view.name for view in settled(texts, labels, "fast")[0]] == ["words"]
    codes = np.unique(labels, return_inverse=True)[1]
    given = choose_views(texts, codes, None, kind="texts", encoder=TextCounts(ngram_range=(1, 2)))
    assert [view.name for view in given] == ["given encoder"]


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
    views, *_ = settled(texts, labels, preset)
    assert [view.name for view in views] == ["characters"]
    model = UntwinClassifier(preset=preset).fit(texts, labels)
    assert model.scores_["accuracy"] > 0.95
    assert not model.without_evidence(texts).any()


def test_what_finds_nothing_to_count_is_passed_over():
    views, *_ = settled(["a b", "a c", "x y", "x z", "a word"] * 20, np.array(list("11223") * 20))
    assert "characters" in {view.name for view in views}
    with pytest.raises(ValueError, match="Empty vocabulary"):
        settled(["", " "] * 10, np.arange(20) % 2)


def test_a_second_script_without_spaces_is_read_too(texts, labels):
    chinese = [text.translate({ord(c): chr(0x4E00 + ord(c)) for c in text if c != "!"}) for text in texts]
    mixed = [ours if row % 20 < 9 else theirs for row, (ours, theirs) in enumerate(zip(chinese, texts, strict=True))]
    assert [view.name for view in settled(mixed, labels, "fast")[0]] == ["characters"]
    few = [*chinese[:8], *texts[8:]]  # a twentieth
    assert [view.name for view in settled(few, labels, "fast")[0]] == ["words"]


def test_c_is_the_one_that_does_best_on_two_folds(texts, labels):
    views, codes, parts = settled(texts, labels)
    plain = DataProfile.of(views, codes, preset="balanced", order=None, random_state=0)
    now = choose_strength(plain, views[0], codes, parts, None)

    def accuracy(C):
        model = views[0].model(baseline(replace(plain, C=C)))
        return out_of_fold_confusion(model, views[0].rows, codes, cv=np.where(parts < 2, parts, -1)).accuracy

    assert accuracy(now.C) == max(accuracy(C) for C in (1.0, 3.0, now.C))
    assert choose_strength(replace(plain, preset="fast"), views[0], codes, parts, None).C == 1.0


def test_a_view_that_neither_answers_nor_explains_is_not_kept():
    words, characters = (View(analyzer, None, TextCounts(analyzer=analyzer)) for analyzer in ("word", "char_wb"))
    for views, answering, kept in [
        ((words, characters), 0, [words]),
        ((words, characters), 1, [words, characters]),
        ((characters, words), 0, [characters, words]),
        ((characters, words), 1, [words]),
    ]:
        ensemble = Ensemble((Member("svm", answering, None, 1.0),), 1.0, np.array(["a", "b"]), UNCHANGED)
        found, same = drop_unused_views(views, ensemble)
        assert [view.name for view in found] == [view.name for view in kept]
        assert found[same.members[0].view] is views[answering]


def table_views(frame, y, encoder=None, preset="balanced"):
    how = {"preset": preset, "n_jobs": None, "seed": 0}
    return choose_views(frame, y, shared_folds(frame, y, 5), kind="frame", encoder=encoder, **how)


def test_texts_of_a_frame_are_counted_in_the_ways_that_serve_them_best():
    texts, labels = told_by_order()
    texts = [text.replace(" a", " alpha").replace(" b", " beta") for text in texts]
    codes = np.unique(labels, return_inverse=True)[1]
    frame = pl.DataFrame({"text": texts, "colour": ["red", "blue", "grey", "pink", "green"] * 80})
    views = table_views(frame, codes)
    ways = [view.preprocessing[0].counts[0].ngram_range for view in views]
    assert len(views) == 2
    assert (1, 2) in ways
    assert [view.name for view in table_views(frame, codes, preset="fast")] == ["columns"]
    assert UntwinClassifier().fit(frame, labels).scores_["accuracy"] > 0.9
    (given,) = table_views(frame, codes, TableEncoder(text="text", counts=TextCounts()))  # somebody said how
    assert given.preprocessing[0].counts.ngram_range == (1, 1)


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


def test_a_frame_of_long_texts_is_as_much_work_as_its_words():
    frame = pl.DataFrame({"text": ["some words that go on " * 50] * 10, "colour": ["red"] * 10})
    by_words, by_cells = (View("columns", frame, None, (TableEncoder(text=name),)) for name in ("text", ()))
    assert by_cells.n_numbers == 20
    assert by_words.n_numbers > 10 * 150


def test_numbers_of_a_frame_are_seen_as_intervals_and_as_they_are():
    X, y = load_iris(return_X_y=True)
    frame = pl.DataFrame(
        {"length": X[:, 2], "width": X[:, 3], "colour": ["red", "blue"] * 75, "note": ["so", "or so"] * 75}
    )

    def names(preset="balanced", **encoder):
        encoder = TableEncoder(**encoder) if encoder else None
        return [view.name for view in table_views(frame, y, encoder, preset)]

    assert names() == names("fast") == ["columns", "standardised numbers"]
    assert names(numeric=["length"], nominal="colour") == ["given encoder", "standardised numbers"]
    assert names(numeric=["length"], discretizer=MDLPDiscretizer()) == ["given encoder"]  # somebody said how
    assert names(nominal=["colour"]) == ["given encoder"]
    assert names(text=["note"], numeric=["length"]) == ["given encoder", "words and pairs, standardised numbers"]
    assert names(text=["note"], numeric=["length"], counts=TextCounts()) == ["given encoder", "standardised numbers"]
    assert names("fast", text=["note"], numeric=["length"]) == ["given encoder"]  # texts would be counted twice
    seen = table_views(frame, y, None, "fast")[1].model(TableEncoder())[0].fit(frame, y)
    assert seen.get_feature_names_out()[:3].tolist() == ["length", "width", "colour=blue"]
