"""Figures as SVG, drawn with the kit of the report: numbers in, markup out.

lines    {"x", "y": names of the axes, "series": [{"name", "x", "y"}], "marks": [{"x", "label"}], "log": for x}
heat     {"classes", "rates": true classes by rows}
tree     what `Hierarchy.to_dict` gives
points   {"points": [{"x", "y", "label"}]}

Colours belong to the style sheet: a shape names its class, series number n has class `s<n>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from untwin.report.svg import Scale, markup, put, svg
from untwin.structure.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from xml.etree.ElementTree import Element

    from markupsafe import Markup

WIDTH, HEIGHT = 620.0, 320.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 170.0, 14.0, 44.0
N_COLOURS = 8
LETTER = 6.2  # width of a letter
MARGIN = 0.04  # share of the range of the numbers
MOST_DOTS = 40


def draw(figure: dict[str, Any]) -> Markup:
    """Return a figure as SVG."""
    kinds: dict[str, Callable[[dict[str, Any], str], Element]] = {
        "lines": lines,
        "heat": heat,
        "tree": tree,
        "points": points,
    }
    return markup(kinds[figure["kind"]](figure["content"], figure["title"]))


def lines(content: dict[str, Any], title: str) -> Element:
    """Draw series of points joined by lines."""
    canvas, series, log = svg(WIDTH, HEIGHT, title), content["series"], content.get("log", False)
    xs, ys = ([value for one in series for value in one[name]] for name in ("x", "y"))
    across, up = _scales(xs, ys, log=log)
    _frame(canvas, across, up, sorted(set(xs)) if log else across.ticks(), (content["x"], content["y"]))
    for number, one in enumerate(series):
        colour = f"s{number % N_COLOURS}"
        placed = [(across(x), up(y)) for x, y in zip(one["x"], one["y"], strict=True)]
        put(canvas, "polyline", points=" ".join(f"{x},{y}" for x, y in placed), kind=f"line {colour}")
        for x, y in placed if len(placed) <= MOST_DOTS else ():
            put(canvas, "circle", cx=x, cy=y, r=2.5, kind=f"dot {colour}")
        at = TOP + 10 + 17 * number
        put(canvas, "line", x1=WIDTH - RIGHT + 14, x2=WIDTH - RIGHT + 32, y1=at - 4, y2=at - 4, kind=f"line {colour}")
        put(canvas, "text", one["name"], x=WIDTH - RIGHT + 38, y=at)
    for mark in content.get("marks", ()):
        x = across(mark["x"])
        put(canvas, "line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, kind="mark")
        put(canvas, "text", mark["label"], x=x - 6, y=TOP + 12, text_anchor="end")
    return canvas


def _scales(xs: Sequence[float], ys: Sequence[float], *, log: bool = False) -> tuple[Scale, Scale]:
    """Return scales that hold all points, with a margin; none beside a logarithmic one, whose ends are ticks."""
    across = Scale.around(xs, LEFT, WIDTH - RIGHT, margin=0.0 if log else MARGIN, log=log)
    return across, Scale.around(ys, HEIGHT - BOTTOM, TOP, margin=MARGIN)


def _frame(canvas: Element, across: Scale, up: Scale, x_ticks: Sequence[float], names: tuple[str, str]) -> None:
    """Draw axes with ticks and names."""
    floor = HEIGHT - BOTTOM
    put(canvas, "polyline", points=f"{LEFT},{TOP} {LEFT},{floor} {WIDTH - RIGHT},{floor}", kind="axis")
    for tick in x_ticks:
        put(canvas, "text", f"{tick:.4g}", x=across(tick), y=floor + 16, text_anchor="middle")
    for tick in up.ticks(most=6):
        put(canvas, "line", x1=LEFT, x2=WIDTH - RIGHT, y1=up(tick), y2=up(tick), kind="grid")
        put(canvas, "text", f"{tick:.4g}", x=LEFT - 6, y=up(tick) + 4, text_anchor="end")
    put(canvas, "text", names[0], x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle")
    put(canvas, "text", names[1], x=-(TOP + floor) / 2, y=14, text_anchor="middle", transform="rotate(-90)")


def heat(content: dict[str, Any], title: str) -> Element:
    """Draw a matrix: the fuller a cell, the darker."""
    names, side = content["classes"], 24.0
    left = 10 + LETTER * max(map(len, names))
    canvas = svg(left + side * len(names) + 10, side * len(names) + 20, title)
    for row, (name, rates) in enumerate(zip(names, content["rates"], strict=True)):
        put(canvas, "text", name, x=left - 6, y=10 + side * row + 16, text_anchor="end")
        for column, rate in enumerate(rates):
            x, y, depth = round(left + side * column, 1), 10 + side * row, round(0.04 + 0.96 * rate**0.5, 3)
            put(canvas, "rect", x=x, y=y, width=side - 1, height=side - 1, kind="cell", fill_opacity=depth)
    return canvas


def tree(content: dict[str, Any], title: str) -> Element:
    """Draw a tree of classes from the left (leaves) to the right (root)."""
    found = Hierarchy.from_dict(content)
    order: list[str] = list(map(str, found.order()))
    line = 14.0 if len(order) <= 60 else 10.0
    left = 10 + LETTER * max(map(len, order))
    canvas = svg(left + 420, line * len(order) + 30, title)
    scale = 400 / max(float(found.heights.max()), 1e-9)
    row_of = {name: 10 + line * (number + 0.5) for number, name in enumerate(order)}
    places = [(left, row_of[str(name)]) for name in found.classes]
    for name in order:
        put(canvas, "text", name, x=left - 6, y=row_of[name] + 4, text_anchor="end")
    for (one, two), height in zip(found.merges.tolist(), found.heights.tolist(), strict=True):
        x = left + height * scale
        (x1, y1), (x2, y2) = places[one], places[two]
        corners = ((x1, y1), (x, y1), (x, y2), (x2, y2))
        put(canvas, "polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in corners), kind="line s0")
        places.append((x, (y1 + y2) / 2))
    return canvas


def points(content: dict[str, Any], title: str) -> Element:
    """Draw points with their names, as arrows from the origin."""
    canvas, found = svg(WIDTH, HEIGHT, title), content["points"]
    across, up = _scales(*([0.0, *(one[name] for one in found)] for name in ("x", "y")))
    _frame(canvas, across, up, across.ticks(), ("first direction", "second direction"))
    for number, one in enumerate(found):
        x, y = across(one["x"]), up(one["y"])
        put(canvas, "line", x1=across(0), y1=up(0), x2=x, y2=y, kind=f"line s{number % N_COLOURS}")
        put(canvas, "circle", cx=x, cy=y, r=4, kind=f"dot s{number % N_COLOURS}")
        put(canvas, "text", one["label"], x=x + 8, y=y + 4)
    return canvas
