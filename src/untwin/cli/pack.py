"""`untwin pack`: a model as a single file."""

from __future__ import annotations

from pathlib import Path

import click

from untwin.cli.options import common_options
from untwin.cli.output import name_next, put_json, say


@click.command()
@click.argument("model")
@click.option("-o", "--output", metavar="FILE", help="Write here.  [default: MODEL.untwin]")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@common_options
def pack(model: str, *, output: str | None, force: bool, seed: int, strict: bool, as_json: bool) -> int:
    """Write MODEL into a single file, to be mailed: a zip archive without compression.

    All commands that read a model read such a file. To learn on, unzip it into a folder.
    """
    from untwin._errors import InputError
    from untwin.store import pack as pack_model

    place = Path(model)
    target = place.with_name(f"{place.name}.untwin") if output is None else Path(output)
    if target.exists() and not force:
        raise InputError(f"{target}: is there already.", code="file-exists", hint="Name another file, or use --force.")
    size = pack_model(place, target)
    if as_json:
        put_json({"model": model, "output": str(target), "bytes": size})
    say(f"untwin: {target} holds {model}, in {size / 1e6:.2f} MB")
    name_next(["predict", str(target), "NEW_DATA"])
    return 0
