"""`TableEncoder`: every role, every kind of frame, and what goes wrong."""

from __future__ import annotations

import pickle
import sys
from datetime import date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.svm import LinearSVC

from untwin import TextCounts
from untwin._errors import InputError
from untwin.data.discretize import MDLPDiscretizer
from untwin.data.encode import TableEncoder
from untwin.data.frames import guess_uses, numeric_cells

NAN = float("nan")
LABELS = np.array(["winter", "summer"] * 20)
COLUMNS = {
    "review": ["warm wool coat", "thin summer dress", "wool jumper", None] * 10,
    "price": [120.0, 45.0, 80.0, None] * 10,
    "colour": ["grey", "red", "grey", None] * 10,
    "vector": [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]] * 10,
}
ROLES = {"text": ["review"], "numeric": ["price"], "nominal": ["colour"], "dense": ["vector"]}
FRAMES = {
    "polars": pl.DataFrame,
    "pandas": pd.DataFrame,
    "arrow": pa.table,
    "lists": dict,
    "arrays": lambda columns: {name: np.array(cells) for name, cells in columns.items()},
    "series": lambda columns: {name: pl.Series(cells) for name, cells in columns.items()},
}


@pytest.fixture(scope="module")
def frame():
    return pl.DataFrame(COLUMNS)


@pytest.fixture(scope="module")
def encoder(frame):
    return TableEncoder(**ROLES, block_weights=None).fit(frame, LABELS)


def test_one_matrix_of_named_terms(encoder, frame):
    """Each block is what its transformer makes of the column alone, side by side in the order of the frame."""
    X = encoder.transform(frame)
    texts = TextCounts()
    counts = texts.fit_transform([text or "" for text in COLUMNS["review"]])
    cut = MDLPDiscretizer()
    intervals = cut.fit_transform(frame.select("price"), LABELS)
    assert (X[:, encoder.blocks_["review"]] != counts).nnz == 0
    assert (X[:, encoder.blocks_["price"]] != intervals).nnz == 0
    assert X[:, encoder.blocks_["vector"]].toarray().tolist() == COLUMNS["vector"]
    colours = ["colour=grey", "colour=red", "colour=(missing)", "colour=(unseen)"]
    assert X[:4, encoder.blocks_["colour"]].toarray().tolist() == np.eye(4)[[0, 1, 0, 2]].tolist()
    names = [*texts.get_feature_names_out(), *cut.get_feature_names_out(), *colours, "vector: 0", "vector: 1"]
    assert encoder.get_feature_names_out().tolist() == names
    assert X.indices.dtype == X.indptr.dtype == np.int32
    assert X.dtype == np.float64
    assert (TableEncoder(**ROLES, block_weights=None).fit_transform(frame, LABELS) != X).nnz == 0


@pytest.mark.parametrize("kind", FRAMES)
def test_any_frame(encoder, frame, kind):
    same = FRAMES[kind](COLUMNS)
    assert (encoder.transform(same) != encoder.transform(frame)).nnz == 0
    fitted = clone(encoder).fit(same, LABELS)
    assert fitted.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()
    guessed = TableEncoder().fit(same, LABELS)
    assert [use.role for use in guessed.columns_] == ["text", "numeric", "nominal", "dense"]


def test_pandas_without_pyarrow(encoder, frame, monkeypatch):
    """The fast way from pandas to Polars needs pyarrow, which is no dependency of ours."""

    def refuse(_):
        raise ImportError("pyarrow is required")

    monkeypatch.setattr(sys.modules["narwhals"].stable.v2.Series, "to_polars", refuse)
    assert (encoder.transform(pd.DataFrame(COLUMNS)) != encoder.transform(frame)).nnz == 0


def test_columns_are_known_by_name(encoder, frame):
    backwards = frame.select(reversed(frame.columns))
    assert (encoder.transform(backwards) != encoder.transform(frame)).nnz == 0
    with pytest.warns(UserWarning, match=r"fit did not see; they are ignored: \['size'\]"):
        more = encoder.transform(frame.with_columns(size=1))
    assert (more != encoder.transform(frame)).nnz == 0
    with pytest.raises(InputError, match=r"columns \['colour'\].*Did you mean 'color'") as caught:
        encoder.transform(frame.rename({"colour": "color"}))
    assert caught.value.code == "missing-column"


def test_columns_without_a_role_may_come_and_go(frame):
    encoder = TableEncoder(nominal=["colour"]).fit(frame)
    assert [use.reason for use in encoder.columns_ if use.role == "unused"] == ["other columns are named"] * 3
    assert encoder.n_features_in_ == 4
    assert (encoder.transform(frame.select("colour")) != encoder.transform(frame)).nnz == 0


