"""What sprinkling costs: processor seconds to decompose the documents with and without the sprinkled columns."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from papers.sprinkling.spaces import halves
from papers.timing import best_seconds
from untwin.represent.sprinkle import SprinkledLSI
from untwin.structure.plan import SprinklingPlan

if TYPE_CHECKING:
    from papers.datasets import LabelledTexts

STRENGTHS = (4.0, 400.0)  # columns a class: however many, they cost one column a class
PLAIN = "none"


def sprinkling_cost(texts: LabelledTexts, *, n_components: int = 100, repeats: int = 6) -> list[dict[str, Any]]:
    """Return the shortest of several times to fit each space on one training half."""
    half = next(halves(texts, 1))
    plans = {PLAIN: None, **{f"{s:g}": SprinklingPlan.uniform(s=s) for s in STRENGTHS}}
    spaces = {name: SprinkledLSI(n_components=n_components, plan=plan, random_state=0) for name, plan in plans.items()}
    seconds = best_seconds(
        {name: partial(space.fit, half.X, half.y) for name, space in spaces.items()}, repeats, time.process_time
    )
    place = {"set": texts.name, "documents": half.X.shape[0], "terms": half.X.shape[1], "k": n_components}
    return [
        {**place, "columns a class": name, "seconds": best, "share of plain LSI": best / seconds[PLAIN]}
        for name, best in seconds.items()
    ]
