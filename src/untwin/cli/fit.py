"""`untwin fit`: a model and its report from a labelled table."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from untwin.cli.config import take_config
from untwin.cli.hints import explain_hint
from untwin.cli.options import common_options, force_option, input_options, precision_option
from untwin.cli.output import collect_warnings, name_next, progress, put_json, say

if TYPE_CHECKING:
    from untwin.cli.options import Input

ORDERED = ("mae", "kappa")
SHOWN_CLASSES = 20
KEPT = ("source", "rows", "known_tree", "seconds")  # of the record, in the model


@click.command()
@click.argument("data")
@click.option("-o", "--output", required=True, metavar="MODEL", help="The folder of the model; replaced when done.")
@click.option(
    "--preset",
    type=click.Choice(["fast", "balanced", "best"]),
    default="balanced",
    show_default=True,
    help="How much to try.",
)
@click.option(
    "--scoring",
    type=click.Choice(["accuracy", "macro_f1", *ORDERED]),
    default="accuracy",
    show_default=True,
    help="What candidates are compared by; mae and kappa need --ordinal.",
)
@click.option(
    "--target-error",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="How many of the sure answers may be wrong; default: half of the error to expect, 10 % at most.",
)
@click.option(
    "--time-budget",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="Try no further candidate after so many seconds; what has been begun is finished.",
)
@click.option("--classes", metavar="FILE", help="Begin with the taxonomy in FILE (JSON): ids, definitions, old names.")
@click.option("--without-texts", is_flag=True, help="Keep no documents; explanations then name rows by number only.")
@precision_option
@click.option(
    "--config",
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=take_config,
    help="Take the options of an earlier fit from its MODEL/manifest.json; the command line wins.",
)
@force_option
@input_options
@common_options
def fit(
    data: str,
    output: str,
    given: Input,
    *,
    without_texts: bool,
    precision: str,
    force: bool,
    strict: bool,
    as_json: bool,
    **settings: Any,
) -> int:
    """Fit a model to the labelled table DATA; write it to MODEL, and its report to MODEL.html.

    Candidates are compared on rows they have not seen, and the best one is kept. A model that is there already is
    replaced when the new one is complete.
    """
    if settings["scoring"] in ORDERED and not given.roles.ordinal:
        raise click.UsageError(f"--scoring {settings['scoring']} needs --ordinal, the classes in order.")
    with progress(), collect_warnings() as warned:
        kept = {"without_texts": without_texts, "precision": precision}
        record = fit_and_save(data, output, given, settings, kept, force=force)
    oddities = [f"[{finding['code']}] {finding['title']}" for finding in record["oddities"]]
    for line in oddities:
        say(f"warning: {line}")
    code = int(strict and bool(oddities or warned))
    if as_json:
        put_json(record, ok=code == 0)
    else:
        from untwin.cli.summary import put_report, show_fit

        show_fit(record)
        put_report(record)
    name_next(["predict", output, "NEW_DATA"], explain_hint(output, data, given), ["info", output])
    return code


def fit_and_save(
    data: str, output: str, given: Input, settings: dict[str, Any], kept: dict[str, Any], *, force: bool
) -> dict[str, Any]:
    """Read, fit, save; return all there is to say, as one record. `kept` are the options of what the model keeps."""
    from untwin._errors import InputError
    from untwin.cli.fitting import Clock, Settings, fit_record, fit_table
    from untwin.cli.model_files import save_once, writable_model

    folder, clock, texts = writable_model(output, force=force), Clock(), not kept["without_texts"]
    with clock.timing("reading"):
        table = given.load(data)
    if not texts and not table.roles.only_text:
        message = "--without-texts is for models of one text column: others learn on from the rows that they keep."
        raise InputError(message, code="texts-needed", hint="Leave it out.")
    fitted = fit_table(table, Settings(**settings), clock)
    options = {"data": data, "output": output, **kept, **settings, **given.options(table.roles)}
    about: dict[str, Any] = {"command": sys.argv[1:], "options": options, "roles": asdict(table.roles)}
    with save_once(fitted.model, folder, about, texts=texts) as save_with_report:
        record = {"model": output, **fit_record(fitted, clock), "seconds": dict(clock.seconds)}
        about |= {name: record[name] for name in KEPT} | {"test": figures(record["test"])}
        return record | {"report": save_with_report()}


def figures(scores: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return scores with the classes that fare worst only, not with all: a manifest is small."""
    if scores is None:
        return None
    worst = sorted(scores["per_class"], key=lambda line: line["f1"])[:SHOWN_CLASSES]
    kept = {name: value for name, value in scores.items() if not isinstance(value, list) and name != "promises"}
    return kept | {"confused": scores["confused"], "worst": worst}
