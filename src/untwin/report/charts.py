"""Charts of the report, drawn with the kit in `svg`.

Glossary
--------
plot    the rectangle inside the axes; `Scale` maps numbers to its pixels
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from untwin.report.svg import Scale, markup, put, svg
from untwin.structure.linkage import spans

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from markupsafe import Markup

    from untwin.calibrate.kept import SetPoint, SharePoint
    from untwin.calibrate.reliability import Bin
    from untwin.report.summary import Measured
    from untwin.report.tree import Tree

WIDTH, HEIGHT = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 12, 36
ROW = 18  # height of a line of a dendrogram
BRANCHES = 300  # width of its branches
TENTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Line:
    """A series of points; `kind` is a class of the style sheet."""

    name: str
    kind: str
    x: Sequence[float]
    y: Sequence[float]


# ---------------------------------------------------------------------- in tables


def bar(value: float, most: float, label: str) -> Markup:
    """Return a bar for a cell of a table."""
    drawing = svg(80, 10, label, "inline")
    put(drawing, "rect", x=0, y=2, width=round(80 * value / most, 1) if most else 0, height=6, kind="bar")
    return markup(drawing)


def both_ways(left: float, right: float, most: float) -> Markup:
    """Return two bars that grow from the middle."""
    drawing = svg(120, 10, f"{left:g} one way, {right:g} the other", "inline")
    share = 59 / most if most else 0
    put(drawing, "rect", x=round(60 - left * share, 1), y=2, width=round(left * share, 1), height=6, kind="heat")
    put(drawing, "rect", x=60, y=2, width=round(right * share, 1), height=6, kind="heat weak")
    put(drawing, "line", x1=60, y1=0, x2=60, y2=10, kind="axis")
    return markup(drawing)


def whisker(share: Measured, low: float, high: float, *, chosen: bool) -> Markup:
    """Return a point with its interval on a scale that all rows of a table share."""
    drawing = svg(200, 14, "", "inline")
    drawing.set("aria-hidden", "true")
    at = Scale(low, high, 6, 194)
    put(drawing, "line", x1=6, y1=7, x2=194, y2=7, kind="grid")
    if share.value is not None and share.low is not None and share.high is not None:
        kind = "chosen" if chosen else "other"
        put(drawing, "line", x1=at(share.low), y1=7, x2=at(share.high), y2=7, kind=f"whisker {kind}")
        put(drawing, "circle", cx=at(share.value), cy=7, r=3.5, kind=f"dot {kind}")
    return markup(drawing)


# ---------------------------------------------------------------------- with axes


def plot(label: str, x: Scale, y: Scale, titles: tuple[str, str], x_ticks: Sequence[float]) -> Element:
    """Return axes with a few numbers."""
    drawing = svg(WIDTH, HEIGHT, label)
    for tick in y.ticks():
        put(drawing, "line", x1=LEFT, y1=y(tick), x2=WIDTH - RIGHT, y2=y(tick), kind="grid")
        put(drawing, "text", f"{tick:g}", x=LEFT - 6, y=y(tick) + 4, text_anchor="end")
    for tick in x_ticks:
        put(drawing, "text", f"{tick:g}", x=x(tick), y=HEIGHT - BOTTOM + 16, text_anchor="middle")
    put(drawing, "text", titles[0], x=WIDTH - RIGHT, y=HEIGHT - 4, text_anchor="end", kind="title")
    put(drawing, "text", titles[1], x=LEFT, y=TOP - 2, kind="title")
    return drawing


def _scales(lines: Sequence[Line], *, log: bool = False, zero: bool = False) -> tuple[Scale, Scale]:
    xs, ys = [v for line in lines for v in line.x], [v for line in lines for v in line.y]
    margin = 0.08 * (max(ys) - min(ys)) or 0.01
    bottom = 0.0 if zero else min(ys) - margin
    return (
        Scale(min(xs), max(xs), LEFT + 8, WIDTH - RIGHT - 8, log),
        Scale(bottom, max(ys) + margin, HEIGHT - BOTTOM, TOP + 8),
    )


def _drawn(drawing: Element, lines: Sequence[Line], x: Scale, y: Scale, *, dots: bool = True) -> None:
    for line in lines:
        points = [(x(a), y(b)) for a, b in zip(line.x, line.y, strict=True)]
        put(drawing, "polyline", points=" ".join(f"{a:g},{b:g}" for a, b in points), kind=f"line {line.kind}")
        for a, b in points if dots else ():
            put(drawing, "circle", cx=a, cy=b, r=3, kind=f"dot {line.kind}")


def accuracy_by_dimension(lines: Sequence[Line]) -> Markup:
    """Return accuracy against the number of dimensions, one line a space."""
    x, y = _scales(lines, log=True)
    label = "Accuracy of neighbours by dimension: " + "; ".join(f"{line.name} {line.y[-1]:.3f}" for line in lines)
    drawing = plot(label, x, y, ("dimensions", "accuracy"), lines[0].x)
    _drawn(drawing, lines, x, y)
    return markup(drawing)


def trade_off(strengths: Sequence[float], separation: Sequence[float], error: Sequence[float]) -> Markup:
    """Return paper 1's figure: as sprinkling grows, classes part (to the left) and documents get lost (upwards)."""
    line = Line("", "ours", separation, error)
    x, y = _scales([line])
    label = "Separation of classes against the share of the documents lost, as sprinkling grows"
    titles = "scatter within classes over between: lower is better", "share of the documents lost"
    drawing = plot(label, x, y, titles, x.ticks())
    _drawn(drawing, [line], x, y)
    for strength, a, b in zip(strengths, separation, error, strict=True):
        put(drawing, "text", f"{strength:g}", x=x(a) + 6, y=y(b) - 6, kind="note")
    return markup(drawing)


