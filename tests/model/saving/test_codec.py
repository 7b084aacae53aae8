"""Things one inside the other as JSON and arrays, and back: what no preset chooses by itself, and single values."""

from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse import csr_array, csr_matrix

from untwin.classify.adaptive.spaces import JoinedSpace
from untwin.classify.centroids import CentroidClassifier
from untwin.classify.graph.classifier import ConfusionGraphClassifier
from untwin.model.saving.arrays import SMALL, ArrayReader, ArrayWriter
from untwin.model.saving.decode import Decoder
from untwin.model.saving.encode import Encoder
from untwin.model.saving.registry import COMMON, KINDS
from untwin.represent.scores import ScoreSpace
from untwin.represent.sprinkle import SprinkledLSI
from untwin.store import load, save
from untwin.structure.plan import SprinklingPlan

Y = np.arange(40) % 4
X = np.eye(4)[Y] * 3 + np.random.default_rng(0).random((40, 4))


def written(thing):
    """Return a thing as JSON text and parts."""
    shelf = ArrayWriter()
    tree = json.dumps(Encoder(shelf).node(thing), allow_nan=False)
    return tree, shelf.parts()


def there_and_back(thing, folder=None):
    tree, parts = written(thing)
    if folder is not None:
        save(folder, parts, {})
        parts = load(folder).parts
    return Decoder(ArrayReader(parts)).thing(json.loads(tree))


def test_every_class_of_the_table_is_there():
    types = [kind.type for kind in KINDS.values()]
    assert len(set(types)) == len({kind.__name__ for kind in types}) == len(KINDS)  # no class twice
    for kind in KINDS.values():
        names = [*kind.needed, *kind.attributes, *(COMMON if kind.is_estimator else ())]
        assert len(set(names)) == len(names)  # no name twice
    assert "Popen" not in KINDS


ARRAYS = npst.arrays(
    st.one_of(npst.boolean_dtypes(), npst.integer_dtypes(), npst.floating_dtypes(), npst.unicode_string_dtypes()),
    npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=5) | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def same(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and (a == b or (a != a and b != b))


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_values_come_back_with_their_types(value):
    assert same(value, there_and_back(value))


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
def test_matrices_keep_their_interface_dtypes_and_order(kind):
    matrix = kind((np.array([1, 2, 3], np.int8), np.array([2, 0, 2], np.int64), np.array([0, 2, 3], np.int64)), (2, 3))
    again = there_and_back(matrix)
    assert type(again) is kind
    assert again.indices.dtype == matrix.indices.dtype
    assert again.indices.tolist() == [2, 0, 2]
    np.testing.assert_array_equal(again.toarray(), matrix.toarray())


def test_arrays_keep_their_memory_order_large_or_small():
    for shape in ((3, 4), (100, 60)):
        for array in (np.ones(shape), np.asfortranarray(np.ones(shape))):
            again = there_and_back(array)
            assert again.flags.c_contiguous == array.flags.c_contiguous
    assert np.ones((100, 60)).nbytes > SMALL


def test_small_arrays_share_a_file_and_equal_ones_their_place():
    _, parts = written([np.arange(5), np.arange(5), np.arange(7), np.arange(3.0)])
    assert {name: len(pool) for name, pool in parts["small arrays"].items()} == {"<i8": 12, "<f8": 3}


def test_other_values():
    assert there_and_back(slice(2, 5)) == slice(2, 5)
    assert there_and_back({"a", "b"}) == {"a", "b"}
    assert there_and_back(frozenset({"a"})) == frozenset({"a"})
    assert there_and_back(np.dtype("<U3")) == np.dtype("<U3")
    assert there_and_back(np.float32) is np.float32
    assert there_and_back([np.int64(3), np.float64(0.5), np.bool_(True)]) == [3, 0.5, True]
    words = ["猫", "", "a\0b", "\n"] * 8
    assert there_and_back(words) == words
    assert there_and_back(["猫", "", "a b"] * 8) == ["猫", "", "a b"] * 8
    assert there_and_back(np.array(["a", "猫"], dtype=object)).tolist() == ["a", "猫"]
    masked = there_and_back(np.ma.MaskedArray([1, 2], mask=[True, False]))
    assert (masked.data.tolist(), masked.mask.tolist()) == ([1, 2], [True, False])


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("v", [[1.0, 2.0], [3.0, 4.0]], dtype=pl.Array(pl.Float64, 2)),
        pl.Series("v", [[1, 2], [3, 4]], dtype=pl.List(pl.Int16)),
        pl.Series("v", [timedelta(hours=1), None]),
        pl.Series("v", ["a", None]),
        pl.Series("v", [None, True]),
        pl.Series("v", ["b", "a"], dtype=pl.Enum(["b", "a"])),
    ],
)
def test_columns_come_back_equal(column):
    again = there_and_back(column)
    assert again.dtype == column.dtype
    assert again.equals(column, null_equal=True, check_names=True)


def test_two_spaces_joined(tmp_path):
    terms = SprinkledLSI(n_components=2, plan=SprinklingPlan.uniform(s=2), whiten=True).fit(X, Y)
    terms.partial_fit(X[:3], Y[:3])  # these wait to be merged
    joined = JoinedSpace(terms, ScoreSpace(CentroidClassifier(), cv=2).fit(X, Y))
    again = there_and_back(joined, tmp_path / "model")
    np.testing.assert_array_equal(again.transform(X), joined.transform(X))
    np.testing.assert_array_equal(again.terms.documents(), joined.terms.documents())


@pytest.mark.parametrize("options", [{"approach": "max-wins"}, {"approach": "verify"}, {"candidates": None}])
def test_every_panel_of_experts(tmp_path, options):
    model = ConfusionGraphClassifier(cv=2, threshold=0.0, **options).fit(X, Y)
    again = there_and_back(model, tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_what_earlier_models_of_this_format_also_held_is_not_read():
    model = ConfusionGraphClassifier(cv=2, threshold=0.0).fit(X, Y)
    tree, parts = written(model)
    node = json.loads(tree)
    held = node["graph-classifier"]
    panel = held["experts"]["class-panel"]
    held["retrained"] = panel["retrained"] = {"retrained": {"trained": 4, "of": 4}}
    again = Decoder(ArrayReader(parts)).thing(node)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
