"""Models as single files: equal to their folders, and refused if anything is wrong with them."""

from __future__ import annotations

from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

from untwin._errors import UntwinError
from untwin.store import ModelRefused, load, pack, read_digest, read_facts, save


@pytest.fixture
def folder(tmp_path):
    save(tmp_path / "model", {"W": np.arange(600.0), "terms": ["ape", "bee"]}, {"k": 2})
    return tmp_path / "model"


@pytest.fixture
def packed(folder, tmp_path):
    pack(folder, tmp_path / "model.untwin")
    return tmp_path / "model.untwin"


def test_a_packed_model_is_its_folder(folder, packed, tmp_path):
    one, other = load(folder), load(packed)
    np.testing.assert_array_equal(one.parts["W"], other.parts["W"])
    assert list(other.parts["terms"]) == ["ape", "bee"]
    assert one.sha256 == other.sha256 == read_digest(packed)
    assert read_facts(packed) == {"k": 2}
    with ZipFile(packed) as archive:
        archive.extractall(tmp_path / "again")
    assert load(tmp_path / "again").sha256 == one.sha256


def test_a_packed_model_is_not_written_to(packed):
    before = packed.read_bytes()
    with pytest.raises(UntwinError, match="unzip it into one"):
        save(packed, {"W": np.arange(3.0)}, {})
    assert packed.read_bytes() == before


def test_packing_twice_gives_the_same_bytes(folder, packed, tmp_path):
    assert pack(folder, tmp_path / "twice.untwin") == packed.stat().st_size
    assert (tmp_path / "twice.untwin").read_bytes() == packed.read_bytes()
    assert not list(tmp_path.glob("*.new"))


def _rewrite(packed, change, kind=ZIP_STORED):
    with ZipFile(packed) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with ZipFile(packed, "w", kind) as archive:
        for name, content in change(files).items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda files: {**files, "more.txt": b"x"}, "files of a model only"),
        (lambda files: {**files, "../lock": b"x"}, "files of a model only"),
        (lambda files: {**files, "lock": b"x"}, "files of a model only"),
        (lambda files: {name: content for name, content in files.items() if name != "manifest.json"}, "manifest.json"),
        (lambda files: {name: content for name, content in files.items() if name == "manifest.json"}, "no such file"),
        (lambda files: {name: content[:-1] + b"\x07" for name, content in files.items()}, "manifest"),
    ],
)
def test_a_changed_archive_is_refused(packed, change, reason):
    _rewrite(packed, change)
    with pytest.raises(ModelRefused, match=reason):
        load(packed)


def test_what_is_compressed_is_refused(packed):
    """It could be a thousand times as large as its file."""
    _rewrite(packed, dict, ZIP_DEFLATED)
    with pytest.raises(ModelRefused, match="stored as they are"):
        load(packed)


def test_a_file_that_is_no_archive(tmp_path):
    (tmp_path / "model.untwin").write_text("hello")
    with pytest.raises(ModelRefused, match="holds no model"):
        load(tmp_path / "model.untwin")


@pytest.mark.parametrize("seed", range(5))
def test_damaged_bytes_are_refused_or_change_nothing(folder, packed, seed):
    rng, whole, content = np.random.default_rng(seed), load(folder), packed.read_bytes()
    for _ in range(40):
        damaged = bytearray(content)
        damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
        packed.write_bytes(damaged if rng.random() < 0.8 else damaged[: rng.integers(len(damaged))])
        try:
            found = load(packed)
        except ModelRefused:
            continue
        np.testing.assert_array_equal(found.parts["W"], whole.parts["W"])


def test_large_models_are_mapped_and_small_ones_read(folder, monkeypatch):
    def backing(array):
        while array.base is not None and isinstance(array.base, np.ndarray):
            array = array.base
        return type(array.base).__name__

    assert backing(load(folder).parts["W"]) == "bytes"
    monkeypatch.setattr("untwin.store.directory.LARGEST_IN_MEMORY", 0)
    assert backing(load(folder).parts["W"]) == "mmap"
