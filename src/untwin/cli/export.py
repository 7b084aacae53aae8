"""`untwin export`: the part of a model that answers, as a small folder of its own."""

from __future__ import annotations

from pathlib import Path

import click

from untwin.cli.options import common_options, precision_option
from untwin.cli.output import name_next, put_json, say


@click.command()
@click.argument("model")
@click.option("-o", "--output", metavar="FOLDER", required=True, help="Write here: a new folder, or an older export.")
@click.option("--answer-only", is_flag=True, required=True, help="Leave out what only learning and explaining need.")
@precision_option
@common_options
def export(
    model: str, *, output: str, answer_only: bool, precision: str, seed: int, strict: bool, as_json: bool
) -> int:
    """Write the part of MODEL that answers into a folder of its own: `untwin predict` reads it.

    It holds terms and weights, no documents, and is small enough to be mailed. Only linear models have it.
    """
    from untwin.model.saving.directory import load_model

    load_model(model, explains=False).export(output, precision=precision)
    size = sum(file.stat().st_size for file in Path(output).iterdir())
    if as_json:
        put_json({"model": model, "output": output, "precision": precision, "bytes": size})
    say(f"untwin: {output} answers like {model}, in {size / 1e6:.2f} MB")
    name_next(["predict", output, "NEW_DATA"])
    return 0
