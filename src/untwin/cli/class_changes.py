"""The changes that `untwin classes` can make, each with its words, and what it says as a value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untwin.cli.options import force_option, running_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin.taxonomy import TaxonomyChange


def author_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --author and --because."""
    for option in (
        click.option("--because", metavar="TEXT", default="", help="Why; kept in the log."),
        click.option("--author", metavar="NAME", help="Who decides.  [default: the user of this machine]"),
    ):
        command = option(command)
    return command


def user_name() -> str:
    """Return the name of the user of this machine; empty if it has none."""
    from getpass import getuser

    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return ""


def _change(name: str, *params: Callable[..., Any], text: str) -> click.Command:
    """Return a command that makes a change with these parameters."""

    def callback(**values: Any) -> int:
        from untwin.cli.classes import change_classes

        return change_classes(name, values)

    callback.__doc__ = text
    command: Any = callback
    later = click.option("--later", is_flag=True, help="Do not train now; the next change does.")
    for decorate in (running_options, force_option, later, author_options, *reversed(params)):
        command = decorate(command)
    return click.command(name)(command)


_NAME = click.argument("name")

CHANGE_COMMANDS = {
    command.name: command
    for command in (
        _change("rename", _NAME, click.argument("to"), text="Give the class NAME the name TO."),
        _change(
            "merge",
            click.argument("names", nargs=-1, required=True),
            click.option("--into", metavar="CLASS", required=True, help="One of them, another class, or a new name."),
            text="Make the classes NAMES one.",
        ),
        _change(
            "split",
            _NAME,
            click.argument("into", nargs=-1, required=True),
            click.option("--rest", metavar="CLASS", help="Where rows go that belong to no part.  [default: they stay]"),
            click.option("--rows", metavar="FILE", help="A table with columns id and label: the part of each row."),
            click.option(
                "--where", metavar="RULE", default="", help="Rows with these words, or COLUMN=VALUE, go to the first."
            ),
            text="Make new classes INTO of parts of NAME; by itself, two halves as the finding proposes.",
        ),
        _change(
            "move",
            _NAME,
            click.argument("parent", required=False),
            text="Put the class NAME below PARENT; without PARENT at the top.",
        ),
        _change("link", click.argument("a"), click.argument("b"), text="Say 'also see' of the classes A and B."),
        _change(
            "define",
            _NAME,
            click.argument("definition"),
            text="Say in words what belongs to the class NAME.",
        ),
        _change(
            "retire",
            _NAME,
            click.option("--heir", metavar="CLASS", help="Where its rows go.  [default: they leave the model]"),
            text="Use the class NAME no longer.",
        ),
        _change(
            "create",
            _NAME,
            click.option("--below", "parent", metavar="CLASS", help="Its parent."),
            click.option("--definition", metavar="TEXT", default="", help="What belongs to it."),
            text="Have a new class NAME, which no row has yet.",
        ),
    )
}


def change_of(name: str, values: dict[str, Any]) -> TaxonomyChange:
    """Return the change that a command's words say."""
    from untwin.taxonomy.changes import CHANGES

    said = {part: value for part, value in values.items() if part not in ("later", "force", "strict", "as_json")}
    said = {"author": said.pop("author") or user_name(), "reason": said.pop("because"), **said}
    rows = said.pop("rows", None)
    if rows is not None:
        said["rows"] = _rows_of(Path(rows), said["into"])
    return CHANGES[name](**said)


def _rows_of(path: Path, into: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the rows of each part of a split, by a table that names the part of each row."""
    from untwin._errors import InputError
    from untwin.cli.decisions import read_decisions

    parts: dict[str, list[str]] = {name: [] for name in into}
    for decision in read_decisions(path, ("id", "label")):
        if decision.label not in parts:
            hint = f"Name one of {', '.join(map(repr, into))}, or leave the row out."
            raise InputError(f"{decision.place}: {decision.label!r} is no part.", code="unknown-class", hint=hint)
        parts[decision.label].append(decision.id)
    return tuple(tuple(rows) for rows in parts.values())
