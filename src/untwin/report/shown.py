"""How numbers are written: the filters of the templates, and the words above the page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from untwin._wording import ELLIPSIS, cut, format_count
from untwin.model.chance import NO_BETTER
from untwin.report.advice import advice_of
from untwin.report.charts import Line

if TYPE_CHECKING:
    from collections.abc import Callable

    from untwin.report.pairs import Pair
    from untwin.report.space import Space
    from untwin.report.summary import Measured
    from untwin.report.views import Report

EXCERPT = 280
NOTHING = "–"
JOINT = re.compile(r"(?<=[_/.-])")
HEADLINES = {
    "unmeasured": "Give each class two rows or more: nothing could be measured",
    "guess": "Do not use these answers: they are no better than guessing",
    "perfect": "Nothing to correct: all {classes} classes are told apart",
    "suspects and pairs": "Read {suspects} that look wrong, then decide whether {a} and {b} are one class",
    "suspects": "Read {suspects} that look wrong",
    "one pair": "Decide whether {a} and {b} are one class",
    "pairs": "Decide on {twins} pairs of classes that are often confused, {a} and {b} first",
    "rows": "Add rows that show how {a} and {b} differ: no two classes are confused more often",
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
    """Return what to do first in one sentence; names are kept apart, whatever their direction."""
    summary, pairs = report.summary, report.pairs.pairs
    twins = [pair for pair in pairs if pair.twins]
    told = {"classes": count(summary.classes), "twins": count(len(twins))}
    told["suspects"] = format_count(report.suspects.total, "label", "labels")
    if pairs:
        first = (twins or pairs)[0]
        told |= {"a": name(first.a), "b": name(first.b)}
    return Markup(HEADLINES[_state(report, len(twins))]).format(**told)  # noqa: S704  (format escapes)


def _state(report: Report, twins: int) -> str:
    """Return which headline fits."""
    summary = report.summary
    if not summary.judged:
        return "unmeasured"
    if summary.guess.startswith(NO_BETTER):
        return "guess"
    if report.suspects.total:
        return "suspects and pairs" if twins else "suspects"
    if not summary.pairs:
        return "perfect"
    return {0: "rows", 1: "one pair"}.get(twins, "pairs")


def advice(pair: Pair) -> list[Markup]:
    """Return the advice for a pair, a sentence each, names kept apart."""
    return [
        Markup(template).format(**{key: name(str(value)) for key, value in values.items()})  # noqa: S704  (format escapes)
        for template, values in advice_of(pair)
    ]


def breakable(text: str) -> Markup:
    """Return a name that may break after the signs that join its words.

    >>> breakable("card_arrival <b>")
    Markup('card_<wbr>arrival &lt;b&gt;')
    """
    return Markup("<wbr>").join(JOINT.split(text))


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


NUMBERS = (percent, decimals, share, points, between, between_points, count, seconds)
TEXTS = (excerpt, cell, advice, breakable)
FILTERS: dict[str, Callable[..., Any]] = {function.__name__: function for function in (*NUMBERS, *TEXTS)}
