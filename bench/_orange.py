"""Orange's side of `bench/discretize.py`, run by a Python that has Orange: columns in, cut points and seconds out."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
import Orange  # type: ignore[import-not-found]
from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table  # type: ignore[import-not-found]
from Orange.preprocess.discretize import EntropyMDL  # type: ignore[import-not-found]


def cut_columns(X: Any, codes: Any, repeats: int) -> dict[str, Any]:
    """Return the cut points of each column, and the best times of cutting them all (making the table not counted)."""
    columns = [ContinuousVariable(f"x{i}") for i in range(X.shape[1])]
    label = DiscreteVariable("y", [str(c) for c in range(codes.max() + 1)])
    table = Table.from_numpy(Domain(columns, label), X, codes.astype(float))
    wall, processor, cut = float("inf"), float("inf"), EntropyMDL()
    for _ in range(repeats):
        start, started = time.perf_counter(), time.process_time()
        found = [cut(table, column) for column in columns]
        wall, processor = min(wall, time.perf_counter() - start), min(processor, time.process_time() - started)
    # A column without a cut becomes a constant, which keeps no points.
    cuts = [list(getattr(column.compute_value, "points", ())) for column in found]
    return {"version": Orange.__version__, "seconds": wall, "processor": processor, "cuts": cuts}


def main() -> None:
    """Read the columns that the benchmark wrote, write what Orange says about them."""
    path, repeats = sys.argv[1:]
    with np.load(path) as arrays:
        answer = cut_columns(arrays["X"], arrays["codes"], int(repeats))
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
