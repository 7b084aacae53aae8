"""`--config`: the options of an earlier fit, taken from its manifest; what the command line says wins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untwin._errors import InputError

if TYPE_CHECKING:
    import click

HINT = "Give MODEL/manifest.json of a model that `untwin fit` has made, or a JSON object of options by name."


def take_config(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Make the options in a file the defaults of this call."""
    if value is None:
        return
    options = _options(_content(Path(value)), value)
    known = {option.name for option in context.command.params}
    unknown = options.keys() - known
    if unknown:
        message = f"{value}: there is no option {min(unknown)!r}."
        raise InputError(message, code="config", hint=HINT)
    context.default_map = options


def _content(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.", code="config", hint=HINT) from None
    except ValueError as error:
        raise InputError(f"{path}: is not JSON: {error}.", code="config", hint=HINT) from None


def _options(content: Any, name: str) -> dict[str, Any]:
    match content:
        case {"facts": {"about": {"options": dict(options)}}}:
            return options
        case {"facts": _}:
            raise InputError(f"{name}: the model was not made by `untwin fit`.", code="config", hint=HINT)
        case dict(options):
            return options
    raise InputError(f"{name}: holds no object of options.", code="config", hint=HINT)
