"""`untwin report`: the report of a saved model again, as a page or as numbers."""

from __future__ import annotations

from pathlib import Path

import click

from untwin.cli.options import common_options
from untwin.cli.output import progress, put, put_json


@click.command()
@click.argument("model")
@click.option("-o", "--output", metavar="FILE", help="Where to write the page; default: MODEL.html.")
@common_options
def report(model: str, output: str | None, *, seed: int, strict: bool, as_json: bool) -> int:
    """Write the report of MODEL as one HTML file that works anywhere; --json prints its numbers instead.

    Nothing is fitted: what is not in the model, since it was saved from Python without it, is told as not measured.
    With --json and -o both are done.
    """
    from untwin.model import UntwinClassifier
    from untwin.report import Report, write_report

    with progress():
        made = Report.of(UntwinClassifier.load(model), measure=False)
        page = None if as_json and output is None else write_report(made, output or beside(model))
    if as_json:
        put_json({"model": model, "report": None if page is None else str(page), **made.to_dict()})
    else:
        put(str(page))
    return 0


def beside(model: str) -> Path:
    """Return where the report of a model stands.

    >>> beside("models/tickets/").as_posix()
    'models/tickets.html'
    """
    folder = Path(model)
    return folder.with_name(f"{folder.name}.html")