def test_texts_of_several_columns_are_told_apart():
    frame = pl.DataFrame({"title": ["wool coat", "dress"], "body": ["wool", "wool dress"]})
    encoder = TableEncoder(text=["title", "body"], block_weights=None).fit(frame)
    names = ["title: coat", "title: dress", "title: wool", "body: dress", "body: wool"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.transform(frame).toarray().tolist() == [[1, 0, 1, 0, 1], [0, 1, 0, 1, 1]]


def test_rare_unseen_and_missing_names():
    frame = pl.DataFrame({"town": ["Oslo", "Oslo", "Rome", "Bern", ""]})
    encoder = TableEncoder(nominal="town").fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["town=Oslo", "town=(rare)", "town=(missing)", "town=(unseen)"]
    new = pl.DataFrame({"town": ["Bern", "Oslo", None, "Paris"]})
    assert encoder.transform(new).toarray().argmax(axis=1).tolist() == [1, 0, 2, 3]
    complete = TableEncoder(nominal="town", min_count=1).fit(frame.head(4))
    assert complete.get_feature_names_out().tolist() == ["town=Bern", "town=Oslo", "town=Rome", "town=(unseen)"]
    assert complete.transform(new).toarray().argmax(axis=1).tolist() == [0, 1, 3, 3]


@pytest.mark.parametrize("cells", [[1.0, 2.0, None], [1, 2, None], ["1", "2", None], [1.0, 2.0, NAN]])
def test_a_name_is_a_name_whatever_its_type(cells):
    """A missing cell turns whole numbers into floats in pandas; the names must not change with it."""
    encoder = TableEncoder(nominal="floor", min_count=1).fit({"floor": [1, 2, 2]})
    assert encoder.transform({"floor": cells}).toarray().argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "cells", [["1.5", " 2", ""], [1.5, 2.0, NAN], [1.5, 2, None], pd.Categorical(["1.5", "2", None])]
)
def test_numbers_may_come_as_text(cells):
    encoder = TableEncoder(numeric="size").fit({"size": [1.5, 2.0, NAN] * 9}, [0, 1, 0] * 9)
    frame = pd.DataFrame({"size": cells})
    assert encoder.transform(frame).toarray().tolist() == np.eye(3).tolist()


def test_balanced_blocks_bring_the_same_length(frame):
    long = frame.with_columns(review=pl.lit("word " * 300) + pl.col("review").fill_null(""))
    encoder = TableEncoder(**ROLES)
    X = encoder.fit_transform(long, LABELS)
    for part in encoder.blocks_.values():
        assert np.square(X[:, part].data).sum() / X.shape[0] == pytest.approx(1)
    assert encoder.block_weights_["price"] == encoder.block_weights_["colour"] == 1
    assert encoder.block_weights_["review"] < 1 / 300


def test_given_block_weights(encoder, frame):
    weighted = clone(encoder).set_params(block_weights={"review": 0.5, "vector": 3}).fit(frame, LABELS)
    assert weighted.block_weights_ == {"review": 0.5, "price": 1.0, "colour": 1.0, "vector": 3.0}
    plain, X = encoder.transform(frame), weighted.transform(frame)
    for column, part in encoder.blocks_.items():
        assert (X[:, part] != weighted.block_weights_[column] * plain[:, part]).nnz == 0
    with pytest.raises(ValueError, match=r"block_weights must name columns that are used.*\['size'\]"):
        clone(encoder).set_params(block_weights={"size": 1}).fit(frame, LABELS)
    empty = TableEncoder(dense="vector").fit({"vector": np.zeros((3, 2))})
    assert empty.block_weights_ == {"vector": 1.0}


def test_configured_transformers_are_cloned(frame):
    counts = make_pipeline(TextCounts(stemmer="english"), TfidfTransformer())
    bins = KBinsDiscretizer(2, quantile_method="linear")
    encoder = TableEncoder(text="review", numeric="price", counts=counts, discretizer=bins, block_weights=None)
    X = encoder.fit_transform(frame.fill_null(strategy="zero"))
    assert encoder.get_feature_names_out()[-2:].tolist() == ["price_0.0", "price_1.0"]
    norms = np.square(X[:, encoder.blocks_["review"]].toarray()).sum(axis=1)
    np.testing.assert_allclose(norms, [1, 1, 1, 0] * 10)
    assert not hasattr(bins, "n_bins_")
    with pytest.raises(NotFittedError):
        counts.transform(["wool"])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([date(1970, 1, 1), date(1970, 1, 3)], [0.0, 2.0]),
        ([datetime(1970, 1, 1, 12), None], [0.5, None]),  # noqa: DTZ001
        (pl.Series([datetime(1970, 1, 1, 6), None], dtype=pl.Datetime("ns", "UTC")), [0.25, None]),  # noqa: DTZ001
        ([time(6), time(18)], [0.25, 0.75]),
        ([timedelta(days=-1), timedelta(hours=36)], [-1.0, 1.5]),
    ],
)
def test_dates_and_times_are_days(cells, expected):
    column = pl.Series("when", cells)
    assert numeric_cells(column)["when"].to_list() == expected
    (use,) = guess_uses(pl.DataFrame(column), None)
    varied = column.n_unique() > 1 and not column.has_nulls()
    assert (use.role, use.reason[:14]) == ("numeric" if varied else "unused", "dates as days:")


