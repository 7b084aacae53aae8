"""Commands to go on with that work as they are said: with the options that this call needed to read its table."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from untwin.cli.options import Input
    from untwin.data.columns import ColumnRoles

NOT_NEEDED = "limit"  # to find a row


def explain_hint(model: str, data: str, given: Input, named: ColumnRoles | None = None) -> list[str]:
    """Return how to explain a row of a table that was just read, in words; `named` are columns not named as in the fit.

    >>> from untwin.cli.options import Input
    >>> from untwin.data.columns import ColumnRoles
    >>> from untwin.data.read import ReadOptions
    >>> given = Input(ColumnRoles(text=("the body",)), ReadOptions(separator=";"), "error")
    >>> print(*explain_hint("model", "more.csv", given, given.roles), sep=" / ")
    explain / model / more.csv / --text-column / the body / --separator / ; / --id / ID
    """
    from untwin.cli.options import column_flag_of
    from untwin.data.read.source import STDIN

    words = ["explain", model, "DATA" if data == STDIN else data]
    for column, role in () if named is None else named.named():
        if role in ("text", "numeric", "nominal", "id"):
            words += [column_flag_of(role), column]
    return [*words, *_reading(given), "--id", "ID"]


def fit_hint(data: str, given: Input) -> list[str]:
    """Return how to fit the table that was just checked, in words.

    >>> from untwin.cli.options import Input
    >>> from untwin.data.columns import ColumnRoles
    >>> from untwin.data.read import ReadOptions
    >>> given = Input(ColumnRoles(label="kind", text=("the body",)), ReadOptions(separator=";"), "drop")
    >>> print(*fit_hint("tickets.csv", given))
    fit tickets.csv --text the body --label kind --separator ; --missing-label drop -o MODEL
    """
    from untwin.cli.options import flag_of

    words = ["fit", data]
    for column, role in given.roles.named():
        words += [flag_of(role), column]
    dropping = [] if given.missing_label == "error" else [flag_of("missing_label"), given.missing_label]
    return [*words, *_reading(given), *dropping, "-o", "MODEL"]


def _reading(given: Input) -> list[str]:
    """Return the options that say how to read the table."""
    from untwin.cli.options import flag_of

    options = {name: value for name, value in asdict(given.read).items() if value and name != NOT_NEEDED}
    return [word for name, value in options.items() for word in (flag_of(name), str(value))]
