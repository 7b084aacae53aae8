"""`python -m papers PAPER --data DIR -o OUT`: the papers' experiments beside what is published."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from untwin.cli.options import force_option, running_options
from untwin.cli.output import collect_warnings, progress, put, put_json, put_table
from untwin.cli.run import run as run_command

PAPERS = ("sprinkling", "hierarchies", "weights", "latent", "all")
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("paper", type=click.Choice(PAPERS))
@click.option("--data", type=FOLDER, required=True, metavar="DIR", help="The folder with text/, tabular/, embeddings/.")
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="OUT",
    help="Where to write; default: papers-PAPER in the current folder.",
)
@click.option("--quick", is_flag=True, help="Smaller samples and fewer repetitions: minutes instead of an hour.")
@click.option("--only", multiple=True, metavar="NAME", help="One experiment; repeat the option for several.")
@force_option
@running_options
def papers(
    paper: str,
    data: Path,
    out: Path | None,
    *,
    quick: bool,
    only: tuple[str, ...],
    force: bool,
    strict: bool,
    as_json: bool,
) -> int:
    """Repeat the experiments of PAPER and set them beside what is published.

    Writes results.md, results.json and results.html, which shows the figures, to OUT. What has been found there for the
    same source and data is kept: an interrupted run is taken up where it ended. Seeds and splits are fixed.
    """
    folder = out or Path(f"papers-{paper}")
    with progress(), collect_warnings() as warned:
        from papers.pages.writing import require_places, write
        from papers.registry import chosen
        from papers.runner import run

        experiments = chosen(paper, only)
        require_places(folder, force=force)
        records = run(experiments, data, folder, quick=quick)
        paths = write(records, experiments, data, folder)
    code = int(strict and bool(warned))
    if as_json:
        put_json({"files": [str(path) for path in paths], "experiments": records}, ok=code == 0)
    else:
        _show(records, paths)
    return code


def _show(records: list[dict[str, Any]], paths: list[Path]) -> None:
    """Say how far each assertion holds, and where to read on."""
    claims = [(record["name"], claim) for record in records for claim in record["claims"]]
    put_table(["experiment", "here", "asserted"], [[name, c["verdict"], c["assertion"]] for name, c in claims])
    put()
    for path in paths:
        put(f"wrote {path}")


if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1:], papers, "python -m papers"))
