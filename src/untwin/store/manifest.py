"""`manifest.json`: what the model is, which file holds which array, and a digest of all that.

    {"format": 6, "facts": {...}, "parts": {...}, "files": {...}, "sha256": "<digest of every byte before this one>"}

facts     the configuration
parts     by name, nested: how each part is made of arrays, which are named by their digests (see `kinds`)
files     by digest: dtype, shape and order of each array (see `npy`)

`format` first and `sha256` last, with this meaning, is what every later format keeps, so that an old untwin can tell a
newer model from a damaged one.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from untwin.store.refusal import ModelRefused, damage_error

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 8  # what is written, and read
NEWER = "Install a newer untwin to load it."
OLDER = "Fit the model again: `untwin fit DATA -o MODEL --config MODEL/manifest.json` repeats it with its options."
LARGEST_MANIFEST = 1 << 21  # bytes; parsed they take thirty times as many at worst
_BEFORE_DIGEST = b',\n "sha256": "'
_AFTER_DIGEST = b'"\n}\n'
_DIGEST_LENGTH = 64


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest says; what it says about parts and files is not checked yet."""

    format: int
    facts: dict[str, Any]
    parts: dict[str, object]
    files: dict[str, object]
    sha256: str


def compose(facts: Mapping[str, Any], parts: Mapping[str, object], files: Mapping[str, object]) -> bytes:
    """Return the bytes of a manifest."""
    return sign_manifest({"format": FORMAT, "facts": facts, "parts": parts, "files": files})


def sign_manifest(content: Mapping[str, object]) -> bytes:
    """Return `content` as JSON that ends with its own digest."""
    text = json.dumps(content, indent=1, allow_nan=False).encode().removesuffix(b"\n}") + _BEFORE_DIGEST
    return text + hashlib.sha256(text).hexdigest().encode() + _AFTER_DIGEST


def require_plain(facts: Mapping[str, Any]) -> None:
    """Raise ValueError for facts that would change in a round trip through JSON."""
    rule = "facts must consist of strings, finite numbers, booleans, None, lists, and dictionaries with string keys."
    try:
        survives = json.loads(json.dumps(facts, allow_nan=False)) == facts
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{rule} Got: {error}.") from None
    if not survives:
        raise ValueError(f"{rule} Got tuples or other keys instead.")


def parse(content: bytes) -> Manifest:
    """Return the manifest in these bytes, which need not be trusted; raise `ModelRefused` if it is not valid."""
    if len(content) > LARGEST_MANIFEST:
        raise damage_error(f"manifest.json must have at most {LARGEST_MANIFEST} bytes. Got more instead.")
    digest_begins = len(content) - _DIGEST_LENGTH - len(_AFTER_DIGEST)
    text = content[: max(digest_begins, 0)]
    sha256 = hashlib.sha256(text).hexdigest()
    if not text.endswith(_BEFORE_DIGEST) or content[digest_begins:] != sha256.encode() + _AFTER_DIGEST:
        raise damage_error("manifest.json must end with its own digest. Got another end instead.")
    match _parse_json(content):
        case {"format": int(number)} if number >= 1 and number != FORMAT:
            code, hint = ("model-too-new", NEWER) if number > FORMAT else ("model-too-old", OLDER)
            raise ModelRefused(f"The model has format {number}; this untwin reads {FORMAT}.", code=code, hint=hint)
        case {
            "format": int(number),
            "facts": dict(facts),
            "parts": dict(parts),
            "files": dict(files),
            "sha256": str(),
        } if number == FORMAT:
            return Manifest(number, facts, parts, files, sha256)
    raise damage_error("manifest.json must hold format, facts, parts, files and sha256. Got something else instead.")


def _parse_json(content: bytes) -> object:
    try:
        return json.loads(content, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise damage_error(f"manifest.json must be plain JSON. Got instead: {error}.") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name that occurs twice")
    return content


def _no_constant(name: str) -> None:
    raise ValueError(name)
