"""`untwin audit`: what the answers of any classifier say about the classes, the labels and the answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untwin._wording import cut, format_count
from untwin.cli.options import common_options, force_option, reading_options
from untwin.cli.output import collect_warnings, name_next, progress, put, put_json, put_table, say, say_notes

if TYPE_CHECKING:
    from untwin.cli.audited_table import AuditOptions
    from untwin.data.read import ReadOptions

SHOWN_PAIRS = 10
SHOWN_GROUPS = 20
WIDEST = 200  # characters of a value of a finding


@click.command()
@click.argument("answers")
@click.option("--truth", required=True, metavar="COL", help="The right class of each row.")
@click.option("--predicted", required=True, metavar="COL", help="The answer to each row.")
@click.option("--text", multiple=True, metavar="COL", help="What was answered; repeat it for several columns.")
@click.option("--id", metavar="COL", help="What the row is called; rows of one id are repeated answers.")
@click.option("--parent", metavar="COL", help="The parent of the right class in a known tree.")
@click.option("--score-prefix", metavar="TEXT", help="Columns that begin so hold the score of the class that follows.")
@click.option("--annotator", multiple=True, metavar="COL", help="Labels by one person; repeat it for each.")
@click.option("--classes", metavar="FILE", help="The list of classes, one a line, if some have no row here.")
@click.option("--missing-label", type=click.Choice(["error", "drop"]), default="error", help="Rows without a truth.")
@click.option("-o", "--output", metavar="FILE", help="Where to write the report; default: beside ANSWERS, as HTML.")
@click.option("--without-texts", is_flag=True, help="Quote no text in the report and the JSON.")
@force_option
@reading_options
@common_options
def audit(
    answers: str,
    *,
    read: ReadOptions,
    output: str | None,
    force: bool,
    without_texts: bool,
    seed: int,
    strict: bool,
    as_json: bool,
    **columns: Any,
) -> int:
    """Say all that follows from ANSWERS, a table of right and given classes, whoever gave them; nothing is trained.

    Which classes are confused, their tree, groups and twins; answers that are no class at all; with --score-prefix
    labels that look wrong; with --text the terms that tell classes apart; with --annotator how far people agree.
    """
    from untwin.cli.audited_table import AuditOptions, audit_table, page_beside

    options = AuditOptions(**columns)
    page = Path(output) if output is not None else None if as_json else page_beside(answers)
    with progress(), collect_warnings() as warned:
        done = audit_table(answers, options, read, page, force=force, texts=not without_texts)
    say_notes(done.notes)
    record = {"source": answers, "report": None if page is None else str(page), "notes": done.notes, **done.record}
    severe = [one for one in record["findings"] if one["severity"] != "info"]
    code = int(strict and bool(warned or done.notes or severe))
    if as_json:
        put_json(record, ok=code == 0)
    else:
        _show(record, options)
        if page is not None:
            say(f"untwin: report: {page}")
    name_next(["check", answers, "--label", options.truth])
    return code


def _show(record: dict[str, Any], options: AuditOptions) -> None:
    from untwin.cli.scoring import interval, put_classes, put_pairs, put_verdict

    rows, wrong = format_count(record["rows"], "row"), record["rows"] - record["listed"]
    put(f"{record['source']}: {options.predicted} against {options.truth}, {len(record['classes']):,} classes")
    put(f"accuracy {interval(record)} on {rows}, macro-F1 {record['macro_f1']:.4f}")
    put_verdict(record)
    if record["calibration_error"] is not None:
        put(f"calibration error {record['calibration_error']:.4f}, once one temperature is fitted")
    if wrong:
        put(f"{format_count(wrong, 'answer names', 'answers name')} no class")
    put()
    put_pairs(record["confused"][:SHOWN_PAIRS])
    _show_groups(record["groups"])
    put()
    put_classes(record["per_class"])
    for finding in record["findings"]:
        put()
        put(f"{finding['severity']} [{finding['code']}] {finding['title']}")
        for one in finding["evidence"][:3]:
            put("    " + "; ".join(f"{key}: {cut(_in_words(value), WIDEST)}" for key, value in one.items()))
        put(f"  {finding['advice']}")


def _show_groups(groups: list[list[str]]) -> None:
    several = [group for group in groups if len(group) > 1]
    if several and len(several) < sum(map(len, groups)):
        put()
        left = f" ({len(several) - SHOWN_GROUPS:,} more with --json)" if len(several) > SHOWN_GROUPS else ""
        put(f"Classes that are confused alike{left}:")
        put_table(["group", "classes"], [[n, ", ".join(one)] for n, one in enumerate(several[:SHOWN_GROUPS], start=1)])


def _in_words(value: object) -> str:
    match value:
        case None:
            return "-"
        case float():
            return f"{value:.3g}"
        case list():
            return ", ".join(map(str, value))
        case _:
            return str(value)
