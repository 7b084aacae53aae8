"""`MDLPDiscretizer` against Orange's `EntropyMDL`: seconds to cut all columns, and whether the cuts are the same.

Orange lives in an environment of its own: --orange names its Python. FImdlp is shown for information, on 20,000 rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from fimdlp.mdlp import FImdlp

from bench._measure import best_seconds, parser, show
from untwin.data.discretize import MDLPDiscretizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Columns = tuple[NDArray[np.float64], NDArray[np.intp]]

SETS = {"covertype": "covertype_100k.csv.gz", "adult": "adult.csv.gz", "letter": "letter.csv", "shuttle": "shuttle.csv"}
SYNTHETIC_ROWS = (125_000, 250_000, 500_000, 1_000_000)
FIMDLP_ROWS = 20_000


def read(path: Path) -> Columns:
    """Return the numeric columns of a table and its classes as numbers."""
    frame = pl.read_csv(path, infer_schema_length=None)
    numeric = [name for name in frame.columns if name != "class" and frame[name].dtype.is_numeric()]
    codes = np.unique(frame["class"].to_numpy(), return_inverse=True)[1]
    return frame.select(pl.col(numeric).cast(pl.Float64)).to_numpy(), codes


def synthetic(n_rows: int) -> Columns:
    """Return ten columns, all values distinct, that tell five classes apart from not at all to rather well."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, n_rows)
    return rng.normal(size=(n_rows, 10)) + codes[:, None] * np.linspace(0, 2, 10), codes


def tables(data: Path) -> Iterator[tuple[str, Columns]]:
    """Yield the real sets and the largest synthetic one."""
    for name, file in SETS.items():
        yield name, read(data / "tabular" / file)
    yield "synthetic", synthetic(SYNTHETIC_ROWS[-1])


def orange(python: Path, X: NDArray[np.float64], codes: NDArray[np.intp], repeats: int) -> dict[str, Any]:
    """Return what Orange finds, and in what time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "columns.npz"
        np.savez(path, X=X, codes=codes)
        worker = Path(__file__).with_name("_orange.py")
        done = subprocess.run([python, worker, path, str(repeats)], capture_output=True, check=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def sort_columns(X: NDArray[np.float64]) -> None:
    """Sort each column as any exact method must: with the classes in tow."""
    for column in X.T:
        np.argsort(np.ascontiguousarray(column))


def processor_seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the best processor time of this thread, which a busy machine disturbs less than the clock on the wall."""
    best = float("inf")
    for _ in range(repeats):
        start = time.thread_time()
        work()
        best = min(best, time.thread_time() - start)
    return best


def measured(name: str, X: NDArray[np.float64], codes: NDArray[np.intp], options: Any) -> dict[str, Any]:
    """Return the figures of one set: by the clock on all cores, and as processor time of one core."""
    clock = best_seconds({"fit": partial(MDLPDiscretizer().fit, X, codes)}, options.repeats)["fit"]
    processor = processor_seconds(partial(MDLPDiscretizer(n_jobs=1).fit, X, codes), options.repeats)
    sorting = processor_seconds(partial(sort_columns, X), options.repeats)
    row = {"set": name, "rows": X.shape[0], "columns": X.shape[1], "untwin s": clock, "processor s": processor}
    row["times sorting"] = processor / sorting
    if options.orange is None:
        return row | {"Orange s": "not given"}
    peer = orange(options.orange, X, codes, options.repeats)
    ours = [points.tolist() for points in MDLPDiscretizer().fit(X, codes).cut_points_]
    same = sum(found == points for found, points in zip(ours, peer["cuts"], strict=True))
    return row | {
        "Orange s": peer["seconds"],
        "Orange processor s": peer["processor"],
        "times as fast": peer["seconds"] / clock,
        "by processor": peer["processor"] / processor,
        "same cuts": f"{same} of {len(ours)} columns",
    }


def beside_fimdlp(name: str, X: NDArray[np.float64], codes: NDArray[np.intp], repeats: int) -> dict[str, Any]:
    """Return the times of both on the first rows."""
    X, codes = X[:FIMDLP_ROWS], np.unique(codes[:FIMDLP_ROWS], return_inverse=True)[1]
    peer = FImdlp()  # type: ignore[no-untyped-call]
    seconds = best_seconds(
        {"untwin": partial(MDLPDiscretizer().fit, X, codes), "FImdlp": partial(peer.fit, X, codes)}, repeats
    )
    return {"set": name, "rows": len(X), "untwin s": seconds["untwin"], "FImdlp s": seconds["FImdlp"]}


def growth(repeats: int) -> list[dict[str, Any]]:
    """Return the time against the number of rows, and its exponent, on all cores and as processor time of one."""
    rows: list[dict[str, Any]] = []
    for n in SYNTHETIC_ROWS:
        X, codes = synthetic(n)
        wall = best_seconds({"fit": partial(MDLPDiscretizer().fit, X, codes)}, repeats)["fit"]
        one_core = processor_seconds(partial(MDLPDiscretizer(n_jobs=1).fit, X, codes), repeats)
        rows.append({"synthetic rows": n, "all cores s": wall, "one core, processor s": one_core})
    times = {name: [row[name] for row in rows] for name in ("all cores s", "one core, processor s")}
    exponents = {name: float(np.polyfit(np.log(SYNTHETIC_ROWS), np.log(best), 1)[0]) for name, best in times.items()}
    return [*rows, {"synthetic rows": "exponent", **exponents}]


def main() -> None:
    """Cut all sets."""
    options = parser(__doc__)
    options.add_argument("--repeats", type=int, default=3, help="best of so many runs")
    options.add_argument("--orange", type=Path, help="the Python of an environment that has Orange")
    given = options.parse_args()
    rows, beside = [], []
    for name, (X, codes) in tables(given.data):
        print(name, file=sys.stderr)
        rows.append(measured(name, X, codes, given))
        beside.append(beside_fimdlp(name, X, codes, given.repeats))
    show([*rows, *beside, *growth(given.repeats)], as_json=given.json, cores=os.cpu_count())


if __name__ == "__main__":
    main()
