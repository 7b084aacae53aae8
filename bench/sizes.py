"""How cost grows with rows and classes: `UntwinClassifier` from five texts to half a million.

Prints one line for each size, and the exponents of rows and of classes: seconds are about rows ** a * classes ** b,
fitted by least squares on the logarithms of sizes where work, and not the start of a process, takes the time. Texts are
made up, so `--data` is not needed.
"""

from __future__ import annotations

import argparse
import multiprocessing
from typing import TYPE_CHECKING, Any

import numpy as np

from bench._measure import show
from bench._sizes import at_size

if TYPE_CHECKING:
    from collections.abc import Sequence

GRID = tuple((rows, classes) for rows in (10_000, 40_000) for classes in (10, 50, 250))
SIZES = ((5, 2), (1_000, 369), *GRID, (20_000, 2_000), (500_000, 20))


def exponents(lines: Sequence[dict[str, Any]], measure: str) -> dict[str, float]:
    """Return the exponents of rows and classes by which a measure grows over the lines of the grid.

    >>> lines = [{"documents": n, "classes": c, "s": n * c**0.5} for n, c in GRID]
    >>> {name: round(value, 2) for name, value in exponents(lines, "s").items()}
    {'rows': 1.0, 'classes': 0.5}
    """
    some = [line for line in lines if (line["documents"], line["classes"]) in GRID]
    A = np.log([[np.e, line["documents"], line["classes"]] for line in some])
    _, rows, classes = np.linalg.lstsq(A, np.log([line[measure] for line in some]), rcond=None)[0]
    return {"rows": float(rows), "classes": float(classes)}


def main() -> None:
    """Run the sizes asked for, each in a process of its own."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", help="ignored: the texts are made up")
    options.add_argument("--json", action="store_true", help="print one object that holds all figures")
    options.add_argument("--preset", choices=("fast", "balanced", "best"), default="balanced")
    options.add_argument("--most", type=int, default=500_000, help="no size with more rows")
    given = options.parse_args()
    lines = []
    for n_rows, n_classes in SIZES:
        if n_rows <= given.most:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                lines.append(pool.apply(at_size, (n_rows, n_classes, given.preset)))
    growth = {f"exponents of {name}": exponents(lines, name) for name in ("fit s", "fit cpu s")}
    show(lines, as_json=given.json, **growth)


if __name__ == "__main__":
    main()
