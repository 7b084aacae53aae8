"""The options of `untwin predict` that ask for promises."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIONS = (
    click.option(
        "--coverage",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="SHARE",
        help="Add the smallest set of classes that holds the right one with this chance.",
    ),
    click.option("--by-group", is_flag=True, help="Keep --coverage within each group of classes."),
    click.option(
        "--height",
        type=click.Choice(["auto", "known"]),
        help="Add the class or the smallest group around it that can be promised: in the learnt tree, or in yours.",
    ),
    click.option(
        "--target-error",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="How many sure answers, and answers at a height, may be wrong; default: as the fit has settled.",
    ),
    click.option("--unknown", is_flag=True, help="Add which rows seem to belong to no class, and the chance of it."),
)


@dataclass(frozen=True, slots=True)
class AskedPromises:
    """What the options ask for."""

    coverage: float | None = None
    by_group: bool = False
    height: Any = None
    target_error: float | None = None
    unknown: bool = False


def promise_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --coverage, --by-group, --height, --target-error and --unknown (passed by these names)."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def take_asked(values: dict[str, Any]) -> AskedPromises:
    """Take what is asked for out of the options."""
    asked = AskedPromises(**{name: values.pop(name) for name in AskedPromises.__slots__})
    for name in ("coverage", "target_error"):
        value = getattr(asked, name)
        if value is not None and isnan(value):
            raise click.UsageError(f"--{name.replace('_', '-')} must be a share. Got {value} instead.")
    if asked.by_group and asked.coverage is None:
        raise click.UsageError("--by-group needs --coverage.")
    return asked
