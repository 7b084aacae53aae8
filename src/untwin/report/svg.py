"""The kit for drawings: SVG elements, and scales from numbers to pixels.

The style sheet has the colours: a shape names its class. ElementTree escapes whatever is text.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Scale:
    """A straight map from numbers (or their logarithms) to pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def around(
        cls, values: Sequence[float], start: float, end: float, *, margin: float = 0.0, log: bool = False
    ) -> Scale:
        """Return the scale that holds all values, and a share of their range beside them.

        >>> Scale.around([2, 12], 0, 100, margin=0.1)
        Scale(low=1.0, high=13.0, start=0, end=100, log=False)
        """
        low, high = min(values), max(values)
        beside = margin * (high - low)
        return cls(low - beside, high + beside, start, end, log)

    def __call__(self, value: float) -> float:
        """Return where a number stands."""
        low, high, at = map(log10, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        share = (at - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, most: int = 5) -> list[float]:
        """Return round numbers inside the scale."""
        step = 10.0 ** np.floor(np.log10(max(self.high - self.low, 1e-9) / most))
        step *= next(factor for factor in (1, 2, 5, 10) if (self.high - self.low) / (step * factor) <= most)
        first = np.ceil(self.low / step - 1e-9) * step
        return [round(float(tick), 10) + 0.0 for tick in np.arange(first, self.high + step * 1e-6, step)]


def svg(width: float, height: float, label: str, kind: str = "chart") -> Element:
    """Return an empty drawing; `label` is what a screen reader says."""
    size = {"viewBox": f"0 0 {width:g} {height:g}", "width": f"{width:g}", "height": f"{height:g}"}
    return Element("svg", {**size, "class": kind, "role": "img", "aria-label": label})


def put(parent: Element, tag: str, text: str | None = None, **attributes: Any) -> Element:
    """Add a shape; `kind` is its class, underscores in names are hyphens."""
    named = {"class" if name == "kind" else name.replace("_", "-"): str(value) for name, value in attributes.items()}
    element = SubElement(parent, tag, named)
    element.text = text
    return element


def markup(drawing: Element) -> Markup:
    """Return a drawing as text that a template may take as it is."""
    return Markup(tostring(drawing, encoding="unicode"))  # noqa: S704  (ElementTree has escaped it)
