"""A damaged or hostile directory is refused with a reason, or is the same to the last bit; nothing else happens."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil

import numpy as np
import pytest

from untwin._errors import UntwinError
from untwin.store import ModelRefused, load, save
from untwin.store.manifest import FORMAT, LARGEST_MANIFEST, sign_manifest

CODES = {"model-missing", "model-damaged", "model-foreign", "model-too-new", "model-too-old", "model-too-large"}


@pytest.fixture
def folder(tmp_path, sample_parts):
    save(tmp_path / "model", sample_parts(), {"k": 3})
    return tmp_path / "model"


def resign(folder, change):
    """Change what the manifest says and give it the right digest."""
    path = folder / "manifest.json"
    content = json.loads(path.read_text())
    del content["sha256"]
    change(content)
    path.write_bytes(sign_manifest(content))


def refusal(folder):
    """Return why the model is refused, or None."""
    try:
        load(folder)
    except ModelRefused as error:
        return error
    return None


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_damage_is_refused_or_does_not_matter(tmp_path, folder, sample_parts, same, damage, first):
    refused = 0
    for seed in range(first, first + 20):
        copy = shutil.copytree(folder, tmp_path / f"copy{seed}")
        how = damage(copy, np.random.default_rng(seed))
        error = refusal(copy)
        if error is None:
            stored = load(copy)
            assert same(sample_parts(), stored.parts), how
            assert stored.facts == {"k": 3}, how
        else:
            refused += 1
            assert error.code in CODES, how
            assert error.exit_code == 3
            assert str(copy) in error.message
    assert refused > 15


def test_every_byte_counts(folder):
    """One bit, anywhere in any file, is noticed."""
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for place in range(0, len(content), 11):
            path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
            with pytest.raises(ModelRefused):
                load(folder)
        path.write_bytes(content)
    load(folder)


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.array([0, 2, 1], dtype=np.uint8).view(bool), "Booleans of .* must be 0 or 1"),
        (np.array([65, 0x110000], dtype=np.uint32).view("<U2"), "Strings of .* must be Unicode"),
    ],
)
def test_items_that_numpy_does_not_expect_are_refused(tmp_path, array, reason):
    with pytest.raises(ValueError, match=reason):
        save(tmp_path / "model", {"x": array}, {})


@pytest.mark.parametrize(
    ("utf8", "offsets", "reason"),
    [
        (b"abc", [0, 2], "must rise from 0 to the number of bytes"),
        (b"abc", [1, 3], "must rise"),
        (b"abc", [0, 3, 2, 3], "must rise"),
        (b"abc", [0, -1, 3], "must rise"),
        (b"abc", [], "must rise"),
        (b"a\xff", [0, 2], "must be UTF-8"),
        (b"a\xc3", [0, 2], "must be UTF-8"),
        ("ä".encode(), [0, 1, 2], "must begin with a character"),
    ],
)
def test_texts_that_cannot_be_decoded_are_refused(folder, utf8, offsets, reason):
    arrays = {"x": np.frombuffer(utf8, np.uint8), "y": np.array(offsets, dtype=np.int64)}
    save(folder, arrays, {})

    def as_texts(content):
        x, y = (content["parts"][key]["array"] for key in "xy")
        content["parts"] = {"t": {"texts": {"utf8": x, "offsets": y}}}

    resign(folder, as_texts)
    with pytest.raises(ModelRefused, match=reason):
        load(folder)


def test_a_long_text_with_characters_across_blocks_is_utf8(tmp_path):
    text = "a" + "猫" * 700_000  # blocks of 2**20 bytes end inside characters
    save(tmp_path / "model", {"t": [text]}, {})
    assert load(tmp_path / "model").parts["t"][0] == text


@pytest.mark.parametrize(
    ("data", "indices", "indptr", "shape"),
    [
        (np.ones(2), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int64), [2, 2]),  # two index dtypes
        (np.ones(2), np.array([0.0, 1.0]), np.array([0.0, 1.0, 2.0]), [2, 2]),
        (np.ones(2, np.float16), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32), [2, 2]),
        (np.ones(2, ">f8"), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32), [2, 2]),
        (np.array(["a", "b"]), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32), [2, 2]),
        (np.ones(3), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32), [2, 2]),
        (np.ones((2, 1)), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32), [2, 2]),
        (np.ones(2), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32), [2, 2**40]),  # too wide for int32
        (np.ones(0), np.array([], np.int32), np.array([], np.int32), [-1, 2]),
        (np.ones(2), np.array([0, 1], np.int64), np.array([0, 2**63 - 1, 2], np.int64), [2, 2]),
        (np.ones(2), np.array([0, 1], np.int64), np.array([0, -(2**63), 2], np.int64), [2, 2]),
        (np.ones(2), np.array([0, 1], np.int32), np.array([0, 1, 1], np.int32), [2, 2]),
        (np.ones(2), np.array([0, -1], np.int32), np.array([0, 1, 2], np.int32), [2, 2]),
        (np.ones(2), np.array([0, 2], np.int32), np.array([0, 1, 2], np.int32), [2, 2]),
    ],
)
def test_a_matrix_with_a_wrong_index_is_refused(folder, data, indices, indptr, shape):
    save(folder, {"data": data, "indices": indices, "indptr": indptr}, {})

    def as_matrix(content):
        arrays = {key: content["parts"][key]["array"] for key in ("data", "indices", "indptr")}
        content["parts"] = {"m": {"csr": {"shape": shape, **arrays}}}

    resign(folder, as_matrix)
    with pytest.raises(ModelRefused, match="parts/m must"):
        load(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[" * 100_000,
        b'{"format": 1e999}',
        b'{"format": ' + b"9" * 100_000 + b"}",
        b" " * (LARGEST_MANIFEST + 1),
        sign_manifest({"format": FORMAT, "facts": {}, "parts": {}, "files": {}})[:-1],
        sign_manifest({"format": FORMAT, "facts": {}, "parts": {}, "files": {}}) + b" ",
        sign_manifest({"format": FORMAT, "facts": {}}),
        sign_manifest({"format": FORMAT, "facts": [], "parts": {}, "files": {}}),
        sign_manifest({"format": FORMAT, "facts": {}, "parts": [], "files": {}}),
        sign_manifest({"format": FORMAT, "facts": {}, "parts": {}, "files": [1]}),
        sign_manifest({}),
    ],
)
def test_manifests_that_are_none_are_refused(folder, content):
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(ModelRefused, match=r"manifest\.json must|parts must"):
        load(folder)


@pytest.mark.parametrize("facts", [b"NaN", b"-Infinity", b'{"a": 1, "a": 2}', b"[" * 50_000, b"9" * 5_000, b"\xff"])
def test_json_that_is_not_plain_is_refused_although_its_digest_is_right(folder, facts):
    text = f'{{\n "format": {FORMAT},\n "facts": '.encode() + facts + b',\n "parts": {},\n "files": {},\n "sha256": "'
    digest = hashlib.sha256(text).hexdigest().encode()
    (folder / "manifest.json").write_bytes(text + digest + b'"\n}\n')
    with pytest.raises(ModelRefused, match="must be plain JSON"):
        load(folder)


def test_a_newer_format_says_what_to_do(folder):
    resign(folder, lambda content: content.update(format=FORMAT + 1, parts="whatever comes"))
    with pytest.raises(ModelRefused, match=rf"format {FORMAT + 1}.*Install a newer untwin") as caught:
        load(folder)
    assert caught.value.code == "model-too-new"


def test_an_older_format_says_what_to_do(folder):
    resign(folder, lambda content: content.update(format=FORMAT - 1, parts="whatever was"))
    with pytest.raises(ModelRefused, match=rf"format {FORMAT - 1}.*Fit the model again") as caught:
        load(folder)
    assert caught.value.code == "model-too-old"


def test_a_model_of_absurd_size_is_refused_before_it_is_read(folder):
    def absurd(content):
        content["files"][content["parts"]["flags"]["array"]].update(dtype="<f8", shape=[1 << 36])

    resign(folder, absurd)
    with pytest.raises(ModelRefused) as caught:
        load(folder)
    assert caught.value.code == "model-too-large"


def test_no_model_is_no_model(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for name in ("absent", "empty", "file"):
        with pytest.raises(ModelRefused, match="holds no model") as caught:
            load(tmp_path / name)
        assert caught.value.code == "model-missing"


def test_saving_into_a_folder_of_somebody_else_touches_nothing(tmp_path, sample_parts):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UntwinError, match=r"holds thesis\.txt, which is no part of a model") as caught:
        save(tmp_path, sample_parts(), {})
    assert caught.value.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_model_may_be_named_by_a_link_but_hold_none(tmp_path, folder, sample_parts, same):
    (tmp_path / "current").symlink_to(folder)
    assert same(sample_parts(), load(tmp_path / "current").parts)
    array = next(folder.glob("*.npy"))
    array.rename(tmp_path / "elsewhere.npy")
    array.symlink_to(tmp_path / "elsewhere.npy")
    with pytest.raises(ModelRefused, match="which is no part of a model"):
        load(folder)


def test_the_refusal_crosses_processes(tmp_path):
    with pytest.raises(ModelRefused) as caught:
        load(tmp_path)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.code, str(again)) == (ModelRefused, caught.value.code, str(caught.value))