def merge_distances(tree: Tree) -> Markup:
    """Return the last merges with the cut and its range; from right to left groups are taken apart."""
    n_groups, n = tree.cut, len(tree.distances) + 1
    shown = tree.distances[-max(3 * max(n_groups, tree.high), 20) :]
    groups = [n - (n - 1 - len(shown)) - place - 1 for place in range(len(shown))]  # left after undoing from here
    line = Line("", "ours", [-g for g in groups], shown)
    x, y = _scales([line], zero=True)
    label = f"Distance of each merge; cut into {n_groups} groups, resampled {tree.low} to {tree.high}"
    drawing = plot(label, x, y, ("groups left", "distance of the merge"), [])
    for tick in {groups[0], groups[-1], n_groups}:
        put(drawing, "text", str(tick), x=x(-tick), y=HEIGHT - BOTTOM + 16, text_anchor="middle")
    left, right = x(max(-tree.high, -groups[0]) - 0.5), x(min(-tree.low, -groups[-1]) + 0.5)
    band = put(drawing, "rect", x=left, y=TOP, width=max(right - left, 2), height=HEIGHT - BOTTOM - TOP, kind="band")
    put(band, "title", f"{tree.low} to {tree.high} groups in resampled confusions")
    put(drawing, "line", x1=x(-n_groups), y1=TOP, x2=x(-n_groups), y2=HEIGHT - BOTTOM, kind="mark")
    _drawn(drawing, [line], x, y, dots=len(shown) <= 60)
    return markup(drawing)


