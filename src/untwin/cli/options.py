"""Options that every command shares, declared once; they reach a command as the dataclasses of the rooms below."""

from __future__ import annotations

import functools
import os
import signal
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from untwin._errors import InputError
from untwin.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from untwin.data.columns import ColumnRoles
    from untwin.data.load import Table
    from untwin.data.read import ReadOptions

    Command = Callable[..., Any]

_THREAD_VARIABLES = (
    "POLARS_MAX_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
_OTHER_FLAGS = {"order": "--ordinal"}  # parameters that have another name in Python
_REPEAT = "Repeat the option for several columns; naming any of --text, --numeric, --nominal turns guessing off."


@dataclass(frozen=True, slots=True)
class Input:
    """How to read the data, as the options say."""

    roles: ColumnRoles
    read: ReadOptions
    missing_label: Literal["error", "drop"]

    def load(self, source: str | Path) -> Table:
        """Read a labelled table."""
        from untwin.data.load import load

        let_interrupt_reading()
        return load(source, self.roles, self.read, missing_label=self.missing_label)

    def load_for(self, roles: ColumnRoles, source: str | Path) -> Table:
        """Read labelled rows for a model that reads these columns; those named now must be there."""
        from untwin.data.load import load_for_model

        let_interrupt_reading()
        return load_for_model(source, roles, self.read, named=self.roles, missing_label=self.missing_label)

    def options(self, settled: ColumnRoles) -> dict[str, Any]:
        """Return the options by name that would read the same again, with the roles that were settled."""
        roles = asdict(settled) | {"ordinal": ",".join(settled.ordinal) or None}
        return {**roles, **asdict(self.read), "missing_label": self.missing_label}


def flag_of(name: str) -> str:
    """Return the flag that sets what is a parameter of this name in Python.

    >>> flag_of("skip_bad_rows"), flag_of("order")
    ('--skip-bad-rows', '--ordinal')
    """
    return _OTHER_FLAGS.get(name) or f"--{name.replace('_', '-')}"


def column_flag_of(name: str) -> str:
    """Return the flag that sets an option of `explain`, whose --text and --id are documents: columns end in -column.

    >>> column_flag_of("text"), column_flag_of("separator")
    ('--text-column', '--separator')
    """
    return flag_of(f"{name}_column" if name in ("text", "numeric", "nominal", "id") else name)


def let_interrupt_reading() -> None:
    """Let Ctrl-C end a read that blocks; Polars' handler would let it wait for the end."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)


def _set_threads(context: click.Context, parameter: click.Parameter, value: int | None) -> None:
    """Tell the libraries how many threads to use; they look when they are loaded, which is later."""
    if value is not None:
        os.environ.update(dict.fromkeys(_THREAD_VARIABLES, str(value)))


_ROLE_NAMES = ("text", "numeric", "nominal", "label", "id", "split", "group", "parent", "label_separator")
_READ_NAMES = ("format", "separator", "encoding", "skip_bad_rows", "limit")
_COUNT = click.IntRange(min=1)

_COLUMN_OPTIONS = (
    click.option("--text", multiple=True, metavar="COL", help=f"A column of texts. {_REPEAT}"),
    click.option("--numeric", multiple=True, metavar="COL", help="A column of numbers."),
    click.option("--nominal", multiple=True, metavar="COL", help="A column of names or codes."),
    click.option("--label", metavar="COL", help="The column of the classes."),
    click.option("--id", metavar="COL", help="A column that names the rows."),
    click.option("--split", metavar="COL", help="Rows marked 'test' here are left out of the fit and scored once."),
    click.option("--group", metavar="COL", help="Rows with the same value here share a fold."),
    click.option("--parent", metavar="COL", help="The parent of each class in a known tree."),
    click.option("--label-separator", metavar="TEXT", help="Several classes in one label, separated by this."),
    click.option("--ordinal", metavar="LIST", help="The classes in order, as in '1,2,3,4'."),
    click.option(
        "--missing-label",
        type=click.Choice(["error", "drop"]),
        default="error",
        show_default=True,
        help="What to do with rows without a label.",
    ),
)

_READING_OPTIONS = (
    click.option("--separator", metavar="CHAR", help="What separates the cells of a CSV file; 'tab' for a tab."),
    click.option("--encoding", metavar="NAME", help="The encoding of a text file that is not UTF-8."),
    click.option(
        "--format", type=click.Choice(["csv", "tsv", "jsonl", "parquet"]), help="The format; needed for stdin (-)."
    ),
    click.option(
        "--skip-bad-rows", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out up to N broken rows."
    ),
    click.option("--limit", type=_COUNT, metavar="N", help="Use the first N rows only."),
)

_SEED_OPTION = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of all that is random."
)
PRECISIONS = ("full", "default", "small")
precision_option = click.option(
    "--precision",
    type=click.Choice(PRECISIONS),
    default="default",
    show_default=True,
    help="How exact the weights are: docs/commands.md tells what each keeps.",
)
force_option = click.option("--force", is_flag=True, help="Replace a file that is there and that untwin has not made.")
_RUNNING_OPTIONS = (
    click.option(
        "--threads", type=_COUNT, metavar="N", help="At most N threads.", callback=_set_threads, expose_value=False
    ),
    click.option("--strict", is_flag=True, help="Exit with 1 if there are warnings."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text."),
)


def common_options(command: Command) -> Command:
    """Add --seed, --threads, --strict and --json (passed as `seed`, `strict`, `as_json`)."""
    return _with(command, (_SEED_OPTION, *_RUNNING_OPTIONS))


def running_options(command: Command) -> Command:
    """Add --threads, --strict and --json (passed as `strict`, `as_json`): for a command whose seeds are fixed."""
    return _with(command, _RUNNING_OPTIONS)


def input_options(command: Command) -> Command:
    """Add the options that say how to read DATA, passed to the command as one `Input` named `given`."""

    @functools.wraps(command)
    def wrapper(**values: Any) -> Any:
        return command(given=_take_input(values), **values)

    return _with(wrapper, _COLUMN_OPTIONS + _READING_OPTIONS)


def reading_options(command: Command) -> Command:
    """Add the options that say how to read a file, passed to the command as one `ReadOptions` named `read`."""

    @functools.wraps(command)
    def wrapper(**values: Any) -> Any:
        return command(read=_reading(values), **values)

    return _with(wrapper, _READING_OPTIONS)


def say_idle(*names: str) -> None:
    """Say which of these options were given although the command that runs has no use for them."""
    context = click.get_current_context()
    given = [name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    shown = ", ".join(map(flag_of, given))
    if given:
        say(f"untwin: {context.info_name} has no use for {shown}")


def _take_input(values: dict[str, Any]) -> Input:
    """Take the input options out of `values`."""
    from untwin.data.columns import ColumnRoles

    ordinal = values.pop("ordinal")
    scale = () if ordinal is None else _scale(ordinal)
    roles = ColumnRoles(ordinal=scale, **{name: values.pop(name) for name in _ROLE_NAMES})
    return Input(roles, _reading(values), values.pop("missing_label"))


def _scale(ordinal: str) -> tuple[str, ...]:
    """Return the classes that --ordinal names from low to high."""
    names = ordinal.split(",")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        message = f"--ordinal {ordinal!r} must name each class once. Got {twice[0]!r} several times instead."
        raise InputError(message, code="ordinal", hint="Name the classes from low to high, as in '1,2,3,4'.")
    return tuple(names)


def _reading(values: dict[str, Any]) -> ReadOptions:
    from untwin.data.read import ReadOptions

    return ReadOptions(**{name: values.pop(name) for name in _READ_NAMES})


def _with(command: Command, options: tuple[Command, ...]) -> Command:
    for option in reversed(options):  # decorators apply from the last to the first
        command = option(command)
    return command
