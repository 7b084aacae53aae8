"""`untwin compare`: what new answers get better and worse than old ones, for people and for a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from untwin._wording import format_count
from untwin.cli.options import common_options, input_options, say_idle
from untwin.cli.output import collect_warnings, name_next, progress, put, put_json, put_table, say, say_notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin.cli.options import Input
    from untwin.model.comparing import AnswerComparison, ClassChange, TwinChange

ANSWER_COLUMN = "untwin_label"


@click.command()
@click.argument("old")
@click.argument("new")
@click.argument("data")
@click.option("--old", "old_column", default=ANSWER_COLUMN, show_default=True, metavar="COL", help="Answers in OLD.")
@click.option("--new", "new_column", default=ANSWER_COLUMN, show_default=True, metavar="COL", help="Answers in NEW.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, metavar="K", help="How much to show.")
@click.option(
    "--fail-on-drop", type=click.FloatRange(min=0), metavar="POINTS", help="Exit with 1 if accuracy drops by more."
)
@click.option("--fail-on-new-twins", is_flag=True, help="Exit with 1 if there are new twins.")
@input_options
@common_options
def compare(
    old: str,
    new: str,
    data: str,
    given: Input,
    *,
    old_column: str,
    new_column: str,
    markdown: bool,
    top: int,
    fail_on_drop: float | None,
    fail_on_new_twins: bool,
    seed: int,
    strict: bool,
    as_json: bool,
) -> int:
    """Compare the answers of OLD and NEW with the labels of DATA, row by row.

    OLD and NEW are models, or tables of answers, as `untwin predict` or any other classifier writes them: with the ids
    of DATA, or row by row as DATA. Where DATA has the split column of a model, only its rows marked 'test' count.
    """
    if markdown and as_json:
        raise click.UsageError("Choose one of --markdown and --json.")
    say_idle("group", "parent", "seed")
    from untwin.cli.compared_sources import compare_sources

    with progress(), collect_warnings() as warned:
        done = compare_sources((old, old_column), (new, new_column), data, given)
    say_notes(done.notes)
    for source, learnt in done.learnt.items():
        rows = format_count(learnt, "row is", "rows are")
        say(f"warning: {rows} among those that {source} has learnt: its figures are too good.")
    failed = failures(done.found, fail_on_drop, new_twins=fail_on_new_twins)
    code = int(bool(failed) or (strict and bool(warned or done.notes or done.learnt)))
    if as_json:
        put_json({"old": old, "new": new, "source": data, "failed": failed, **done.record()}, ok=code == 0)
    elif markdown:
        for line in done.found.to_markdown(top).splitlines():
            put(line)
    else:
        _show(done.found, top)
    for line in failed:
        say(f"untwin: {line}")
    name_next(["compare", old, new, data, "--markdown"])
    return code


def failures(found: AnswerComparison, drop: float | None, *, new_twins: bool) -> list[str]:
    """Return in words which gates were not passed."""
    told = []
    if drop is not None and found.drop > drop + 1e-9:  # a drop of exactly so many points is allowed, whatever rounding
        told.append(f"accuracy dropped by {found.drop:.2f} points, more than {drop:g}.")
    if new_twins and found.twins_new:
        pairs = "; ".join(f"{twin.a} and {twin.b}" for twin in found.twins_new[:3])
        more = ", ..." if len(found.twins_new) > 3 else ""
        told.append(f"{format_count(len(found.twins_new), 'new pair', 'new pairs')} of twins: {pairs}{more}.")
    return told


def _show(found: AnswerComparison, top: int) -> None:
    accuracy, f1 = found.accuracy, found.macro_f1
    put(f"accuracy {accuracy.before:.4f} -> {accuracy.after:.4f}, {accuracy} on {format_count(found.rows, 'row')}")
    put(f"macro-F1 {f1[0]:.4f} -> {f1[1]:.4f}")
    put(f"{format_count(found.mended, 'row')} mended, {format_count(found.broken, 'row')} broken")
    for promise in found.promises:
        put(f"{promise.name}: {_figure(promise.before)} -> {_figure(promise.after)}")
    _show_twins("New twins", found.twins_new, top)
    _show_twins("Twins no longer", found.twins_gone, top)
    _show_classes("Classes that fell", found.fell, top)
    _show_classes("Classes that rose", found.rose, top)
    if found.flipped:
        put()
        put(_title("Rows answered otherwise, broken ones first", len(found.flipped), top))
        put_table(["row", "label", "before", "after"], found.flipped[:top])


def _title(title: str, total: int, top: int) -> str:
    return f"{title}{f' ({total - top:,} more with --json)' if total > top else ''}:"


def _show_twins(title: str, twins: Sequence[TwinChange], top: int) -> None:
    if twins:
        put()
        put(_title(title, len(twins), top))
        put_table(["class", "and", "errors before", "after"], twins[:top])


def _show_classes(title: str, changes: Sequence[ClassChange], top: int) -> None:
    if not changes:
        return
    put()
    put(_title(title, len(changes), top))
    lines: list[list[Any]] = [
        [
            one.name,
            one.rows,
            f"{_figure(one.recall_before)} -> {_figure(one.recall_after)}",
            f"{_figure(one.precision_before)} -> {_figure(one.precision_after)}",
            one.broken,
            one.mended,
            "yes" if one.beyond_chance else "no",
        ]
        for one in changes[:top]
    ]
    put_table(["class", "rows", "recall", "precision", "broken", "mended", "beyond chance"], lines)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
