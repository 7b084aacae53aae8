"""What earlier formats did not have yet, and what it would have been: their models answer as on the day they were made.

A class that gets a new attribute needs a new format (`untwin.store.manifest.FORMAT`) and a line here.
"""

from __future__ import annotations

from typing import Any

# format -> class -> attributes that came with it, as they are written in a file
_NEW: dict[int, dict[str, dict[str, Any]]] = {2: {"Team": {"trust": {"Trust": {"slope": 1.0, "shift": 0.0}}}}}


def came_later(number: int) -> dict[str, dict[str, Any]]:
    """Return by class which attributes models of this format lack.

    >>> came_later(1), came_later(2)
    ({'Team': {'trust': {'Trust': {'slope': 1.0, 'shift': 0.0}}}}, {})
    """
    later: dict[str, dict[str, Any]] = {}
    for since in sorted(_NEW):
        for name, attributes in _NEW[since].items() if since > number else ():
            later[name] = later.get(name, {}) | attributes
    return later
