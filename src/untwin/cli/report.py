"""`untwin report`: the report of a saved model again, as a page or as numbers."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

import click

from untwin.cli.options import common_options, force_option
from untwin.cli.output import progress, put, put_json


@click.command()
@click.argument("model")
@click.option("-o", "--output", metavar="FILE", help="Where to write the page; default: MODEL.html.")
@force_option
@common_options
def report(model: str, output: str | None, *, force: bool, seed: int, strict: bool, as_json: bool) -> int:
    """Write the report of MODEL as one HTML file that works anywhere; --json prints its numbers instead.

    It only shows what `untwin fit` and `untwin add` saved in the model; what one that was saved from Python lacks is
    measured now. With --json and -o both are done.
    """
    from untwin.cli.dismissals import dismissals_of
    from untwin.cli.model_files import changing, report_of, require_outside, require_report_place
    from untwin.model.saving import load_model
    from untwin.report import Report, write_report
    from untwin.store import read_digest

    folder = Path(model)
    read_digest(folder)  # what is no model is refused first
    page = None if as_json and output is None else report_of(folder) if output is None else Path(output)
    if page is not None:
        require_outside(page, folder)
        require_report_place(page, force=force)
    own = page is not None and output is None and os.access(folder, os.W_OK)  # never an old page beside a newer model
    with progress(), changing(folder) if own else nullcontext():
        made = Report.of(load_model(folder, answers=False), dismissals=dismissals_of(folder))
        if page is not None:
            write_report(made, page)
    if as_json:
        put_json({"model": model, "report": None if page is None else str(page), **made.to_dict()})
    else:
        put(str(page))
    return 0
