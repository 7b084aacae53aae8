"""Paper 4's experiments on small made tables: what they compare, that they are fair, and that they do not leak."""

import numpy as np
import polars as pl
import pytest
from papers.latent import mixed, tables
from papers.latent.noise import cubic, run_noise, toy_class_space
from papers.latent.tables import A_POSTERIORI, BOOSTING, N_FOLDS, PRINTED, folds, run_tables, summary
from papers.tables import PAPER_4, LabelledTable, read_labelled
from sklearn.dummy import DummyClassifier

from untwin._errors import InputError
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.latent.instances import LatentInstanceClassifier


def made_table(seed=0, n=120, labels=None):
    """A numeric column that tells three classes, one that does not, and a nominal one that helps."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    rows = pl.DataFrame(
        {
            "useful": codes + rng.normal(0, 0.4, n),
            "noise": rng.random(n),
            "kind": np.where(rng.random(n) < 0.8, codes == 0, codes != 0).astype(str),
        }
    )
    named = pl.Series([f"class {code}" for code in (codes if labels is None else labels)])
    return LabelledTable("made", rows, named, ("useful", "noise"), ("kind",))


def test_every_row_is_tested_once_and_classes_are_spread():
    table = made_table()
    parts = list(folds(table, 0))
    assert sorted(np.concatenate([part.test for part in parts])) == list(range(120))
    for part in parts:
        assert set(part.train).isdisjoint(part.test)
        assert (np.bincount(part.y_test) == 4).all()
        assert part.X.shape[0] == len(part.y) == 108
        assert part.X_test.shape == (12, part.X.shape[1])


def test_intervals_are_cut_without_the_test_rows():
    table = made_table(n=60)
    codes = np.arange(60) % 3
    differ = 0
    for inside, outside in zip(folds(table, 0), folds(table, 0, outside=True), strict=True):
        encoder = table.encoder().fit(table.rows[inside.train], codes[inside.train])
        assert (encoder.transform(table.rows[inside.test]) != inside.X_test).nnz == 0
        assert outside.test.tolist() == inside.test.tolist()
        differ += outside.X_test.shape != inside.X_test.shape or (outside.X_test != inside.X_test).nnz > 0
    assert differ


def test_chance_on_shuffled_labels_inside_folds():
    """Three standard deviations of the binomial; each row is tested once."""
    table = made_table(n=600, labels=np.random.default_rng(1).integers(0, 3, 600))
    contenders = {"LSI_ac": LatentClassClassifier(), "LSI_td": LatentInstanceClassifier(n_components=2)}
    found = run_tables([table], contenders, n_repetitions=1, n_jobs=1)
    mean = found.group_by("classifier").agg(pl.col("accuracy").mean())["accuracy"]
    assert ((mean - 1 / 3).abs() < 3 * np.sqrt(2 / 9 / 600)).all()


def test_one_outcome_a_fold_and_every_size_a_posteriori():
    contenders = {"most frequent": DummyClassifier(), "LSI_ac": LatentClassClassifier(), A_POSTERIORI: None}
    found = run_tables([made_table()], contenders, n_repetitions=2, n_jobs=1)
    single = found.filter(pl.col("classifier") != A_POSTERIORI)
    assert len(single) == 2 * N_FOLDS * 2
    every = found.filter(pl.col("classifier") == A_POSTERIORI, pl.col("repetition") == 0, pl.col("fold") == 0)
    assert every["k"].to_list() == list(range(1, every["rank"][0] + 1))
    means = {row["classifier"]: row["accuracy"] for row in summary(found).to_dicts()}
    assert means["most frequent"] < 0.4 < 0.75 < min(means["LSI_ac"], means[A_POSTERIORI])


def test_boosting_sees_the_columns_themselves():
    table = made_table(n=60)
    ((accuracy, k, rank),) = tables._judged(BOOSTING, None, table, next(folds(table, 0)))
    assert accuracy > 0.5
    assert (k, rank) == (0, 0)


def test_a_posteriori_is_the_model_of_that_size_at_its_best():
    table = made_table()
    found = run_tables([table], {A_POSTERIORI: None}, n_repetitions=1, n_jobs=1)
    by_size = found.group_by("k").agg(pl.col("accuracy").mean(), folds=pl.len()).filter(pl.col("folds") == N_FOLDS)
    best = summary(found).row(0, named=True)
    assert best["accuracy"] == pytest.approx(by_size["accuracy"].max())
    k = int(best["k"])
    again = run_tables([table], {"same": LatentInstanceClassifier(n_components=k)}, n_repetitions=1, n_jobs=1)
    assert again["accuracy"].to_list() == found.filter(pl.col("k") == k)["accuracy"].to_list()


def test_the_printed_table_is_whole():
    assert all(len(figures) == len(PAPER_4) for figures in (*PRINTED.values(), *tables.PRINTED_SPREADS.values()))
    assert len(tables.PRINTED_SIZES) == len(PAPER_4)


def test_noise_costs_what_it_must():
    rows = run_noise(n_splits=2, n_rows=400, noise=(0.0, 0.2), n_jobs=1)
    error = {(row["noise"], row["classifier"]): row["error"] for row in rows}
    clean = {(row["noise"], row["classifier"]): row["error without noise"] for row in rows}
    for name in ("LSI_td", "LSI_ac", "LSI_ac published"):
        assert error[0.0, name] == clean[0.0, name] < 25
        assert error[0.2, name] > 15 > error[0.0, name] - 10
        assert clean[0.2, name] < error[0.2, name]
        assert error[0.2, "LSI_td a posteriori"] <= error[0.2, "LSI_td"]


def test_the_cubic_is_a_cubic():
    line = np.linspace(-1, 1, 9)
    assert cubic(np.column_stack([line, line**3 + 0.01])).all()
    assert not cubic(np.column_stack([line, line**3 - 0.01])).any()


def test_in_the_toys_class_space_points_lie_on_the_side_of_their_class():
    rows = {row["point"]: row for row in toy_class_space()}
    vectors = np.array([[rows[f"class vector {c}"][axis] for axis in "xy"] for c in ("C1", "C2")])
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(2), atol=1e-12)
    for number, expected in ((1, "C1"), (2, "C2")):
        point = rows[f"test point {number}"]
        assert point["class"] == expected
        assert ("C1", "C2")[int(np.argmax(vectors @ [point["x"], point["y"]]))] == expected


def test_gains_of_both_over_either_alone():
    found = pl.DataFrame(
        [
            {"split": split, "classifier": "a", "columns": part, "accuracy": accuracy + 0.01 * split * (part == "both")}
            for split in range(3)
            for part, accuracy in (("text", 0.7), ("columns", 0.9), ("both", 0.8))
        ]
    )
    text, columns = mixed.gains(found)
    assert text["gain"] == pytest.approx(0.11)
    assert columns["gain"] == pytest.approx(-0.09)
    assert text["not below"]
    assert not columns["not below"]
    assert text["low"] < 0.11 < text["high"]


def test_mixed_columns_together_help():
    rng = np.random.default_rng(0)
    codes = np.arange(240) % 3
    words = np.array([["wool", "coat"], ["silk", "dress"], ["silk", "coat"]])
    texts = [" ".join(rng.choice([*words[code], "nice", "fine"], 3)) for code in codes]
    rows = pl.DataFrame(
        {
            "title": texts,
            "review_text": texts,
            "age": rng.normal(30 + 10 * (codes == 2), 4),
            "rating": rng.integers(1, 6, 240),
            "positive_feedback_count": rng.integers(0, 3, 240),
            "division": np.where(codes == 0, "general", "petite"),
            "recommended": rng.integers(0, 2, 240).astype(str),
        }
    )
    found = mixed.run_mixed(rows, pl.Series([f"class {code}" for code in codes]), n_splits=2)
    means = {
        (row["classifier"], row["columns"]): row["accuracy"]
        for row in found.group_by("classifier", "columns").agg(pl.col("accuracy").mean()).to_dicts()
    }
    for name in mixed.CONTENDERS:
        assert means[name, "both"] >= max(means[name, "text"], means[name, "columns"]) - 0.02


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(InputError, match="glass"):
        read_labelled(tmp_path, "glass")


def test_the_real_tables_are_the_papers(real_data):
    tables = {name: read_labelled(real_data, name) for name in PAPER_4}
    assert {name: (len(table.labels), table.labels.n_unique()) for name, table in tables.items()} == {
        "breast": (699, 2),
        "diabetes": (768, 2),
        "german": (1000, 2),
        "glass": (214, 6),
        "glass2": (163, 2),
        "heart": (270, 2),
        "iris": (150, 3),
        "vehicle": (846, 4),
    }
    assert {name: len(table.nominal) for name, table in tables.items() if table.nominal} == {"german": 13}
    assert mixed.read_reviews(real_data)[0].shape == (23472, 7)
