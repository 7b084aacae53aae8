from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from sklearn import config_context

from untwin.crossfit.folds import (
    RUN,
    deal_folds,
    deal_folds_in_runs,
    exclude_small_classes,
    identical_rows,
    sharing_units,
)

few = settings(max_examples=40, deadline=None)


def partition(numbers):
    """Return the sets of rows that share a number."""
    return {tuple(np.flatnonzero(numbers == number)) for number in np.unique(numbers)}


def plain_partition(rows):
    same = {}
    for i, row in enumerate(rows):
        same.setdefault(tuple(row), []).append(i)
    return {tuple(members) for members in same.values()}


@few
@given(st.integers(0, 10_000), st.sampled_from([np.int64, np.float32, np.float64, np.uint8]))
def test_identical_rows_of_matrices(seed, dtype):
    X = np.random.default_rng(seed).integers(0, 2, (30, 4)).astype(dtype)
    expected = plain_partition(X)
    for form in (X, X.tolist(), np.asfortranarray(X), csr_array(X), csr_matrix(X)):
        assert partition(identical_rows(form)) == expected


def test_stored_zeros_unsorted_cells_and_minus_zero_make_no_difference():
    X = csr_array((np.array([1.0, 2.0, 0.0, 2.0, 1.0]), np.array([0, 2, 1, 2, 0]), np.array([0, 3, 5])), shape=(2, 3))
    assert partition(identical_rows(X)) == {(0, 1)}
    assert partition(identical_rows(np.array([[0.0, 1], [-0.0, 1]]))) == {(0, 1)}
    assert partition(identical_rows(np.array([[1.0, 0], [0, 1.0]]))) == {(0,), (1,)}
    assert partition(identical_rows(csr_array((2, 3)))) == {(0, 1)}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_identical_rows_of_frames_and_texts(frame):
    columns = {
        "text": ["a", "b", "a", None, None, "a"],
        "size": [1.5, 2.0, 1.5, None, None, 2.5],
        "n": [1, 1, 1, 2, 2, 1],
    }
    expected = {(0, 2), (1,), (3, 4), (5,)}
    assert partition(identical_rows(frame(columns))) == expected
    texts = ["same", "other", "same", "long " * 1000, "long " * 1000]
    for form in (texts, np.array(texts), np.array(texts, object), pd.Series(texts), pl.Series(texts)):
        assert partition(identical_rows(form)) == {(0, 2), (1,), (3, 4)}


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_dates_categories_and_infinity_have_identical_rows_too(output):
    columns = {"day": [date(2020, 1, 1), None, None, date(2020, 1, 1)], "size": [np.inf, 1.0, 1.0, np.inf]}
    in_polars = pl.DataFrame(columns, schema_overrides={"day": pl.Datetime}).with_columns(
        kind=pl.Series(["p", "q", "q", "q"], dtype=pl.Categorical)
    )
    in_pandas = pd.DataFrame(columns).assign(
        day=pd.to_datetime(columns["day"]), kind=pd.Categorical(["p", "q", "q", "q"])
    )
    with config_context(transform_output=output):
        for frame in (in_polars, in_pandas):
            assert partition(identical_rows(frame)) == {(0,), (1, 2), (3,)}


def test_groups_and_identical_rows_chain():
    X = np.array([[1], [2], [1], [3], [4]])
    assert partition(sharing_units(X, ["p", "p", "q", "q", "r"])) == {(0, 1, 2, 3), (4,)}


@few
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_dealing_is_even_and_keeps_small_classes_apart(seed, n_folds):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(6), [1, 2, 3, 7, 20, 31]))
    folds = deal_folds(codes, np.arange(len(codes)), n_folds, seed)
    per_class = np.array([np.bincount(folds[codes == c], minlength=n_folds) for c in range(6)])
    assert (np.ptp(per_class, axis=1) <= 1).all()
    assert np.ptp(per_class.sum(axis=0)) <= 1
    assert (folds == deal_folds(codes, np.arange(len(codes)), n_folds, seed)).all()


@few
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_runs_are_dealt_evenly_too(seed, n_folds):
    codes = np.random.default_rng(seed).permutation(np.repeat(np.arange(6), [1, 2, 3, 7, 20, 331]))
    folds = deal_folds_in_runs(codes, np.arange(len(codes)), n_folds)
    per_class = np.array([np.bincount(folds[codes == c], minlength=n_folds) for c in range(6)])
    assert (np.ptp(per_class, axis=1) <= 1).all()
    assert np.ptp(per_class.sum(axis=0)) <= 1
    runs = np.diff(np.flatnonzero(np.diff(folds[codes == 5], prepend=-1, append=-1)))
    assert runs.max() <= RUN
    assert runs.min() >= RUN / 2 or len(runs) == n_folds


def test_a_file_sorted_by_something_is_held_out_evenly():
    """A large class in order of size: small and large rows are in every fold, or each would be a leap into the dark."""
    folds = deal_folds_in_runs(np.zeros(1000, dtype=int), np.arange(1000), 5)
    means = [np.flatnonzero(folds == fold).mean() for fold in range(5)]
    assert np.ptp(means) <= 5 * RUN


def test_copies_are_dealt_apart_from_single_rows_so_that_folds_stay_even():
    unit = np.repeat(np.arange(11), [30, 20, 20] + [1] * 8)
    folds = deal_folds_in_runs(np.zeros(len(unit), dtype=int), unit, 3)
    assert sorted(np.bincount(folds)) == [22, 23, 33]
    assert len(np.unique(np.column_stack([unit, folds]), axis=0)) == 11


@few
@given(st.integers(0, 10_000))
def test_units_stay_together_and_no_class_is_held_out_whole(seed):
    rng = np.random.default_rng(seed)
    codes, unit = rng.integers(0, 8, 40), rng.integers(0, 25, 40)
    unit, codes = (np.unique(numbers, return_inverse=True)[1] for numbers in (unit, codes))
    folds, parts, small = exclude_small_classes(codes, unit, deal_folds(codes, unit, 4, seed))
    for members in partition(unit):
        assert len(set(parts[list(members)])) == 1
    for fold in range(folds.max() + 1):
        assert (folds == fold).any()
        assert set(codes[folds == fold]) <= set(codes[parts != fold])
    assert set(codes[folds == -1]) == set(np.flatnonzero(small))


@pytest.mark.parametrize("dtype", [pl.List(pl.Float64), pl.Array(pl.Float64, 2)])
def test_identical_rows_of_frames_with_vectors(dtype):
    frame = pl.DataFrame({"name": ["a", "a", "a"], "vector": pl.Series([[1.0, 2], [1, 2], [3, 4]], dtype=dtype)})
    assert partition(identical_rows(frame)) == {(0, 1), (2,)}


def test_a_lonely_class_trains_always_unless_its_twin_row_is_held_out():
    codes, unit = np.array([0, 0, 0, 0, 1, 2]), np.array([0, 1, 2, 3, 4, 0])  # class 2 is identical to row 0
    folds, parts, small = exclude_small_classes(codes, unit, np.array([0, 1, 0, 1, 1, 0]))
    assert folds.tolist() == [0, 1, 0, 1, -1, -1]
    assert parts.tolist() == [0, 1, 0, 1, -1, 0]
    assert small.tolist() == [False, True, True]
