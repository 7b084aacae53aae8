"""What is saved comes back equal in every bit, is written once, and stays on disk."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.sparse import csr_array

from untwin.store import Texts, load, save
from untwin.store.manifest import LARGEST_MANIFEST

PLAIN = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="?"),
    npst.unsigned_integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    npst.unicode_string_dtypes(endianness="?", max_len=5),
)
ARRAYS = npst.arrays(PLAIN, npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
TEXTS = st.lists(st.text(max_size=8), max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def matrices(draw):
    """CSR as it may come: duplicates, unsorted columns, stored zeros, either index dtype, no rows or columns."""
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    lengths = draw(st.lists(st.integers(0, 5 if columns else 0), min_size=rows, max_size=rows))
    size, index = sum(lengths), draw(st.sampled_from([np.int32, np.int64]))
    dtype = draw(st.sampled_from([bool, np.int8, np.uint16, np.int64, np.float32, np.float64]))
    matrix = csr_array((rows, columns), dtype=dtype)
    matrix.data = draw(npst.arrays(dtype, size))
    matrix.indices = np.array(draw(st.lists(st.integers(0, max(columns - 1, 0)), min_size=size, max_size=size)), index)
    matrix.indptr = np.cumsum([0, *lengths]).astype(index)
    return matrix


PARTS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        ARRAYS | ARRAYS.map(np.transpose) | TEXTS | matrices(),
        lambda inner: st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)


@settings(max_examples=40, deadline=None)
@given(first=PARTS, second=PARTS, facts=st.dictionaries(st.text(max_size=5), JSON, max_size=3))
def test_any_parts_come_back_equal_in_every_bit(same, first, second, facts):
    with TemporaryDirectory() as folder:
        for parts in (first, second):
            save(folder, parts, facts)
            stored = load(folder)
            assert same(parts, stored.parts)
            assert stored.facts == facts


def test_a_loaded_model_saves_again_as_the_same_model(tmp_path, sample_parts, same):
    save(tmp_path / "a", sample_parts(), {"k": 3})
    first = load(tmp_path / "a")
    save(tmp_path / "b", first.parts, first.facts)
    second = load(tmp_path / "b")
    assert same(first.parts, second.parts)
    assert second.sha256 == first.sha256
    save(tmp_path / "a", first.parts, first.facts)  # onto the files that it is mapped from
    assert same(first.parts, load(tmp_path / "a").parts)


def test_a_strided_array_comes_back_with_its_items(tmp_path):
    wide = np.arange(24.0).reshape(4, 6)
    save(tmp_path / "m", {"x": wide[::2, ::3]}, {})
    np.testing.assert_array_equal(load(tmp_path / "m").parts["x"], wide[::2, ::3])


def test_parts_are_mapped_and_read_only(tmp_path, sample_parts):
    save(tmp_path / "m", sample_parts(), {})
    parts = load(tmp_path / "m").parts
    for array in (parts["space"]["basis"], parts["space"]["counts"].data, parts["documents"].utf8):
        assert not array.flags.writeable
        assert not array.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        parts["flags"][0] = True


def test_files_are_plain_npy_named_by_the_sum_that_any_tool_computes(tmp_path, sample_parts):
    save(tmp_path / "m", sample_parts(), {})
    files = list((tmp_path / "m").glob("*.npy"))
    assert len(files) == 9
    for path in files:
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem
        np.load(path, allow_pickle=False)
    basis = sample_parts()["space"]["basis"]
    loaded = [np.load(path, allow_pickle=False) for path in files]
    assert any(array.shape == basis.shape and array.flags.f_contiguous and (array == basis).all() for array in loaded)


def test_an_array_that_has_not_changed_is_not_written_again(tmp_path, sample_parts):
    folder = tmp_path / "m"
    save(folder, sample_parts(), {"version": 1})
    before = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.glob("*.npy")}
    save(folder, {**sample_parts(), "more": np.arange(3)}, {"version": 2})
    after = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.glob("*.npy")}
    assert len(after) == len(before) + 1
    assert before.items() <= after.items()


def test_equal_arrays_share_a_file_and_old_arrays_leave(tmp_path):
    folder = tmp_path / "m"
    save(folder, {"a": np.arange(5), "b": {"c": np.arange(5)}}, {})
    assert len(list(folder.iterdir())) == 2
    save(folder, {"a": np.arange(6)}, {})
    assert len(list(folder.iterdir())) == 2
    assert load(folder).parts["a"].tolist() == list(range(6))


def test_saving_over_a_damaged_array_heals_it(tmp_path, sample_parts, same):
    folder = tmp_path / "m"
    save(folder, sample_parts(), {})
    for path in folder.glob("*.npy"):
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    save(folder, sample_parts(), {})
    assert same(sample_parts(), load(folder).parts)


def test_texts_are_a_sequence():
    words = ["ape", "", "Bär", "猫" * 5]
    texts = Texts.of(words)
    assert (len(texts), list(texts), texts[-1], texts[1:3]) == (4, words, words[-1], words[1:3])
    assert texts.index("Bär") == 2
    with pytest.raises(IndexError):
        texts[4]
    assert [len(word.encode()) for word in words] == [b - a for a, b in pairwise(texts.offsets.tolist())]


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"a": {"b": np.array(["x"], dtype=object)}}, "parts/a/b must be an array of .* Got dtype object"),
        ({"a": np.array([1j])}, "complex128"),
        ({"a": np.zeros(2, dtype="i4,f8")}, "parts/a must be"),
        ({"a": np.array(["2026-01-01"], dtype="M8[D]")}, "datetime64"),
        ({"a": np.zeros(1, dtype=np.longdouble)}, "parts/a must be"),
        ({"a": 3.0}, "Got float instead"),
        ({"a": ["x", 3]}, "Got list instead"),
        ({"a": {3: np.zeros(1)}}, "Got dict instead"),
        ({"a": csr_array(np.eye(2)).tocsc()}, "Got csc_array instead"),
        ({"a": ["\ud800"]}, "surrogates"),
    ],
)
def test_what_cannot_be_stored_is_refused_and_the_old_model_stays(tmp_path, sample_parts, same, parts, reason):
    folder = tmp_path / "m"
    save(folder, sample_parts(), {})
    before = sorted(folder.iterdir())
    with pytest.raises(ValueError, match=reason):
        save(folder, {"new": np.arange(100), **parts}, {})
    assert sorted(folder.iterdir()) == before
    assert same(sample_parts(), load(folder).parts)


def test_a_matrix_that_would_not_load_is_not_saved(tmp_path):
    matrix = csr_array(np.eye(3))
    matrix.indices[1] = 7
    with pytest.raises(ValueError, match="Indices of parts/m must be less than its number of columns"):
        save(tmp_path / "m", {"m": matrix}, {})
    assert list(tmp_path.iterdir()) == []


def test_more_facts_than_a_load_would_read_are_not_saved(tmp_path):
    with pytest.raises(ValueError, match=r"manifest\.json must have at most"):
        save(tmp_path / "m", {"x": np.arange(3)}, {"a": "x" * LARGEST_MANIFEST})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("facts", [{"a": (1, 2)}, {1: "a"}, {"a": float("nan")}, {"a": {1, 2}}, {"a": np.int64(3)}])
def test_facts_that_json_would_change_are_refused(tmp_path, facts):
    with pytest.raises(ValueError, match="facts must consist of"):
        save(tmp_path / "m", {}, facts)
    assert not (tmp_path / "m").exists()
