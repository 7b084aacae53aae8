"""A taxonomy as a JSON document, and back; the document may be a stranger's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from untwin.taxonomy.changes import entry_from_json, entry_to_json
from untwin.taxonomy.classes import Taxonomy
from untwin.taxonomy.limits import MOST_CLASSES, refuse, require_name

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1
LARGEST = 1 << 24  # bytes: parsed they take many times as many
HINT = "Give a file as `untwin classes MODEL list --json` writes it, or a JSON list of names."


def taxonomy_to_json(taxonomy: Taxonomy) -> dict[str, Any]:
    """Return a taxonomy as JSON keeps it.

    >>> taxonomy_from_json(taxonomy_to_json(Taxonomy.of(["a", "b"]))) == Taxonomy.of(["a", "b"])
    True
    """
    return {
        "format": FORMAT,
        "classes": [entry_to_json(entry) for entry in taxonomy.classes],
        "links": [list(pair) for pair in taxonomy.links],
        "next": taxonomy.next_number,
    }


def taxonomy_from_json(content: Any) -> Taxonomy:
    """Return the taxonomy of a document; raise InputError if anything is wrong with it.

    A list of names is a taxonomy too.
    """
    match content:
        case {"format": 1, "classes": list(classes), "links": list(links), "next": next_number}:
            if len(classes) > MOST_CLASSES or not all(isinstance(pair, list) for pair in links):
                raise refuse(f"A taxonomy must have at most {MOST_CLASSES:,} classes. Got more.", hint=HINT)
            pairs = tuple(tuple(map(str, pair)) for pair in links)
            return Taxonomy(tuple(map(entry_from_json, classes)), pairs, next_number)  # type: ignore[arg-type]
        case list(names):
            return Taxonomy.of([require_name(name) for name in names[: MOST_CLASSES + 1]])
        case {"format": _}:
            raise refuse("A taxonomy must have format 1, classes, links and the next number. Got others.", hint=HINT)
    raise refuse(f"A taxonomy must be an object or a list of names. Got {str(content)[:60]!r} instead.", hint=HINT)


def read_taxonomy(path: Path) -> Taxonomy:
    """Return the taxonomy of a file; raise InputError, which names the file, if there is none."""
    try:
        content = path.read_bytes() if path.stat().st_size <= LARGEST else b""
        if not content:
            raise refuse(f"{path}: must hold 1 to {LARGEST:,} bytes.", code="taxonomy", hint=HINT)
        return taxonomy_from_json(json.loads(content))
    except OSError as error:
        raise refuse(f"{path}: cannot be read: {error.strerror}.", code="taxonomy", hint=HINT) from None
    except RecursionError:
        raise refuse(f"{path}: must not be nested deeply.", code="taxonomy", hint=HINT) from None
    except ValueError as error:
        if hasattr(error, "hint"):  # ours says what is wrong; only the file is missing
            raise refuse(f"{path}: {error.message}", code="taxonomy", hint=error.hint) from None  # type: ignore[attr-defined]
        raise refuse(f"{path}: is not JSON: {error}.", code="taxonomy", hint=HINT) from None


def taxonomy_lines(taxonomy: Taxonomy) -> list[str]:
    """Return a taxonomy as lines of JSON, one for each class, to be stored as texts are."""
    head = {"format": FORMAT, "next": taxonomy.next_number, "links": [list(pair) for pair in taxonomy.links]}
    return [json.dumps(head), *(json.dumps(entry_to_json(entry), ensure_ascii=False) for entry in taxonomy.classes)]


def taxonomy_of_lines(lines: list[str]) -> Taxonomy:
    """Return the taxonomy of such lines; raise InputError if anything is wrong with it."""
    if sum(map(len, lines)) > LARGEST:
        raise refuse(f"A taxonomy must have at most {LARGEST:,} characters. Got more.")
    try:
        head, *classes = map(json.loads, lines)
    except (ValueError, RecursionError):
        raise refuse("A taxonomy must be lines of JSON. Got something else instead.") from None
    return taxonomy_from_json({**head, "classes": classes} if isinstance(head, dict) else None)
