"""What a taxonomy or a change may hold: names and texts of a sensible length, and so many of them.

Both may come from a stranger's file, so every part of them is checked when it is made.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from untwin._errors import InputError

LONGEST_NAME = 1_000  # characters of the name of a class or an author
LONGEST_TEXT = 20_000  # characters of a definition or a reason
MOST_CLASSES = 100_000
MOST_LINKS = 1_000_000
HINT = "Look at the classes with `untwin classes MODEL`."


def refuse(message: str, *, code: str = "class-change", hint: str = HINT) -> InputError:
    """Return the error of a taxonomy or change that cannot be."""
    return InputError(message, code=code, hint=hint)


def require_name(name: Any, said: str = "The name of a class") -> str:
    """Return a name; raise InputError unless it is a text that can be told apart from others when it is read."""
    if type(name) is not str or not is_name(name):
        raise refuse(f"{said} must be a text of 1 to {LONGEST_NAME:,} characters. Got {str(name)[:60]!r} instead.")
    return name


def is_name(name: str) -> bool:
    """Tell whether a class can have this name; labels of a table may be anything.

    >>> is_name("bill"), is_name(" "), is_name("a" + chr(0))
    (True, False, False)
    """
    return bool(name.strip()) and len(name) <= LONGEST_NAME and "\0" not in name


def require_text(text: Any, said: str) -> str:
    """Return a text of any content, perhaps empty; raise InputError for anything else."""
    if type(text) is not str or len(text) > LONGEST_TEXT:
        raise refuse(f"{said} must be a text of at most {LONGEST_TEXT:,} characters. Got {str(text)[:60]!r} instead.")
    return text


def require_time(at: Any) -> str:
    """Return a moment as ISO 8601 writes it, or an empty text; raise InputError for anything else."""
    if type(at) is str and len(at) <= 40:
        try:
            if at == "" or datetime.fromisoformat(at):
                return at
        except ValueError:
            pass
    raise refuse(f"A time must be written like 2026-01-31T12:00:00+00:00. Got {str(at)[:60]!r} instead.")


def time_now() -> str:
    """Return this moment, in UTC, as events keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