def test_guesses_come_with_reasons():
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 300)
    frame = pl.DataFrame(
        {
            "customer_id": range(300),
            "size": rng.normal(size=300),
            "agreed": rng.integers(0, 2, 300).astype(bool),
            "copy": y,
            "site": ["one"] * 300,
            "tags": [["x", "y"]] * 300,
            "remark": [f"sentence number {i} of the text" for i in range(300)],
        }
    )
    with pytest.warns(UserWarning, match="left out by guess: 'copy' .gives the label away.* To keep one, name"):
        uses = {use.name: use for use in TableEncoder().fit(frame, y).columns_}
    roles = {name: use.role for name, use in uses.items()}
    unused = dict.fromkeys(["copy", "site", "tags"], "unused")
    assert roles == {"customer_id": "id", "size": "numeric", "agreed": "nominal", **unused, "remark": "text"}
    assert uses["copy"].reason == "gives the label away: each of its values occurs with one class only"
    assert uses["site"].reason == "is constant"
    assert uses["tags"].code == "nested"
    without_labels = TableEncoder(discretizer=KBinsDiscretizer(quantile_method="linear")).fit(frame)
    assert {use.name: use.role for use in without_labels.columns_}["copy"] == "nominal"
    with pytest.raises(InputError, match=r"no column to learn from.*'site' is constant"):
        TableEncoder().fit(frame.select("site"), y)


def test_guessed_roles_can_be_settled_once_for_all_parts_of_the_rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 110)
    frame = pl.DataFrame({"ticket_id": range(110), "code": np.array(["k", "w"])[y], "size": rng.normal(size=110)})
    with pytest.warns(UserWarning, match="'code'"):
        settled = TableEncoder(min_count=3).with_named_roles(frame, y)
    assert (settled.text, settled.numeric, settled.nominal, settled.dense) == ([], ["size"], [], [])
    assert settled.min_count == 3
    part = settled.fit(frame.head(80), y[:80])  # too few rows to find that the code gives the label away
    assert list(part.blocks_) == ["size"]
    named = TableEncoder(nominal="code").with_named_roles(frame, y)
    assert (named.nominal, named.numeric) == ("code", ())


def test_reasons_and_warnings_name_no_option_of_the_command():
    y = np.arange(300) % 10
    cells = {
        "area": [f"area {i % 5}" for i in y],
        "size": ["1", "2", "x"] * 100,
        "place": [f"place{i}" for i in range(300)],
    }
    with pytest.warns(UserWarning, match="'area' .gives .*; 'size' .100 of 300 cells are not numbers") as caught:
        uses = TableEncoder().fit({**cells, "price": np.arange(300) % 7, "label": y % 3}, y).columns_
    said = [use.reason for use in uses] + [str(warning.message) for warning in caught]
    assert not any("--" in text for text in said)
    assert len(caught) == 1


def test_a_named_text_column_may_be_empty_in_a_part_of_the_rows(frame):
    remarks = frame.with_columns(remark=pl.lit(None, dtype=pl.String))
    encoder = TableEncoder(text=["remark"], nominal=["colour"]).fit(remarks)
    assert list(encoder.blocks_) == ["colour"]
    assert {use.name: use.reason for use in encoder.columns_}["remark"] == "is empty"