def calibration(bins: Sequence[Bin]) -> Markup:
    """Return how often answers of a confidence are right; on the diagonal they can be taken at their word."""
    x, y = Scale(0, 1, LEFT + 8, WIDTH - RIGHT - 8), Scale(0, 1, HEIGHT - BOTTOM, TOP + 8)
    told = "; ".join(f"{one.confidence:.0%} sure, {one.accuracy:.0%} right" for one in bins)
    drawing = plot(f"Calibration: {told}", x, y, ("confidence", "share right"), [0, 0.25, 0.5, 0.75, 1])
    put(drawing, "line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), kind="axis dashed")
    most = max((one.rows for one in bins), default=1)
    for one in bins:
        size = round(2.5 + 7 * (one.rows / most) ** 0.5, 1)
        dot = put(drawing, "circle", cx=x(one.confidence), cy=y(one.accuracy), r=size, kind="dot ours")
        put(dot, "title", f"{one.rows:,} rows, {one.confidence:.0%} sure, {one.accuracy:.0%} right")
    return markup(drawing)


def answered(points: Sequence[SharePoint]) -> Markup:
    """Return how many of the surest answers are right, by their share of all rows."""
    line = Line("", "ours", [point.share for point in points], [1 - point.error for point in points])
    x, y = Scale(0, 1, LEFT + 8, WIDTH - RIGHT - 8), _scales([line])[1]
    some = points[:: max(1, len(points) // 5)]
    told = "; ".join(f"{point.share:.0%} answered, {1 - point.error:.1%} right" for point in some)
    drawing = plot(f"Accuracy by the share answered: {told}", x, y, ("share of the rows answered", "accuracy"), TENTHS)
    _drawn(drawing, [line], x, y, dots=len(points) <= 30)
    return markup(drawing)


def set_sizes(points: Sequence[SetPoint]) -> Markup:
    """Return how large sets of classes must be to hold the right one with a chance."""
    line = Line("", "ours", [point.coverage for point in points], [point.size for point in points])
    x, y = _scales([line])
    told = "; ".join(f"{point.coverage:.0%}: {point.size:.1f} classes" for point in points)
    drawing = plot(f"Size of sets by their coverage: {told}", x, y, ("coverage", "classes in a set, mean"), x.ticks())
    _drawn(drawing, [line], x, y)
    return markup(drawing)


# ---------------------------------------------------------------------- trees


class Layout(NamedTuple):
    """A tree with the place of every node: its middle in lines, its height; and the lines below it."""

    merges: Any
    middle: Any
    height: Any
    start: Any
    end: Any

    @classmethod
    def of(cls, tree: Tree) -> Layout:
        """Place the nodes; nothing happens below the lowest merge, so most of the way up to it is left out."""
        merges = np.asarray(tree.merges, dtype=np.intp).reshape(-1, 2)
        start, size = spans(merges)
        middle = start.astype(np.float64)
        for node, children in enumerate(merges, start=len(merges) + 1):
            middle[node] = middle[children].mean()
        floor = np.full(len(merges) + 1, 0.8 * min(tree.distances, default=0.0))
        return cls(merges, middle, np.concatenate([floor, tree.distances]), start, start + size)

    def merged(self, first: int, end: int) -> list[int]:
        """Return the inner nodes whose lines all lie in a range."""
        n = len(self.merges) + 1
        inside: list[int] = (n + np.flatnonzero((self.start[n:] >= first) & (self.end[n:] <= end))).tolist()
        return inside


def dendrograms(tree: Tree) -> list[Markup]:
    """Return the branches of every group, one line a class."""
    layout, first, drawn = Layout.of(tree), 0, []
    for group in tree.groups:
        drawn.append(_branches(layout, first, first + len(group.classes)))
        first += len(group.classes)
    return drawn


def _branches(layout: Layout, first: int, end: int) -> Markup:
    drawing = svg(BRANCHES + 4, ROW * (end - first), "", "branches")
    drawing.set("aria-hidden", "true")
    drawing.set("preserveAspectRatio", "none")  # narrower on paper, never lower: a line is a class
    nodes, height, n = layout.merged(first, end), layout.height, len(layout.merges) + 1
    x = Scale(height[0], max(height[nodes], default=height[0]), 2, BRANCHES)
    for node in nodes:
        left, right = layout.merges[node - n]
        top, bottom = (round(ROW * (layout.middle[child] - first + 0.5), 1) for child in (left, right))
        path = f"M{x(height[left])} {top}H{x(height[node])}V{bottom}H{x(height[right])}"
        put(drawing, "path", d=path, kind="branch")
    return markup(drawing)
