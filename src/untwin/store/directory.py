"""Save and load: the life of a model directory.

A save writes the arrays, reads them back, and replaces `manifest.json` last. That replacement is the only moment at
which the directory changes its meaning: before it the old model loads, after it the new one, whenever the power fails.
An array that has not changed has the same digest, so the same file, and is not written again.

A load trusts nothing: not the digests (they guard against accidents; a stranger can compute them too), not the sizes,
not an index. Models of up to 256 MB are read into memory. Arrays of larger ones stay on disk until they are used: if
somebody truncates such a file meanwhile, the process ends.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from untwin._errors import UntwinError
from untwin._files import flush
from untwin.store.files import LOCK, MANIFEST, names, refuse_strangers, remove_files, write_new
from untwin.store.kinds import pack_part, unpack_part
from untwin.store.lock import sole_writer
from untwin.store.manifest import LARGEST_MANIFEST, compose, parse, require_plain
from untwin.store.npy import ArrayFile, payload
from untwin.store.packed import PackedFile, write_packed
from untwin.store.refusal import ModelRefused, damage_error, require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from untwin._types import Array
    from untwin.store.kinds import Part

LARGEST_MODEL = 1 << 36  # bytes
LARGEST_IN_MEMORY = 1 << 28  # bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """What a model directory holds.

    Attributes
    ----------
    parts : dict
        The parts by name, nested as they were saved: read-only arrays, `csr_array`, `Texts`, dictionaries.
    facts : dict
        The configuration.
    sha256 : str
        Digest of the manifest, and so of the whole model.
    format : int
        Which format it was written in.
    """

    parts: dict[str, Any]
    facts: dict[str, Any]
    sha256: str
    format: int


def save(
    folder: str | Path, parts: Mapping[str, Part], facts: Mapping[str, Any], *, replaces: str | None = None
) -> str:
    """Write the model to `folder` and return its digest; if this is interrupted, the old model stays complete.

    Parameters
    ----------
    folder : str or Path
        A new folder, an empty one, or a model that is to be replaced.
    parts : mapping
        By name: NumPy arrays of a plain dtype, `csr_array`, lists of strings (or `Texts`), and mappings of these.
    facts : mapping
        The configuration: whatever JSON holds.
    replaces : str, optional
        Digest of the model that the new one was made from: if the folder holds another one by now, raise instead of
        losing what that has learnt. None: replace whatever model is there.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> folder = tempfile.mkdtemp()
    >>> sha256 = save(folder, {"space": {"S": np.array([3.0, 2.0])}, "terms": ["ape", "bee"]}, {"k": 2})
    >>> stored = load(folder)
    >>> stored.parts["space"]["S"], stored.parts["terms"], stored.facts, stored.sha256 == sha256
    (array([3., 2.]), Texts(2 texts, 6 bytes), {'k': 2}, True)
    """
    place = Path(folder)
    require_plain(facts)
    try:
        with sole_writer(place):
            _refuse_change(place, replaces)
            return _save(place, parts, facts, replaces)
    except ModelRefused as error:  # what was written is read back before it counts
        raise ValueError(f"parts must be such that they can be loaded. Got instead: {error.message}") from None
    except OSError as error:
        error.filename = error.filename or str(place)
        raise


def load(folder: str | Path, only: str | None = None) -> Stored:
    """Return the model of a folder, which need not be trusted; raise `ModelRefused` if anything is wrong with it.

    `only` names the part to read, where the others are not needed. See `save` for an example.
    """
    place = Path(folder)
    if place.is_file():
        with _naming(place), PackedFile(place) as packed:
            return _open(packed.read(MANIFEST, LARGEST_MANIFEST), packed.arrays, only)
    while True:
        content = _manifest_bytes(place)
        try:
            return _open(content, lambda files: _read_arrays(place, files), only)
        except ModelRefused as error:
            # Had it been replaced while we read it, files of the old model would be gone: then read the new one.
            if _manifest_bytes(place) == content:
                raise ModelRefused(f"{place}: {error.message}", code=error.code, hint=error.hint) from None


def holds_model(place: str | Path) -> bool:
    """Tell whether a folder, or a file, is meant to be a model; what is wrong with it is said when it is loaded."""
    path = Path(place)
    if not path.is_file():
        return (path / MANIFEST).is_file()
    try:
        with ZipFile(path) as packed:
            return MANIFEST in packed.namelist()
    except (BadZipFile, OSError, RuntimeError, ValueError):
        return False


def read_digest(folder: str | Path) -> str:
    """Return the digest of the model of a folder without reading its arrays; raise `ModelRefused` if there is none."""
    return parse(_manifest_bytes(Path(folder))).sha256


def read_facts(folder: str | Path) -> dict[str, Any]:
    """Return what a model says about itself without reading its arrays; raise `ModelRefused` if there is none."""
    return parse(_manifest_bytes(Path(folder))).facts


def pack(folder: str | Path, target: str | Path) -> int:
    """Write the model of a folder into a single file, to be loaded or mailed as it is; return its bytes."""
    content, stored = _manifest_bytes(Path(folder)), load(folder)
    manifest = parse(content)
    require(manifest.sha256 == stored.sha256, "The model must not change while it is packed")
    return write_packed(Path(folder), content, sorted(f"{sha256}.npy" for sha256 in manifest.files), Path(target))


@contextmanager
def _naming(place: Path) -> Iterator[None]:
    """Name the model that is refused."""
    try:
        yield
    except ModelRefused as error:
        raise ModelRefused(f"{place}: {error.message}", code=error.code, hint=error.hint) from None


def _manifest_bytes(folder: Path) -> bytes:
    if folder.is_file():
        with _naming(folder), PackedFile(folder) as packed:
            return packed.read(MANIFEST, LARGEST_MANIFEST)
    try:
        refuse_strangers(folder, ModelRefused, "Move it away if you know it, else take a fresh copy of the model.")
        with (folder / MANIFEST).open("rb") as file:
            return file.read(LARGEST_MANIFEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        hint = "Give the folder that `untwin fit` has written."
        raise ModelRefused(f"{folder}: holds no model.", code="model-missing", hint=hint) from None


def _open(content: bytes, read: Callable[[list[ArrayFile]], Iterable[Array]], only: str | None = None) -> Stored:
    """Return the model of a manifest, or one part of it; `read` returns the arrays of files, in their order."""
    manifest = parse(content)
    parts = {name: entry for name, entry in manifest.parts.items() if only in (None, name)}
    named = None if only is None else json.dumps(parts)
    files = [
        ArrayFile.from_json(sha256, entry)
        for sha256, entry in manifest.files.items()
        if named is None or sha256 in named
    ]
    if sum(file.size for file in files) > LARGEST_MODEL:
        reason = f"A model must have at most {LARGEST_MODEL} bytes. Got more instead."
        raise ModelRefused(reason, code="model-too-large", hint="Fit it with fewer components or without texts.")
    files.sort(key=lambda file: file.size, reverse=True)  # the longest work first
    arrays = {file.sha256: array for file, array in zip(files, read(files), strict=True)}

    def get(sha256: object) -> Array:
        if not isinstance(sha256, str) or sha256 not in arrays:
            raise damage_error(f"An array must be one of the files. Got {str(sha256)[:200]} instead.")
        return arrays[sha256]

    try:
        return Stored(unpack_part({"parts": parts}, get), manifest.facts, manifest.sha256, manifest.format)
    except RecursionError:
        raise damage_error("Parts must not be nested deeply. Got hundreds of levels instead.") from None


def _read_arrays(folder: Path, files: list[ArrayFile]) -> list[Array]:
    """Return the arrays of files; they are checked on all cores (hashing lets other threads run)."""
    small = sum(file.size for file in files) <= LARGEST_IN_MEMORY
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda file: file.read_file(folder) if small else file.map_file(folder), files))


def _refuse_change(folder: Path, known: str | None) -> None:
    """Raise if the folder holds another model than the `known` one; one that has gone cannot be lost."""
    if known is None or not (folder / MANIFEST).exists():
        return
    with suppress(ModelRefused):  # damaged, or of a newer untwin: not the one that is known
        if read_digest(folder) == known:
            return
    hint = "Load it again and repeat the change, save into another folder, or replace it with overwrite=True."
    message = f"{folder}: the model there has changed since this one was read from it or saved to it."
    raise UntwinError(message, code="model-changed", hint=hint)


def _save(folder: Path, parts: Mapping[str, Part], facts: Mapping[str, Any], replaces: str | None) -> str:
    present, files, content = names(folder), dict[str, ArrayFile](), b""

    def put(array: Array) -> str:
        file = ArrayFile.of(array)
        if file.sha256 not in files:
            _write(file, array, folder)
            files[file.sha256] = file
        return file.sha256

    try:
        entries = pack_part(parts, put)["parts"]
        content = compose(facts, entries, {file.sha256: file.to_json() for file in files.values()})
        stored = _open(content, lambda wanted: _read_arrays(folder, wanted))  # nothing is committed that would not load
        flush(folder)
        _refuse_change(folder, replaces)  # by somebody who knows no lock
        write_new(folder / MANIFEST, [content]).replace(folder / MANIFEST)
    except BaseException:
        if not _is_committed(folder, content):
            remove_files(folder, keep=present)  # a full disk is not to stay full because of us
        raise
    flush(folder)
    remove_files(folder, keep={MANIFEST, LOCK, *(file.name for file in files.values())})
    return stored.sha256


def _is_committed(folder: Path, content: bytes) -> bool:
    """Tell whether the manifest on disk has this content: a signal may come right after it was replaced."""
    try:
        return (folder / MANIFEST).read_bytes() == content
    except OSError:
        return False


def _write(file: ArrayFile, array: Array, folder: Path) -> None:
    """Write an array, unless its file is there already, and whole."""
    path = folder / file.name
    try:
        file.map_file(folder)
        flush(path)  # a killed save may have left it
    except ModelRefused:
        write_new(path, [file.header, payload(array)]).replace(path)
