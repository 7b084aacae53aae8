"""Figures as shapes: numbers in, coordinates out; the template writes them as SVG.

lines    {"x", "y": names of the axes, "series": [{"name", "x", "y"}], "marks": [{"x", "label"}], "log": for x}
heat     {"classes", "rates": true classes by rows}
tree     what `Hierarchy.to_dict` gives
points   {"points": [{"x", "y", "label"}]}

Colours belong to the style sheet: a shape names its class, series number n has class `s<n>`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from untwin.structure.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

WIDTH, HEIGHT = 620.0, 320.0
LEFT, RIGHT, TOP, BOTTOM = 62.0, 170.0, 14.0, 44.0
N_COLOURS = 8
LETTER = 6.2  # width of a letter


@dataclass
class Drawing:
    """Shapes on a canvas: (tag, attributes, text)."""

    width: float
    height: float
    shapes: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)

    def add(self, tag: str, text: str = "", **attributes: Any) -> None:
        """Add a shape; `kind` is its class, coordinates are rounded."""
        if "kind" in attributes:
            attributes["class"] = attributes.pop("kind")
        plain = {name.replace("_", "-"): _rounded(value) for name, value in attributes.items()}
        self.shapes.append((tag, plain, text))


class Axis:
    """Maps numbers to places between two ends of the canvas."""

    def __init__(self, values: ArrayLike, start: float, end: float, *, log: bool = False) -> None:
        self.log = log
        found = self._scaled(np.asarray(values, dtype=float))
        low, high = float(found.min()), float(found.max())
        margin = 0.0 if log else 0.04 * (high - low)
        self.low, self.high = low - margin, max(high + margin, low + 1e-9)
        self.start, self.end = start, end

    def place(self, values: ArrayLike) -> Floats:
        """Return where numbers lie."""
        share = (self._scaled(np.asarray(values, dtype=float)) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, values: ArrayLike) -> Floats:
        """Return numbers to write at the axis: round ones, or on a log scale the values themselves."""
        if self.log:
            return np.unique(np.asarray(values, dtype=float))
        step = 10.0 ** np.floor(np.log10((self.high - self.low) / 4))
        step *= next(factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (factor * step) <= 6)
        return np.asarray(np.arange(np.ceil(self.low / step), np.floor(self.high / step) + 1) * step)

    def _scaled(self, values: Floats) -> Floats:
        return np.asarray(np.log10(values) if self.log else values)


def drawn(figure: dict[str, Any]) -> Drawing:
    """Return the shapes of a figure."""
    kinds: dict[str, Callable[[dict[str, Any]], Drawing]] = {
        "lines": lines,
        "heat": heat,
        "tree": tree,
        "points": points,
    }
    return kinds[figure["kind"]](figure["content"])


def lines(content: dict[str, Any]) -> Drawing:
    """Draw series of points joined by lines."""
    canvas, series = Drawing(WIDTH, HEIGHT), content["series"]
    xs, ys = (np.concatenate([np.asarray(one[name], dtype=float) for one in series]) for name in ("x", "y"))
    across = Axis(xs, LEFT, WIDTH - RIGHT, log=content.get("log", False))
    up = Axis(ys, HEIGHT - BOTTOM, TOP)
    _frame(canvas, across, up, (xs, ys), (content["x"], content["y"]))
    for number, one in enumerate(series):
        colour = f"s{number % N_COLOURS}"
        placed = np.column_stack([across.place(one["x"]), up.place(one["y"])])
        canvas.add("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in placed), kind=f"line {colour}")
        if len(placed) <= 40:
            for x, y in placed:
                canvas.add("circle", cx=x, cy=y, r=2.5, kind=f"dot {colour}")
        at = TOP + 10 + 17 * number
        canvas.add("line", x1=WIDTH - RIGHT + 14, x2=WIDTH - RIGHT + 32, y1=at - 4, y2=at - 4, kind=f"line {colour}")
        canvas.add("text", one["name"], x=WIDTH - RIGHT + 38, y=at)
    for mark in content.get("marks", ()):
        x = float(across.place([mark["x"]])[0])
        canvas.add("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, kind="mark")
        canvas.add("text", mark["label"], x=x - 6, y=TOP + 12, text_anchor="end")
    return canvas


def _frame(canvas: Drawing, across: Axis, up: Axis, values: tuple[Any, Any], names: tuple[str, str]) -> None:
    """Draw axes with ticks and names."""
    floor = HEIGHT - BOTTOM
    canvas.add("polyline", points=f"{LEFT},{TOP} {LEFT},{floor} {WIDTH - RIGHT},{floor}", kind="axis")
    for tick in across.ticks(values[0]):
        x = float(across.place([tick])[0])
        canvas.add("text", f"{tick:.4g}", x=x, y=floor + 16, text_anchor="middle")
    for tick in up.ticks(values[1]):
        y = float(up.place([tick])[0])
        canvas.add("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, kind="grid")
        canvas.add("text", f"{tick:.4g}", x=LEFT - 6, y=y + 4, text_anchor="end")
    canvas.add("text", names[0], x=(LEFT + WIDTH - RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle")
    canvas.add("text", names[1], x=-(TOP + floor) / 2, y=14, text_anchor="middle", transform="rotate(-90)")


def heat(content: dict[str, Any]) -> Drawing:
    """Draw a matrix: the fuller a cell, the darker."""
    names, side = content["classes"], 24.0
    left = 10 + LETTER * max(map(len, names))
    canvas = Drawing(left + side * len(names) + 10, side * len(names) + 20)
    for row, (name, rates) in enumerate(zip(names, content["rates"], strict=True)):
        canvas.add("text", name, x=left - 6, y=10 + side * row + 16, text_anchor="end")
        for column, rate in enumerate(rates):
            place: dict[str, Any] = {
                "x": left + side * column,
                "y": 10 + side * row,
                "width": side - 1,
                "height": side - 1,
            }
            canvas.add("rect", **place, kind="cell", fill_opacity=0.04 + 0.96 * rate**0.5)
    return canvas


def tree(content: dict[str, Any]) -> Drawing:
    """Draw a tree of classes from the left (leaves) to the right (root)."""
    found = Hierarchy.from_dict(content)
    order: list[str] = list(map(str, found.order()))
    line = 14.0 if len(order) <= 60 else 10.0
    left = 10 + LETTER * max(map(len, order))
    canvas = Drawing(left + 420, line * len(order) + 30)
    scale = 400 / max(float(found.heights.max()), 1e-9)
    row_of = {name: 10 + line * (number + 0.5) for number, name in enumerate(order)}
    places = [(left, row_of[str(name)]) for name in found.classes]
    for name in order:
        canvas.add("text", name, x=left - 6, y=row_of[name] + 4, text_anchor="end")
    for (one, two), height in zip(found.merges.tolist(), found.heights.tolist(), strict=True):
        x = left + height * scale
        (x1, y1), (x2, y2) = places[one], places[two]
        canvas.add(
            "polyline", points=f"{x1:.1f},{y1:.1f} {x:.1f},{y1:.1f} {x:.1f},{y2:.1f} {x2:.1f},{y2:.1f}", kind="line s0"
        )
        places.append((x, (y1 + y2) / 2))
    return canvas


def points(content: dict[str, Any]) -> Drawing:
    """Draw points with their names, as arrows from the origin."""
    canvas, found = Drawing(WIDTH, HEIGHT), content["points"]
    xs, ys = ([0.0, *(one[name] for one in found)] for name in ("x", "y"))
    across, up = Axis(xs, LEFT, WIDTH - RIGHT), Axis(ys, HEIGHT - BOTTOM, TOP)
    _frame(canvas, across, up, (xs, ys), ("first direction", "second direction"))
    origin = float(across.place([0.0])[0]), float(up.place([0.0])[0])
    for number, one in enumerate(found):
        x, y = float(across.place([one["x"]])[0]), float(up.place([one["y"]])[0])
        canvas.add("line", x1=origin[0], y1=origin[1], x2=x, y2=y, kind=f"line s{number % N_COLOURS}")
        canvas.add("circle", cx=x, cy=y, r=4, kind=f"dot s{number % N_COLOURS}")
        canvas.add("text", one["label"], x=x + 8, y=y + 4)
    return canvas


def _rounded(value: Any) -> Any:
    return round(float(value), 2) if isinstance(value, float | np.floating) else value
