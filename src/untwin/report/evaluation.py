"""The page of `untwin evaluate`: how a model does on labelled rows that it has not learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from untwin._files import write_whole
from untwin._wording import format_count
from untwin.report import charts
from untwin.report.page import policy, stylesheet, templates
from untwin.report.promises import PromisesView

if TYPE_CHECKING:
    from pathlib import Path

WORST = 40


def write_evaluation(record: dict[str, Any], path: Path) -> None:
    """Write the record of an evaluation as one HTML file that works anywhere."""
    write_whole(path, evaluation_page(record).encode("utf-8", "replace"))


def evaluation_page(record: dict[str, Any]) -> str:
    """Return the page as text."""
    from untwin import __version__

    style = stylesheet()
    worst = sorted(record["per_class"], key=lambda line: line["f1"])
    return (
        templates()
        .get_template("evaluation.html")
        .render(
            record=record,
            view=PromisesView.of_record(record),
            charts=charts,
            worst=worst[:WORST],
            left=max(0, len(worst) - WORST),
            version=__version__,
            title=f"untwin: {format_count(record['rows'], 'row')} of {record['source']}",
            policy=policy("", style),
            style=Markup(style),  # noqa: S704  (ours)
        )
    )
