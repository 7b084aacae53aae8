"""How numbers are written: the filters of the templates, and the words above the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from untwin._wording import ELLIPSIS, cut
from untwin.model.chance import NO_BETTER
from untwin.report.charts import Line
from untwin.report.pairs import ADVICE

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin.report.pairs import Pair
    from untwin.report.space import Space
    from untwin.report.summary import Measured, Summary
    from untwin.report.views import Report

EXCERPT = 280
NOTHING = "–"
HEADLINES = {
    "unmeasured": "Nothing could be measured: no row could be held out",
    "guess": "The answers are no better than guessing",
    "perfect": "All {classes} classes are told apart",
    "one pair": "{a} and {b} are confused, and no others",
    "first pair": "Half of the errors are between {a} and {b}",
    "pairs": "{half} of {pairs} confused pairs hold half of the errors; the first is {a} and {b}",
}


def percent(share: float | None) -> str:
    """Return a share with one decimal.

    >>> percent(0.8766), percent(None)
    ('87.7%', '–')
    """
    return NOTHING if share is None else f"{share:.1%}"


def decimals(value: float) -> str:
    """Return a number with three decimals.

    >>> decimals(0.71249)
    '0.712'
    """
    return f"{value:.3f}"


def share(value: float) -> str:
    """Return a share without decimals."""
    return f"{value:.0%}"


def points(gain: float | None) -> str:
    """Return a difference of shares in percentage points.

    >>> points(0.0123), points(-0.0001), points(0)
    ('+1.2', '0.0', '0.0')
    """
    if gain is None:
        return NOTHING
    return "0.0" if abs(gain) < 0.0005 else f"{100 * gain:+.1f}"


def between(measured: Measured) -> str:
    """Return the ends of an interval."""
    if measured.low is None or measured.high is None:
        return "not measured"
    return f"{100 * measured.low:.1f} to {100 * measured.high:.1f}"


def between_points(gain: Measured) -> str:
    """Return the ends of an interval of a difference."""
    if gain.low is None or gain.high is None:
        return "not measured"
    return "it is the linear SVM" if gain.low == gain.high == 0 else f"{points(gain.low)} to {points(gain.high)} points"


def count(number: int) -> str:
    """Return a whole number with its thousands apart."""
    return f"{number:,}"


def seconds(taken: float) -> str:
    """Return seconds with as many digits as matter.

    >>> seconds(0.0312), seconds(3.21), seconds(1234.5)
    ('0.03', '3.2', '1,234')
    """
    return f"{taken:,.2f}" if taken < 1 else f"{taken:.1f}" if taken < 100 else f"{taken:,.0f}"


def excerpt(text: str) -> str:
    """Return the beginning of a text."""
    return cut(text, EXCERPT, ELLIPSIS)


def cell(value: Any) -> str:
    """Return a value of a finding's record for a table.

    >>> cell(0.123456), cell(1e-9), cell(["a", "b"]), cell(None), cell(7)
    ('0.123', '0', 'a, b', '–', '7')
    """
    match value:
        case None:
            return NOTHING
        case float():
            return f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) < 100 else f"{value:,.0f}"
        case list() | tuple():
            return ", ".join(cell(item) for item in value)
        case _:
            return str(value)


def headline(report: Report) -> Markup:
    """Return the finding above all others in one sentence; names are kept apart, whatever their direction."""
    summary, pairs = report.summary, report.pairs.pairs
    told = {"classes": count(summary.classes), "half": count(summary.half), "pairs": count(summary.pairs)}
    if pairs:
        told |= {"a": name(pairs[0].a), "b": name(pairs[0].b)}
    return Markup(HEADLINES[_state(summary)]).format(**told)  # noqa: S704  (format escapes)


def _state(summary: Summary) -> str:
    """Return which headline fits."""
    if not summary.judged:
        return "unmeasured"
    if summary.guess.startswith(NO_BETTER):
        return "guess"
    return {0: "perfect", 1: "one pair"}.get(summary.pairs, "first pair" if summary.half == 1 else "pairs")


def advice(pair: Pair) -> Markup:
    """Return the advice for a pair, names kept apart."""
    taken, by = pair.taken
    return Markup(ADVICE[pair.code]).format(taken=name(taken), by=name(by))  # noqa: S704  (format escapes)


def name(text: str) -> Markup:
    """Return a name that cannot turn around the text beside it."""
    return Markup("<bdi>{}</bdi>").format(text)


def space_lines(space: Space) -> list[Line]:
    """Return the curves of accuracy by dimension."""
    if not space.dimensions or space.raw is None:
        return []
    return [
        Line("sprinkled", "ours", space.dimensions, space.sprinkled),
        Line("plain LSI", "lsi", space.dimensions, space.lsi),
        Line("no space", "raw", space.dimensions, [space.raw] * len(space.dimensions)),
    ]


FILTERS: dict[str, Callable[..., str]] = {
    function.__name__: function
    for function in (percent, decimals, share, points, between, between_points, count, seconds, excerpt, cell, advice)
}
