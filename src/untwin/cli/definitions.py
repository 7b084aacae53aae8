"""Definitions of classes, as their owner writes them down."""

from __future__ import annotations

import json
from pathlib import Path

from untwin._errors import InputError


def read_definitions(path: str) -> dict[str, str]:
    """Return the definition of each class that a JSON file holds by name."""
    hint = 'Write one JSON object, as in {"late_fee": "A charge for paying late."}'
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise InputError(f"{path}: is no JSON: {error}", code="not-json", hint=hint) from None
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise InputError(f"{path}: must be an object of texts.", code="not-definitions", hint=hint)
    return found
