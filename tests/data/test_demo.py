"""The demo texts: many, clean, the same every time, and no text names its class."""

import polars as pl
import pytest

from untwin.data.demo import PACKAGES, demo_texts


@pytest.fixture(scope="module")
def texts():
    return demo_texts()


def test_thousands_of_texts_in_dozens_of_classes_of_twenty_or_more(texts):
    assert len(texts) > 4_000
    sizes = texts["label"].value_counts()
    assert 40 <= len(sizes) <= 70
    assert sizes["count"].min() >= 20


def test_near_twins_are_among_the_classes(texts):
    labels = set(texts["label"])
    twins = [("numpy", "numpy.ma"), ("scipy.fft", "scipy.fftpack"), ("polars.dataframe", "polars.lazyframe")]
    assert all(labels.issuperset(pair) for pair in twins)


def test_each_text_and_each_object_once(texts):
    assert texts["text"].n_unique() == len(texts)
    assert texts["id"].n_unique() == len(texts)


def test_only_public_objects(texts):
    assert not texts["id"].str.contains(r"\._").any()


def test_no_label_stands_in_any_text(texts):
    words = {word for label in texts["label"].unique() for word in label.split(".")} | set(PACKAGES)
    found = texts.filter(pl.col("text").str.contains(rf"(?i)\b(?:{'|'.join(words)})\b"))
    assert found["id"].to_list() == []


def test_no_code_examples(texts):
    assert not texts["text"].str.contains(">>>", literal=True).any()


def test_gathering_again_gives_the_same(texts):
    assert demo_texts().equals(texts)
