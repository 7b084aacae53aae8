"""Paper 1's experiment on small made texts: what it compares, that it is fair, and that it does not leak."""

import numpy as np
import polars as pl
import pytest
from papers.datasets import LabelledTexts, equally_many, sprinkling_sets, subject_and_body
from papers.sprinkling.spaces import compared, halves, plans, run_sprinkling, trade_off
from scipy.stats import ttest_1samp

from untwin.tables.confusion import Confusion

WORDS = {"cat": "purr mouse sofa", "lynx": "purr mouse forest", "tram": "rail ticket stop", "bus": "road ticket stop"}


def made_texts(seed=0, n=40, order=()):
    """Texts of four words: three of their class or of any, one of noise."""
    rng = np.random.default_rng(seed)
    labels = [label for label in WORDS for _ in range(n)]
    noise = ["alpha", "beta", "gamma", "delta", "epsilon"]
    every = " ".join(WORDS.values()).split()
    texts = [" ".join([*rng.choice(WORDS[label].split() * 2 + every, 3), rng.choice(noise)]) for label in labels]
    return LabelledTexts("made", pl.Series(texts), pl.Series(labels), order=order)


@pytest.fixture(scope="module")
def results():
    return run_sprinkling([made_texts()], n_halves=3, dimensions=(2, 4), strengths=(1.0, 4.0), n_jobs=1)


def test_every_space_at_every_dimension_and_strength(results):
    spaces = results.group_by("space").agg(pl.struct("strength", "k").n_unique().alias("settings"))
    assert dict(spaces.rows()) == {"raw": 1, "lsi": 2, "uniform": 4, "adaptive": 4, "contrast": 4, "hierarchy": 4}
    assert set(results["classifier"]) == {"knn cosine", "knn euclidean", "svm", "svm, Crammer and Singer"}
    assert results["accuracy"].is_between(0, 1).all()
    assert len(results) == 3 * 4 * (1 + 2 + 4 * 4)


def test_sprinkling_helps_where_plain_lsi_has_too_few_dimensions(results):
    table = compared(results, "adaptive", "lsi").filter(pl.col("k") == 4, pl.col("classifier") == "knn cosine")
    assert (table["gain"] > 0).all()


def test_plans_are_compared_at_equal_trace():
    confusion = Confusion([[8, 2, 0], [4, 6, 0], [0, 1, 9]], ["a", "b", "c"])
    for order in ((), ("a", "b", "c")):
        found = list(plans(made_texts(order=order), confusion, (2.0,)))
        assert [plan.trace for _, plan in found if plan is not None] == pytest.approx([6.0] * 4)
        assert ("ordinal" in {plan.kind for _, plan in found if plan is not None}) == bool(order)


def test_the_interval_is_that_of_a_paired_t_test(results):
    row = compared(results, "adaptive", "uniform").row(0, named=True)
    one = pl.all_horizontal(*(pl.col(name) == row[name] for name in ("set", "classifier", "strength", "k")))
    pairs = results.filter(one).pivot("space", index="half", values="accuracy")
    interval = ttest_1samp((pairs["adaptive"] - pairs["uniform"]).to_numpy(), 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx(tuple(interval), nan_ok=True)


def test_terms_are_selected_without_the_test_half(monkeypatch):
    """A word that only occurs in test documents must never be selected while others are left."""
    monkeypatch.setattr("papers.sprinkling.spaces.N_TERMS", 8)
    texts = made_texts()
    for half in halves(texts, 3):
        assert half.X.shape[1] == 8
        assert (half.X.sum(axis=0) > 0).all()
        assert half.X.shape[0] == len(half.y) == len(half.y_test) == len(texts.texts) / 2


def test_shuffled_labels_give_chance():
    rng = np.random.default_rng(1)
    texts = made_texts(n=100)
    shuffled = LabelledTexts("made", texts.texts, pl.Series(rng.permutation(texts.labels.to_numpy())))
    found = run_sprinkling([shuffled], n_halves=2, dimensions=(4,), strengths=(4.0,), n_jobs=1)
    # 200 test rows, four equal classes: three standard deviations of a binomial
    assert (found["accuracy"] - 0.25).abs().max() < 3 * np.sqrt(0.25 * 0.75 / 200)


def test_more_sprinkling_separates_the_classes_and_loses_the_documents():
    rows = trade_off(made_texts(), strengths=(0.0, 1.0, 16.0))
    separation = [row["W/B"] for row in rows]
    error = [row["mean square error"] for row in rows]
    assert max(separation[1:]) < separation[0]
    assert error == sorted(error)


def test_equally_many_takes_what_the_smallest_class_has():
    frame = pl.DataFrame({"label": ["a"] * 5 + ["b"] * 3, "text": list("abcdefgh")})
    assert dict(equally_many(frame, seed=0)["label"].value_counts().rows()) == {"a": 3, "b": 3}
    assert equally_many(frame, seed=0).equals(equally_many(frame, seed=0))


def test_of_a_post_only_subject_and_body_are_left():
    post = "From: me\nSubject: Re: bikes\nOrganization: rec.motorcycles\n\nFirst line\n\nSecond"
    found = pl.DataFrame({"text": [post]}).select(subject_and_body(pl.col("text"))).item()
    assert found == "Re: bikes\nFirst line\n\nSecond"


def test_the_real_sets_are_the_papers(real_data):
    sets = {texts.name: texts for texts in sprinkling_sets(real_data)}
    assert {name: (texts.labels.n_unique(), len(texts.labels)) for name, texts in sets.items()} == {
        "hierarchical": (9, 4500),
        "ordinal": (4, 2000),
        "orthogonal": (3, 1122),
    }
