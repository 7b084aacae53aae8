"""Whose fault it is: what a model says about rows that it cannot take is the user's to mend, and no bug."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from untwin._errors import InputError, UntwinError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def as_input_errors(source: str) -> Iterator[None]:
    """Let a `ValueError`, which is how estimators refuse rows, be an error about the source of the rows.

    >>> with as_input_errors("tickets.csv"):
    ...     raise ValueError("X must hold words.")
    Traceback (most recent call last):
        ...
    untwin._errors.InputError: tickets.csv: cannot be used: X must hold words. Look at it with `untwin check`; ...
    """
    try:
        yield
    except UntwinError:
        raise
    except ValueError as error:
        hint = "Look at it with `untwin check`; if that finds nothing, set UNTWIN_DEBUG=1 to see where it went wrong."
        raise InputError(f"{source}: cannot be used: {error}", code="unusable", hint=hint) from error
