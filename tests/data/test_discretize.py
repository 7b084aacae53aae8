"""`MDLPDiscretizer` against the equations taken literally, against Orange, and what is its own."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from sklearn import config_context
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from untwin._progress import listening
from untwin.data import mdlp
from untwin.data.discretize import MDLPDiscretizer
from untwin.data.mdlp import Phi, cut_points, sort_column

NAN = float("nan")
ENOUGH = settings(max_examples=50, deadline=None)

# What Orange 3.40's EntropyMDL finds in the numeric columns of paper 4's tables, all rows.

ORANGE = {
    "breast": [
        [4.5, 6.5],
        [1.5, 2.5, 4.5],
        [1.5, 2.5, 4.5],
        [1.5, 3.5],
        [2.5, 3.5],
        [1.5, 2.5, 5.5],
        [2.5, 3.5],
        [2.5, 9.5],
        [1.5],
    ],
    "diabetes": [[6.5], [99.5, 127.5, 154.5], [], [], [14.5, 121.0], [27.85], [0.5275], [28.5]],
    "german": [[15.5], [3913.5], [], [], [], [], []],
    "glass": [
        [1.517335, 1.517985],
        [14.065],
        [2.695],
        [1.39, 1.775],
        [],
        [0.055, 0.615, 0.745],
        [7.02, 8.315, 10.075],
        [0.335],
        [],
    ],
    "glass2": [[1.517155, 1.517985], [], [2.495], [1.42], [], [0.625], [8.29, 10.365], [], []],
    "heart": [[54.5], [0.5], [3.5], [], [], [], [], [147.5], [0.5], [1.7], [1.5], [0.5], [4.5]],
    "iris": [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]],
    "vehicle": [
        [81.5, 87.5, 98.5, 103.5],
        [40.5, 49.5, 54.5],
        [64.5, 76.5, 92.5],
        [175.5, 234.5],
        [52.5, 68.5, 86.5],
        [7.5, 8.5, 16.0],
        [140.5, 154.5, 163.5, 230.5],
        [29.5, 41.5, 44.5, 46.5],
        [18.5, 19.5, 20.5, 25.5],
        [135.5, 147.5, 160.5, 172.5],
        [165.5, 180.5, 242.0],
        [298.5, 347.5, 389.5, 581.0, 721.5, 761.5],
        [170.5, 192.5, 241.5],
        [64.5, 74.5],
        [11.5],
        [17.5],
        [177.5, 181.5, 185.5, 191.5],
        [189.5],
    ],
}

SINGULAR_VALUES = {"breast": 21, "diabetes": 10, "glass": 14, "glass2": 8, "heart": 10, "iris": 8, "vehicle": 51}


def numeric_table(folder, name):
    frame = pl.read_csv(folder / "tabular" / f"{name}.csv", infer_schema_length=None)
    numeric = [column for column in frame.columns if column != "class" and frame[column].dtype.is_numeric()]
    return frame.select(pl.col(numeric).cast(pl.Float64)), frame["class"].to_numpy()


def entropy(counts):
    total = sum(counts)
    return -sum(count / total * math.log2(count / total) for count in counts if count)


def literal_cuts(rows):
    """Equations 1 to 4 of paper 4 as they stand, for rows (value, class, weight)."""
    classes = sorted({label for _, label, _ in rows})
    values = sorted({value for value, _, _ in rows})

    def weights(part):
        return [sum(weight for _, label, weight in part if label == c) for c in classes]

    best = None
    for low, high in pairwise(values):
        T = (low + high) / 2
        S1, S2 = weights([row for row in rows if row[0] < T]), weights([row for row in rows if row[0] >= T])
        E = (sum(S1) * entropy(S1) + sum(S2) * entropy(S2)) / (sum(S1) + sum(S2))
        if best is None or best[0] - E > 1e-12:  # of equally good cuts the first
            best = E, T, S1, S2
    if best is None:
        return []
    E, T, S1, S2 = best
    S, N = weights(rows), sum(S1) + sum(S2)
    k, k1, k2 = (sum(weight > 0 for weight in part) for part in (S, S1, S2))
    delta = math.log2(3**k - 2) - (k * entropy(S) - k1 * entropy(S1) - k2 * entropy(S2))
    if N <= 1 or not entropy(S) - E > math.log2(N - 1) / N + delta / N:
        return []
    return [
        *literal_cuts([row for row in rows if row[0] < T]),
        T,
        *literal_cuts([row for row in rows if row[0] >= T]),
    ]


@st.composite
def columns(draw):
    """A column that says something about its classes, with ties or without, and whole weights."""
    n, n_classes = draw(st.integers(1, 60)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.integers(0, n_classes, n)
    x = np.round(rng.normal(size=n) + codes * draw(st.sampled_from([0, 1, 4])), draw(st.integers(0, 3)))
    return x, codes, rng.integers(1, 4, n), n_classes


@ENOUGH
@given(columns())
def test_cuts_are_those_of_the_equations(column):
    x, codes, weights, n_classes = column
    cuts = cut_points(x, codes, None, n_classes, Phi.up_to(len(x), whole=True))
    np.testing.assert_allclose(cuts, literal_cuts([(*row, 1) for row in zip(x, codes, strict=True)]), rtol=1e-12)
    weighted = cut_points(x, codes, weights.astype(float), n_classes, Phi.up_to(weights.sum(), whole=False))
    np.testing.assert_allclose(weighted, literal_cuts(list(zip(x, codes, weights, strict=True))), rtol=1e-12)


@ENOUGH
@given(columns())
def test_a_weight_counts_as_so_many_rows(column):
    x, codes, weights, _ = column
    twice = MDLPDiscretizer(n_jobs=1).fit(np.repeat(x, weights)[:, None], np.repeat(codes, weights))
    weighted = MDLPDiscretizer(n_jobs=1).fit(x[:, None], codes, sample_weight=weights)
    np.testing.assert_array_equal(weighted.cut_points_[0], twice.cut_points_[0])


@ENOUGH
@given(columns())
def test_only_the_order_of_values_and_the_names_of_classes_matter(column):
    """Shuffled rows, renamed classes and a stretched scale leave the partition as it is; so does the way of sorting."""
    x, codes, _, _ = column
    rows = MDLPDiscretizer(encode="ordinal", n_jobs=1).fit_transform(x[:, None], codes)
    order = np.random.default_rng(0).permutation(len(x))
    stretched = np.exp(x[order, None] / 3)
    names = np.array(["d", "c", "b", "a"])[codes[order]]
    assert (MDLPDiscretizer(encode="ordinal", n_jobs=1).fit_transform(stretched, names) == rows[order]).all()


@ENOUGH
@given(columns())
def test_cells_hold_every_row_once(column):
    x, codes, _, n_classes = column
    cells = sort_column(x, codes, None, n_classes)
    weight = cells.after - cells.before
    assert np.bincount(cells.classes, weight, n_classes).tolist() == np.bincount(codes, minlength=n_classes).tolist()
    assert cells.total.tolist() == [0, *np.cumsum(np.add.reduceat(weight, cells.starts[:-1])).tolist()]
    assert (cells.first[1:] > cells.last[:-1]).all()
    counted = [((x >= low) & (x <= high)).sum() for low, high in zip(cells.first, cells.last, strict=True)]
    assert np.diff(cells.total).tolist() == counted


def test_looking_piece_by_piece_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 3000)
    x = rng.normal(size=3000) + codes
    phi = Phi.up_to(len(x), whole=True)
    whole = cut_points(x, codes, None, 3, phi)
    monkeypatch.setattr(mdlp, "AT_ONCE", 7)
    assert len(whole) > 3
    np.testing.assert_array_equal(cut_points(x, codes, None, 3, phi), whole)


@pytest.mark.parametrize("name", ORANGE)
def test_cuts_are_those_of_orange(real_data, name):
    X, y = numeric_table(real_data, name)
    found = MDLPDiscretizer().fit(X, y).cut_points_
    assert [len(points) for points in found] == [len(points) for points in ORANGE[name]]
    np.testing.assert_allclose(np.concatenate(found), np.concatenate(ORANGE[name]), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize("name", SINGULAR_VALUES)
def test_as_many_singular_values_as_in_paper_4(real_data, name):
    X, y = numeric_table(real_data, name)
    X = X.to_numpy()
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    ranks = [np.linalg.matrix_rank(MDLPDiscretizer().fit_transform(X[rows], y[rows]).toarray()) for rows, _ in folds]
    assert abs(np.mean(ranks) - SINGULAR_VALUES[name]) <= 1


def test_equally_good_cuts_are_told_apart_by_order_only():
    """A symmetric column: the best two cuts save exactly the same, so the first is taken, then the second."""
    x = np.repeat(np.arange(3.0), 40)
    y = np.repeat([0, 1, 0], 40)
    assert MDLPDiscretizer().fit(x[:, None], y).cut_points_[0].tolist() == [0.5, 1.5]
    phi = Phi.up_to(120, whole=True)
    assert phi.of(np.array([64])) == 64 * 6 * phi.bit


def test_missing_values_are_an_interval_of_their_own():
    X = np.array([[1.0, 5.0], [2.0, 5.0], [8.0, 5.0], [9.0, 5.0], [NAN, 5.0]] * 4)
    y = ["a", "a", "b", "b", "a"] * 4
    cut = MDLPDiscretizer().fit(pd.DataFrame(X, columns=["size", "same"]), y)
    assert [points.tolist() for points in cut.cut_points_] == [[5.0], []]
    assert cut.get_feature_names_out().tolist() == ["size < 5", "size >= 5", "size missing", "same known"]
    new = pd.DataFrame({"size": [5.0, NAN], "same": [NAN, 1.0]})
    assert cut.transform(new).toarray().tolist() == [[0, 1, 0, 0], [0, 0, 1, 1]]
    assert cut.set_params(encode="ordinal").transform(new).tolist() == [[1, 1], [2, 0]]


def test_a_column_of_one_interval_stays_or_goes():
    X = [[1.0, 3.0, NAN, 7.0], [2.0, 3.0, NAN, NAN]] * 10
    y = [0, 1] * 10
    kept = MDLPDiscretizer().fit(X, y)
    names = ["x0 < 1.5", "x0 >= 1.5", "x1 known", "x2 known", "x2 missing", "x3 known", "x3 missing"]
    assert kept.get_feature_names_out().tolist() == names
    dropped = MDLPDiscretizer(uncut="drop").fit(X, y)
    assert dropped.get_feature_names_out().tolist() == [name for name in names if not name.startswith("x1")]
    assert dropped.transform(X).shape == (20, 6)
    assert dropped.set_params(encode="ordinal").get_feature_names_out().tolist() == ["x0", "x2", "x3"]


def test_nothing_is_cut_where_labels_are_chance():
    rng = np.random.default_rng(0)
    cut = MDLPDiscretizer(uncut="drop").fit(rng.normal(size=(500, 3)), rng.integers(0, 3, 500))
    assert cut.transform(np.zeros((2, 3))).shape == (2, 0)
    assert MDLPDiscretizer().fit([[1.0], [2.0]], ["only", "only"]).cut_points_[0].tolist() == []


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1.7e308, 1.7e308),
        (1.6e308, 1.7e308),
        (0.0, 5e-324),
        (1.0, np.nextafter(1.0, 2)),
        (np.nextafter(1.0, 0), 1.0),
        (2**53, 2**53 + 2),
        (-3, -2),
    ],
)
def test_any_scale(low, high):
    X = np.repeat([low, high], 10)[:, None]
    cut = MDLPDiscretizer(encode="ordinal").fit(X, np.repeat(["a", "b"], 10))
    assert cut.transform(X).ravel().tolist() == [0] * 10 + [1] * 10
    assert low < cut.cut_points_[0][0] <= high


def test_equal_columns_get_equal_cuts_and_threads_change_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 2000)
    x = rng.normal(size=2000) + y
    X = np.column_stack([x, x, np.round(x), x * 1e-200])
    one, two = (MDLPDiscretizer(n_jobs=n).fit(X, y).cut_points_ for n in (1, 2))
    assert [points.tolist() for points in one] == [points.tolist() for points in two]
    assert one[0].tolist() == one[1].tolist()
    assert len(one[0]) == len(one[3]) > 2


def test_thousands_of_classes():
    codes = np.repeat(np.arange(2000), 2)
    assert len(MDLPDiscretizer().fit(codes[:, None] / 7, codes // 500).cut_points_[0]) == 3
    assert MDLPDiscretizer().fit(codes[:, None], codes).cut_points_[0].tolist() == (np.arange(1999) + 0.5).tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_infinity_is_refused_by_name(make):
    X = {"age": [1.0, 2.0, 3.0], "income": [1.0, -np.inf, 3.0]}
    with pytest.raises(ValueError, match="-inf in column 'income', row 1, instead"):
        MDLPDiscretizer().fit(make(X), [0, 1, 0])
    cut = MDLPDiscretizer().fit(make({name: [1.0, 2.0, 3.0] for name in X}), [0, 1, 0])
    with pytest.raises(ValueError, match="-inf in column 'income'"):
        cut.transform(make(X))


def test_weights_that_cannot_be():
    X, y = [[1.0], [2.0]], [0, 1]
    with pytest.raises(ValueError, match="Negative values"):
        MDLPDiscretizer().fit(X, y, sample_weight=[1, -1])
    with pytest.raises(ValueError, match="at least one row"):
        MDLPDiscretizer().fit(X, y, sample_weight=[0, 0])
    with pytest.raises(ValueError, match="Unknown label type"):
        MDLPDiscretizer().fit(X, [0.5, 1.5])


def test_names_tell_cuts_apart():
    cut = MDLPDiscretizer().fit(np.repeat([1e9, 1e9 + 1, 1e9 + 2], 20)[:, None], np.repeat([0, 1, 2], 20))
    names = cut.get_feature_names_out(["n"]).tolist()
    assert names == ["n < 1000000000.5", "n in [1000000000.5, 1000000001.5)", "n >= 1000000001.5"]


def test_lives_among_estimators():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 2)) + 3 * y[:, None]
    assert cross_val_score(make_pipeline(MDLPDiscretizer(), MultinomialNB()), X, y).mean() > 0.95
    seen = []
    with listening(lambda *said: seen.append(said)):
        cut = pickle.loads(pickle.dumps(MDLPDiscretizer().fit(X, y)))
    assert seen == [("intervals", 1, 2), ("intervals", 2, 2)]
    rows = cut.transform(X)
    assert rows.indices.dtype == rows.indptr.dtype == np.int32
    assert np.diff(rows.indptr).tolist() == [2] * 300
    with config_context(sparse_interface="sparray"):
        assert isinstance(cut.transform(X), csr_array)
    with config_context(sparse_interface="spmatrix"):
        assert isinstance(cut.transform(X), csr_matrix)
