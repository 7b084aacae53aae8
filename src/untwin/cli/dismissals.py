"""Where the dismissals of a model are kept: a file beside it, MODEL.dismissed.json, which is its owner's.

It is no part of the model: what is handed on tells nobody what its owner knows already.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_type_hints

from untwin._errors import InputError
from untwin._files import write_whole
from untwin.model.findings.dismissals import Dismissal, Dismissals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MOST_BYTES = 1 << 26


def dismissals_of(folder: Path) -> Dismissals:
    """Return what the owner of a model has dismissed."""
    return Dismissals.of(_records(_place(folder)))


def keep_dismissals(folder: Path, new: Sequence[Dismissal]) -> None:
    """Keep more dismissals; nobody else writes to the model meanwhile."""
    place = _place(folder)
    known = Dismissals.of([*_records(place), *new])
    write_whole(place, json.dumps(known.records(), indent=1).encode())


def _place(folder: Path) -> Path:
    named = folder if folder.name not in ("", "..") else folder.resolve()
    return named.with_name(f"{named.name}.dismissed.json")


def _records(place: Path) -> list[Dismissal]:
    if not place.exists():
        return []
    try:
        content = json.loads(place.read_bytes()) if place.stat().st_size <= MOST_BYTES else None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, list) or not all(_is_dismissal(one) for one in content):
        message = f"{place}: is not what `untwin dismiss` writes."
        raise InputError(message, code="dismissals", hint="Mend it, or move it away: nothing is dismissed then.")
    return [Dismissal(**one) for one in content]


def _is_dismissal(content: Any) -> bool:
    """Tell whether a record has the fields of a dismissal, each of its type."""
    types = get_type_hints(Dismissal)
    needed = ("finding", "about", "because")
    return (
        isinstance(content, dict)
        and set(needed) <= set(content) <= set(types)
        and all(isinstance(cell, types[name]) and not isinstance(cell, bool) for name, cell in content.items())
    )
