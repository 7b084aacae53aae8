"""A comparison as Markdown: what one reads in a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwin._markdown import code, markdown_table
from untwin._wording import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from untwin.model.comparing import AnswerComparison, ClassChange, Promise, TwinChange
    from untwin.model.records import Flip

NOTHING = "–"


def comparison_page(found: AnswerComparison, top: int) -> str:
    """Return the whole comparison; of classes, twins and rows the first `top`.

    >>> from untwin.model.comparing import compare_answers
    >>> print(comparison_page(compare_answers(["a", "b"], ["a", "a"], ["a", "b"]), 5))  # doctest: +NORMALIZE_WHITESPACE
    **Accuracy 50.00 % → 100.00 %**: +50.00 points, 95 % interval -19.30 to +119.30, on 2 rows.
    Macro F1 0.3333 → 1.0000. 1 row mended, 0 rows broken.
    <BLANKLINE>
    ...
    """
    accuracy, f1 = found.accuracy, found.macro_f1
    ends = f"{100 * accuracy.low:+.2f} to {100 * accuracy.high:+.2f}"
    change = f"**: {-found.drop:+.2f} points, 95 % interval {ends}, on {format_count(found.rows, 'row')}."
    rows = f"{format_count(found.mended, 'row')} mended, {format_count(found.broken, 'row')} broken."
    lines = [
        f"**Accuracy {100 * accuracy.before:.2f} % → {100 * accuracy.after:.2f} %{change}",
        f"Macro F1 {f1[0]:.4f} → {f1[1]:.4f}. {rows}",
        *_promises(found.promises),
        *_twins("New twins", found.twins_new, top),
        *_twins("Twins no longer", found.twins_gone, top),
        *_classes("Classes that fell", found.fell, top),
        *_classes("Classes that rose", found.rose, top),
        *_rows(found.flipped, top),
    ]
    return "\n".join(lines) + "\n"


def _section(title: str, total: int, top: int, table: Sequence[str]) -> list[str]:
    shown = f"the first {top:,} of {total:,}" if total > top else f"{total:,}"
    return ["", f"### {title} ({shown})", "", *table] if total else []


def _promises(promises: Sequence[Promise]) -> list[str]:
    if not promises:
        return []
    rows = ([one.name, _figure(one.before), _figure(one.after)] for one in promises)
    return ["", "### Promises", "", *markdown_table(["promise", "before", "after"], rows, numbers=2)]


def _twins(title: str, twins: Sequence[TwinChange], top: int) -> list[str]:
    rows = ([code(one.a), code(one.b), f"{one.errors_before:,}", f"{one.errors_after:,}"] for one in twins[:top])
    header = ["class", "and", "errors before", "after"]
    return _section(title, len(twins), top, markdown_table(header, rows, numbers=2))


def _classes(title: str, changes: Sequence[ClassChange], top: int) -> list[str]:
    rows = (
        [
            code(one.name),
            f"{one.rows:,}",
            f"{_figure(one.recall_before)} → {_figure(one.recall_after)}",
            f"{_figure(one.precision_before)} → {_figure(one.precision_after)}",
            f"{one.broken:,}",
            f"{one.mended:,}",
            "yes" if one.beyond_chance else "no",
        ]
        for one in changes[:top]
    )
    header = ["class", "rows", "recall", "precision", "broken", "mended", "beyond chance"]
    return _section(title, len(changes), top, markdown_table(header, rows, numbers=6))


def _rows(flipped: Sequence[Flip], top: int) -> list[str]:
    rows = ([code(part) for part in flip] for flip in flipped[:top])
    header = ["row", "label", "before", "after"]
    return _section("Rows answered otherwise", len(flipped), top, markdown_table(header, rows))


def _figure(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"
