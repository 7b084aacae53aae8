"""Damage a model directory in one of many ways: accidents, and what a stranger might do who can compute digests.

`damage(folder, generator)` harms a saved model in place (one that holds texts and a matrix) and says how. Afterwards
it must be refused with a reason, or be the same to the last bit (a leftover may be harmed without harm).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from typing import TYPE_CHECKING

import numpy as np

from untwin.store.manifest import sign_manifest
from untwin.store.npy import ArrayFile, payload

if TYPE_CHECKING:
    from pathlib import Path


def damage(folder: Path, generator: np.random.Generator) -> str:
    """Harm the model and return a line that says how."""
    way = WAYS[generator.integers(len(WAYS))]
    return f"{way.__name__}: {way(folder, generator)}"


# ---------------------------------------------------------------------- accidents


def flipped(folder, generator):
    path = _any_file(folder, generator)
    content = bytearray(path.read_bytes())
    place = int(generator.integers(len(content)))
    content[place] ^= 1 << int(generator.integers(8))
    path.write_bytes(content)
    return f"byte {place} of {path.name}"


def cut(folder, generator):
    path = _any_file(folder, generator)
    size = int(generator.integers(path.stat().st_size))
    os.truncate(path, size)
    return f"{path.name} to {size} bytes"


def grown(folder, generator):
    path = _any_file(folder, generator)
    with path.open("ab") as file:
        file.write(generator.bytes(int(generator.integers(1, 200))))
    return path.name


def zeroed(folder, generator):
    path = _any_file(folder, generator)
    content = bytearray(path.read_bytes())
    begin = int(generator.integers(len(content)))
    content[begin:] = bytes(len(content) - begin)
    path.write_bytes(content)
    return f"{path.name} from byte {begin}"


def swapped(folder, generator):
    first, second = generator.choice(_files(folder), size=2, replace=False)
    first.rename(folder / "between")
    second.rename(first)
    (folder / "between").rename(second)
    return f"{first.name} and {second.name}"


def removed(folder, generator):
    path = _any_file(folder, generator)
    path.unlink()
    return path.name


# ---------------------------------------------------------------------- strangers


def foreign(folder, generator):
    name = str(generator.choice(["run.py", "model.pkl", "MANIFEST.JSON", "array.npy", ".hidden", f"{'0' * 64}.npz"]))
    (folder / name).write_text("not ours")
    return name


def special(folder, generator):
    """Put a link, a folder or a pipe where a file of ours stands or might stand."""
    path = _any_file(folder, generator) if generator.integers(2) else folder / f"{'0' * 64}.npy"
    target = folder.parent / f"{folder.name}-target"
    target.write_bytes(path.read_bytes() if path.exists() else b"")
    path.unlink(missing_ok=True)
    kind = str(generator.choice(["link", "folder", "pipe"]))
    {"link": lambda: path.symlink_to(target), "folder": path.mkdir, "pipe": lambda: os.mkfifo(path)}[kind]()
    return f"{kind} {path.name}"


def edited(folder, generator):
    """Change a digit or a word of the manifest, without a new digest."""
    path = folder / "manifest.json"
    text = path.read_text()
    digits = [place for place, character in enumerate(text) if character.isdigit()]
    place = digits[generator.integers(len(digits))]
    path.write_text(text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :])
    return f"digit {place}"


def forged_files(folder, generator):
    """Say something wrong about an array, with the right digest of the manifest."""
    manifest = _manifest(folder)
    sha256, entry = _any_entry(manifest, generator)
    lies = {
        "dtype": ["|O", "|V8", "<M8[s]", "<c16", "<U999999999", "<U9999999", "f8", "", 8, "<f16", "<U0"],
        "shape": [[2**62, 4], [-1], [0, 2**70], [1] * 65, [1.0], "3", [entry["shape"]], [*entry["shape"], 2], [10**30]],
        "fortran_order": [not entry["fortran_order"], "C", 1, None],
        "sha256": ["../../../etc/passwd", "0" * 64, "", sha256.upper(), sha256 + "\n"],
    }
    key = str(generator.choice(list(lies)))
    lie = lies[key][generator.integers(len(lies[key]))]
    if key == "sha256":
        manifest["files"][lie] = manifest["files"].pop(sha256)
    else:
        entry[key] = lie
    _sign(folder, manifest)
    return f"{key} {lie!r:.60}"


def forged_format(folder, generator):
    manifest = _manifest(folder)
    lie = [2, 10**6, 0, -1, "1", None, 1.5, [], {}][generator.integers(9)]
    _sign(folder, {**manifest, "format": lie})
    return f"{lie!r}"


def forged_parts(folder, generator):
    """Replace the entry of one part by nonsense."""
    manifest = _manifest(folder)
    name = str(generator.choice(list(manifest["parts"])))
    deep: object = {}
    for _ in range(300):
        deep = {"parts": {"x": deep}}
    lies = [None, 1, [], {}, {"pickle": "x"}, {"parts": []}, {"csr": {}}, {"texts": {"utf8": 1}}, {"array": None}]
    lies += [{"array": "0" * 64}, {"array": ["x"]}, deep]
    manifest["parts"][name] = lies[generator.integers(len(lies))]
    _sign(folder, manifest)
    return f"{name}: {manifest['parts'][name]!r:.40}"


def forged_index(folder, generator):
    """Put a wrong number into the indices, row pointers or offsets of one part, with right digests everywhere."""
    manifest = _manifest(folder)
    keys = {"csr": ["indices", "indptr"], "texts": ["offsets"], "array": []}
    places = [(part, key) for kind, part in _leaves(manifest["parts"]) if kind != "array" for key in keys[kind]]
    places = [(part, key) for part, key in places if manifest["files"][part[key]]["shape"] != [0]]
    part, key = places[generator.integers(len(places))]
    array = np.load(folder / f"{part[key]}.npy")
    beyond = part["shape"][1] if key == "indices" else int(array.max()) + 1
    wrong = [-1, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min, beyond]
    place, number = int(generator.integers(len(array))), int(wrong[generator.integers(len(wrong))])
    array[place] = number
    file = ArrayFile.of(array)
    (folder / file.name).write_bytes(file.header + payload(array))
    part[key] = file.sha256
    manifest["files"][file.sha256] = file.to_json()
    _sign(folder, manifest)
    return f"{key}[{place}] = {number}"


def forged_shape(folder, generator):
    """Make a matrix claim fewer columns than it uses, or other rows than it has."""
    manifest = _manifest(folder)
    matrices = [part for kind, part in _leaves(manifest["parts"]) if kind == "csr"]
    matrices = [part for part in matrices if manifest["files"][part["data"]]["shape"] != [0]]
    part = matrices[generator.integers(len(matrices))]
    rows, columns = part["shape"]
    used = int(np.load(folder / f"{part['indices']}.npy").max())
    lies = [[rows, used], [rows + 1, columns], [rows - 1, columns], [-1, columns], [rows, -1], [rows, 2**70], [rows]]
    part["shape"] = lies[generator.integers(len(lies))]
    _sign(folder, manifest)
    return f"{[rows, columns]} -> {part['shape']}"


def forged_object(folder, generator):
    """Hide a pickle behind the name of an array, with right digests everywhere."""
    manifest = _manifest(folder)
    sha256, entry = _any_entry(manifest, generator)
    pickled = io.BytesIO()
    np.save(pickled, np.array([print], dtype=object), allow_pickle=True)
    forged = hashlib.sha256(pickled.getvalue()).hexdigest()
    (folder / f"{forged}.npy").write_bytes(pickled.getvalue())
    if generator.integers(2):
        entry = {"dtype": "|u1", "shape": [len(pickled.getvalue()) - 128], "fortran_order": False}
    manifest["files"][forged] = entry
    manifest["parts"] = json.loads(json.dumps(manifest["parts"]).replace(sha256, forged))
    _sign(folder, manifest)
    return f"as {entry['dtype']}"


WAYS = [
    *(flipped, cut, grown, zeroed, swapped, removed, foreign, special, edited),
    *(forged_files, forged_format, forged_parts, forged_index, forged_shape, forged_object),
]


# ---------------------------------------------------------------------- tools


def _files(folder):
    return sorted(path for path in folder.iterdir() if path.is_file())


def _any_file(folder, generator):
    files = _files(folder)
    return files[generator.integers(len(files))]


def _manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def _sign(folder, manifest):
    """Write the manifest with a digest that is right."""
    manifest.pop("sha256", None)
    (folder / "manifest.json").write_bytes(sign_manifest(manifest))


def _leaves(parts):
    """Return pairs (kind, content) of all that is no mapping."""
    entries = [entry for part in parts.values() for entry in part.items()]
    nested = [leaf for kind, content in entries if kind == "parts" for leaf in _leaves(content)]
    return [entry for entry in entries if entry[0] != "parts"] + nested


def _any_entry(manifest, generator):
    """Return the digest of some file and what the manifest says about it."""
    entries = list(manifest["files"].items())
    return entries[generator.integers(len(entries))]
