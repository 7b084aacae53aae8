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
    from untwin.cli.options import column_flag_of, flag_of
    from untwin.data.read.source import STDIN

    words = ["explain", model, "DATA" if data == STDIN else data]
    for column, role in () if named is None else named.named():
        if role in ("text", "numeric", "nominal", "id"):
            words += [column_flag_of(role), column]
    for name, value in asdict(given.read).items():
        if value and name != NOT_NEEDED:
            words += [flag_of(name), str(value)]
    return [*words, "--id", "ID"]