@pytest.mark.parametrize(
    ("roles", "cells", "message"),
    [
        ("numeric", [1.0, np.inf], "Column 'it' must hold finite numbers. Got inf in row 2 instead"),
        ("numeric", ["1", "many"], "Column 'it' must hold finite numbers. Got 'many' in row 2 instead"),
        ("numeric", [[1], [2]], "Column 'it' must hold numbers. Got a column of List"),
        ("text", [1, 2], "Column 'it' must hold texts. Got a column of Int64 instead. Name it in numeric"),
        ("text", ["", None], "Column 'it': Empty vocabulary"),
        ("nominal", [["a"], ["b"]], "Column 'it' must hold names or numbers. Got a column of List"),
        ("dense", [1.0, 2.0], "Column 'it' must hold vectors. Got a column of Float64"),
        ("dense", [[1.0], [2.0, 3.0]], r"Column 'it' must hold vectors of one length. Got .* in row 2"),
        ("dense", [[1.0], None], "Column 'it' must hold vectors of one length. Got None in row 2"),
        (
            "dense",
            [[1.0], [NAN]],
            "Column 'it' must hold vectors of finite numbers. Got a missing or infinite .* row 2",
        ),
    ],
)
def test_cells_that_cannot_be_read(roles, cells, message):
    with pytest.raises(InputError, match=message):
        TableEncoder(**{roles: ["it"]}).fit(pl.DataFrame({"it": cells}, strict=False), [0, 1])


def test_vectors_must_stay_as_long(encoder, frame):
    with pytest.raises(InputError, match=r"Column 'vector': Vectors must have 2 numbers, as in fit. Got 3 instead"):
        encoder.transform(frame.with_columns(vector=pl.lit([1.0, 2.0, 3.0])))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 2)), "must be a frame with named columns .* Got ndarray instead"),
        (["one text"], "Got list instead"),
        (pl.LazyFrame({"a": [1]}), "Got LazyFrame instead"),
        (pd.DataFrame(np.zeros((2, 2))), r"the names strings. Got \[0, 1\] instead"),
        (pl.DataFrame({"review": []}), "at least one row"),
        ({"review": ["a", "b"], "price": [1]}, "columns of one length. Got {'review': 2, 'price': 1} instead"),
    ],
)
def test_frames_that_cannot_be_used(X, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder(text="review").fit(X)


def test_roles_and_labels_that_cannot_be(frame):
    with pytest.raises(InputError, match=r"must have the columns \['reviews'\].*Did you mean 'review'"):
        TableEncoder(text="reviews").fit(frame)
    with pytest.raises(InputError, match=r"Column 'colour' must have one role. Got text and nominal instead"):
        TableEncoder(text="colour", nominal="colour").fit(frame)
    with pytest.raises(InputError, match="Column 'price': This MDLPDiscretizer estimator requires y"):
        TableEncoder(numeric="price").fit(frame)
    with pytest.raises(InputError, match="Column 'price': Unknown label type"):
        TableEncoder(numeric="price").fit(frame, np.linspace(0, 1, 40))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TableEncoder(**ROLES).fit(frame, LABELS[:-1])
    with pytest.raises(NotFittedError):
        TableEncoder().transform(frame)


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_lives_among_estimators(make, frame):
    X = make(COLUMNS)
    model = make_pipeline(TableEncoder(**ROLES), LogisticRegression())
    assert cross_val_score(model, X, LABELS, cv=2).mean() > 0.9
    search = GridSearchCV(model, {"tableencoder__block_weights": ["balanced", None]}, cv=2)
    assert search.fit(X, LABELS).best_score_ > 0.9
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert (again.predict(X) == search.predict(X)).all()


def test_labels_shape_intervals_of_training_rows_only():
    """Intervals of pure chance hold for no new row: they are found on the training part of each split."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(400, 20)), schema=[f"x{i}" for i in range(20)])
    y = rng.integers(0, 2, 400)
    scores = cross_val_score(make_pipeline(TableEncoder(numeric=frame.columns), LogisticRegression()), frame, y)
    assert abs(scores.mean() - 0.5) < 1.96 * np.sqrt(0.25 / 400)


def test_text_and_columns_together_know_more_than_either(real_data):
    path = real_data / "tabular" / "womens_clothing_reviews.csv.gz"
    reviews = pl.read_csv(path, infer_schema_length=None).sample(4000, shuffle=True, seed=0)
    text = {"text": ["title", "review_text"]}
    columns = {"numeric": ["age", "rating", "positive_feedback_count"], "nominal": ["division", "recommended"]}

    def accuracy(**roles):
        model = make_pipeline(TableEncoder(**roles), LinearSVC(random_state=0)).fit(
            reviews[:2000], reviews[:2000, "class"]
        )
        return model.score(reviews[2000:], reviews[2000:, "class"])

    assert accuracy(**text, **columns) > max(accuracy(**text), accuracy(**columns)) + 0.03


def test_follows_the_sparse_interface(encoder, frame):
    with config_context(sparse_interface="sparray"):
        assert isinstance(encoder.transform(frame), csr_array)
    with config_context(sparse_interface="spmatrix"):
        assert isinstance(encoder.transform(frame), csr_matrix)
