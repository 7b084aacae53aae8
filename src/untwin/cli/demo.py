"""`untwin demo`: the whole job on real texts that are on every machine."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import click

from untwin.cli.options import common_options, force_option
from untwin.cli.output import collect_warnings, name_next, progress, put, put_json

if TYPE_CHECKING:
    import polars as pl

    from untwin.data.load import Table

ASKED = ("numpy.ma", "scipy.fftpack", "polars.lazyframe")  # one text of each is answered, and not learnt: near-twins
SHOWN = 3  # classes, neighbours and terms of an explanation


@click.command()
@click.option("-o", "--output", metavar="MODEL", help="Where to keep the model; default: among the temporary files.")
@force_option
@common_options
def demo(*, output: str | None, force: bool, seed: int, strict: bool, as_json: bool) -> int:
    """Tell apart the sub-packages of NumPy, SciPy, scikit-learn and Polars by their documentation.

    Gathers some 6,000 texts in some 50 classes, looks for what is odd about them, fits a model (fast preset), and
    explains its answers to three texts that it has not learnt.
    """
    folder = output or str(Path(mkdtemp(prefix="untwin-")) / "demo")
    try:
        with progress(), collect_warnings() as warned:
            record = run_demo(seed, folder, force=force)
    except BaseException:
        if output is None:
            with suppress(OSError):  # it is not empty: the model is complete
                Path(folder).parent.rmdir()
        raise
    code = int(strict and bool(warned or record["oddities"]))
    if as_json:
        put_json(record, ok=code == 0)
    else:
        _show(record)
    kept = ["info", folder], ["explain", folder, "--text", "fast Fourier transform"]
    name_next(*kept, ["check", "YOUR_TABLE.csv"], ["fit", "YOUR_TABLE.csv", "-o", "MODEL"])
    return code


def run_demo(seed: int, output: str, *, force: bool = False) -> dict[str, Any]:
    """Do the job and return all that there is to show, as one record."""
    from untwin.cli.explanations import explanation_record
    from untwin.cli.fitting import Clock, Settings, fit_record, fit_table
    from untwin.cli.model_files import save_once, writable_model
    from untwin.data.demo import demo_texts

    folder, clock = writable_model(output, force=force), Clock()
    with clock.timing("gathering"):
        texts = demo_texts().with_row_index("row")
        asked = texts.filter(texts["label"].is_in(ASKED)).unique("label", keep="first", maintain_order=True)
        table = demo_table(texts.filter(~texts["row"].is_in(asked["row"].implode())))
    fitted = fit_table(table, Settings(preset="fast", seed=seed), clock)
    about = {"command": sys.argv[1:], "roles": asdict(table.roles), "source": fitted.source}
    with save_once(fitted.model, folder, about, texts=True) as save_with_report:
        record = fit_record(fitted, clock)
        answers = [
            {"id": row["id"], "true_label": row["label"], **explanation_record(fitted.model, [row["text"]], SHOWN)}
            for row in asked.iter_rows(named=True)
        ]
        record["report"] = save_with_report()
    return {**record, "answers": answers, "seconds": dict(clock.seconds)}


def demo_table(texts: pl.DataFrame) -> Table:
    """Return the texts as `fit` reads tables; the package is the parent of each class."""
    import numpy as np
    import polars as pl

    from untwin.data.columns import ColumnRoles
    from untwin.data.load import Table
    from untwin.data.read.table import Places

    frame = texts.select("text", "label", "id", parent=pl.col("label").str.split(".").list.first())
    roles = ColumnRoles(text=("text",), label="label", id="id", parent="parent")
    places = Places("the documentation of installed packages", np.arange(1, len(texts) + 1))
    return Table(frame, roles, (), places.with_ids(frame["id"].to_list()), "demo")


def _show(record: dict[str, Any]) -> None:
    from untwin.cli.explain import show_explanation
    from untwin.cli.summary import put_report, show_fit

    for finding in record["oddities"]:
        put(f"{finding['severity']} [{finding['code']}] {finding['title']}")
    show_fit(record)
    for answer in record["answers"]:
        put()
        put(f"--- {answer['id']}, which is in {answer['true_label']} and was not learnt")
        show_explanation(answer)
    put()
    put("Seconds: " + ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in record["seconds"].items()))
    put_report(record)
