"""`untwin info`: what a model holds."""

from __future__ import annotations

from typing import Any

import click

from untwin.cli.options import common_options
from untwin.cli.output import name_next, put, put_facts, put_json


@click.command()
@click.argument("model")
@common_options
def info(model: str, *, seed: int, strict: bool, as_json: bool) -> int:
    """Say what MODEL holds: classes, documents, configuration, versions, digest, size by part."""
    from untwin.export.model import is_answer_folder
    from untwin.model.saving import describe

    record = {"model": model, **describe(model)}
    (put_json if as_json else _show)(record)
    table = ["DATA"] if is_answer_folder(model) else []  # the documents of the fit are not in such a folder
    name_next(["predict", model, "NEW_DATA"], ["explain", model, *table, "--id", "ID"])
    return 0


def _show(record: dict[str, Any]) -> None:
    about = record["about"]
    put(f"{record['model']}: format {record['format']}, sha256 {record['sha256']}")
    put_facts({name: f"{fact:.4f}" if isinstance(fact, float) else fact for name, fact in record["summary"].items()})
    for part in ("options", "seconds"):
        if isinstance(about.get(part), dict):
            put(f"{part}:")
            put_facts({name: value for name, value in about[part].items() if value not in (None, [])})
    put("versions:")
    put_facts(record["versions"])
    put("bytes:")
    put_facts({name: f"{size:>13,}" for name, size in record["bytes"].items()})
