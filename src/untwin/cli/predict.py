"""`untwin predict`: answers beside the rows they belong to, however many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from untwin._wording import format_count
from untwin.cli.hints import explain_hint
from untwin.cli.options import common_options, input_options, let_interrupt_reading, say_idle
from untwin.cli.output import collect_warnings, name_next, progress, say
from untwin.cli.promised_options import promise_options, take_asked

if TYPE_CHECKING:
    from untwin.cli.options import Input


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("-o", "--output", metavar="FILE", help="Write here: .csv, .tsv, .jsonl or .parquet.")
@click.option("--top", type=click.IntRange(min=1), default=1, metavar="K", help="The K likeliest classes of each row.")
@click.option("--prefix", default="untwin_", show_default=True, metavar="TEXT", help="What new columns begin with.")
@click.option("--raw", is_flag=True, help="Write cells that a spreadsheet takes for formulas as they are.")
@click.option("--force", is_flag=True, help="Write the answers over DATA, if -o names the same file.")
@promise_options
@input_options
@common_options
def predict(
    model: str, data: str, given: Input, *, output: str | None, seed: int, strict: bool, as_json: bool, **asked: Any
) -> int:
    """Answer the rows of DATA (- is standard input, with --format) by MODEL.

    All columns of DATA are kept, and so is the order of its rows; new columns are label, probability, unsure, group
    and no_evidence (nothing of the text is known: the answer is the commonest class). --coverage adds shortlist;
    --height adds answer, height and answer_classes; --unknown adds unknown and unknown_chance. Memory does not grow
    with DATA. --json writes JSON Lines.
    """
    from untwin.export.model import is_answer_folder

    say_idle("label", "id", "split", "group", "parent", "missing_label", "seed")
    with progress(), collect_warnings() as warned:
        counts = predict_rows(model, data, given, output, as_json=as_json, **asked)
    unsure, mute = counts["unsure"], counts["no_evidence"]
    rows = format_count(counts["rows"], "row", "rows")
    say(f"untwin: {rows} answered, {unsure:,} unsure, {mute:,} without a known word")
    if counts["bad_rows"]:
        say(f"warning: {format_count(counts['bad_rows'], 'bad row', 'bad rows')} skipped")
    whole = [] if is_answer_folder(model) else [["evaluate", model, "LABELLED_DATA"]]
    name_next(explain_hint(model, data, given, given.roles), *whole)
    return int(strict and bool(warned or counts["bad_rows"]))


def predict_rows(
    folder: str,
    data: str,
    given: Input,
    output: str | None,
    *,
    as_json: bool,
    top: int,
    prefix: str,
    raw: bool,
    force: bool,
    **promised: Any,
) -> dict[str, int]:
    """Read, answer and write batch by batch; return what was counted on the way."""
    from untwin.cli.answers import Answerer
    from untwin.cli.loaded_model import load_answers_for
    from untwin.cli.stream.writing import output_format, require_place, write
    from untwin.data.read import format_of, read_batches

    asked = take_asked(promised)
    let_interrupt_reading()
    read = format_of(data, given.read)
    kind = "jsonl" if as_json and output is None else output_format(output, read)
    if output is not None:
        require_place(output, data, folder, force=force)
    loaded = load_answers_for(folder, given.roles)
    answerer = Answerer(loaded, top, prefix, asked, raw=raw)
    write(answerer.answer_batches(read_batches(data, given.read, answerer.batch_rows)), output, kind, raw=raw)
    return answerer.counts
