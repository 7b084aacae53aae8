"""What groups of classes are called."""

from __future__ import annotations

from typing import Any

NAMED_MEMBERS = 4  # classes of a group that are spelled out


def group_name(members: tuple[Any, ...]) -> str:
    """Return what to call a group of classes.

    >>> group_name(("a", "b")), group_name(tuple("abcdef"))
    ('a | b', 'a | b | c | and 3 more')
    """
    names = [str(member) for member in members]
    shown = names if len(names) <= NAMED_MEMBERS else [*names[: NAMED_MEMBERS - 1], f"and {len(names) - 3} more"]
    return " | ".join(shown)
