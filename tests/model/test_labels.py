"""Labels that an array would make one of are refused wherever they enter; what can be learnt can be saved."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from untwin import Contingency
from untwin._errors import InputError
from untwin._labels import require_distinct
from untwin._values import class_names, positions
from untwin.classify.adaptive import AdaptiveSprinkling
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.classify.knn.classifier import KNNClassifier
from untwin.classify.latent.classes import LatentClassClassifier
from untwin.classify.linear import LinearSVM
from untwin.classify.multilevel.classifier import MultiLevelClassifier
from untwin.crossfit import out_of_fold
from untwin.model import UntwinClassifier
from untwin.model.features.inputs import as_labels
from untwin.tables.confusion import Confusion

MERGED = {
    "a number and a string": [1, "1", 1, "1"],
    "a number and a truth value": [1, True, 1, True],
    "a NUL at the end": ["a\0", "a", "a\0", "a"],
    "whole numbers beyond 64 bits": [2**63, 2**63 + 1, 2**63, -1],
}


@pytest.mark.parametrize("labels", MERGED.values(), ids=MERGED)
@pytest.mark.parametrize(
    "given", [list, tuple, lambda y: np.array(y, dtype=object), lambda y: pd.Series(y, dtype=object)]
)
def test_labels_that_would_become_one_are_refused(labels, given):
    y = given(labels)
    with pytest.raises(InputError, match="abel"):
        as_labels(y)
    with pytest.raises(InputError, match="abel"):
        Confusion.from_predictions(y, y)
    with pytest.raises(InputError, match="abel"):
        Contingency.from_counts(np.eye(4, dtype=int), y)
    with pytest.raises(InputError, match="abel"):
        out_of_fold(CentroidClassifier(), np.eye(4), y)
    with pytest.raises(InputError, match="abel"):
        class_names(y)


@pytest.mark.parametrize(
    "estimator",
    [
        UntwinClassifier(preset="fast"),
        KNNClassifier(),
        LinearSVM(),
        CentroidClassifier(),
        MultiLevelClassifier(),
        ConfusionGraphClassifier(),
        LatentClassClassifier(),
        AdaptiveSprinkling(KNNClassifier()),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_refuse_them(estimator):
    for labels in MERGED.values():
        with pytest.raises(InputError, match="abel"):
            estimator.fit(np.eye(4), labels)


def test_labels_that_stay_apart_are_taken():
    for labels in (
        ["1", "1.0", "01"],
        [1, 2.0, np.float32(3)],
        [True, False],
        ["a\0b", "a"],
        [None, "a", float("nan")],
    ):
        require_distinct(labels)
    require_distinct(np.eye(2))
    require_distinct([[1, 0], [0, 1]])
    require_distinct(None)
    assert as_labels(pl.Series(["b", "a"])).tolist() == ["b", "a"]
    assert as_labels(np.array([True, False])).tolist() == [True, False]


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["2024-01-01", "2024-01-02"] * 4, dtype="datetime64[D]"),
        pd.to_datetime(pd.Series(["2024-01-01", "2024-01-02"] * 4)),
        pl.Series([dt.date(2024, 1, 1), dt.date(2024, 1, 2)] * 4),
        np.array([1, 2] * 4, dtype="timedelta64[s]"),
        np.array([2**63, 1] * 4, dtype=np.uint64),
    ],
    ids=["datetime64", "pandas", "polars", "timedelta64", "uint64"],
)
def test_labels_that_cannot_be_saved_are_refused_when_they_come(labels):
    with pytest.raises(InputError, match="y must hold") as error:
        UntwinClassifier(preset="fast").fit(np.eye(8), labels)
    assert "astype(str)" in error.value.hint


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 200] * 4, dtype=np.uint8),
        np.array([2**62, 1] * 4, dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1] * 4),
        np.array([True, False] * 4),
        [1.0, 2.0] * 4,
        pd.Series(["x", "y"] * 4, dtype="category"),
        pd.Series(["x", "y"] * 4, dtype="string"),
        np.array(["x", "y"] * 4, dtype=object),
    ],
    ids=["uint8", "uint64", "int64", "bool", "float", "category", "string", "object"],
)
def test_labels_that_are_taken_go_all_the_way(labels, tmp_path):
    X = np.random.default_rng(0).normal(size=(8, 3)) + np.eye(8)[:, :3]
    model = UntwinClassifier(preset="fast").fit(X, labels)
    model.save(tmp_path / "model")
    loaded = UntwinClassifier.load(tmp_path / "model")
    assert loaded.classes_.tolist() == model.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_truth_values_do_not_become_numbers_later():
    model = UntwinClassifier(preset="fast").fit(np.eye(4), [True, False, True, False])
    with pytest.raises(ValueError, match="kind that fit saw"):
        model.add(np.eye(4)[:2], [1, 2])


def test_an_unknown_class_is_named_whatever_labels_are():
    for names in (np.array(["a", "b"], dtype=object), np.array(["a", "b"])):
        with pytest.raises(ValueError, match=r"Unknown class 'c'\. Known classes: 'a', 'b'"):
            positions(np.array(["c"], dtype=names.dtype), names)
    with pytest.raises(ValueError, match=r"Unknown class 3\. Known"):
        positions([3], np.array([1, 2]))


def test_nothing_is_no_number_of_neighbours_to_show(texts, labels):
    model = UntwinClassifier(preset="fast").fit(texts, labels)
    for top in (0, -1):
        with pytest.raises(ValueError, match="top must be at least 1"):
            model.explain(texts[:1], top=top)
    assert len(model.explain(texts[:1], top=1)[0].neighbours.neighbours) == 1
