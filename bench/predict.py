"""`untwin predict` on a file larger than it may hold in memory: rows a second (clock, processor) and peak memory.

The file is JSON Lines made of the texts of the web directory, again and again until it is as large as asked for; the
model (fast preset, all its classes) is fitted to a sample of them. Run it with less (`--gigabytes 0.1`) to see that
memory does not depend on the size.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from bench._measure import parser, show

if TYPE_CHECKING:
    from argparse import Namespace

UNTWIN = [sys.executable, "-m", "untwin"]


def asked() -> Namespace:
    """Return the options."""
    options = parser(__doc__)
    options.add_argument("--gigabytes", type=float, default=2.0, help="size of the file")
    options.add_argument("--training-rows", type=int, default=6000, help="of the model")
    return options.parse_args()


def written(texts: list[str], size: float, path: Path) -> int:
    """Write the texts as JSON Lines until the file has `size` bytes; return how many rows it has."""
    lines = [json.dumps({"id": number, "text": text}, ensure_ascii=False) for number, text in enumerate(texts)]
    once = ("\n".join(lines) + "\n").encode()
    rounds = max(1, round(size / len(once)))
    with path.open("wb") as file:
        for _ in range(rounds):
            file.write(once)
    return rounds * len(lines)


def main() -> None:
    """Fit, write the file, predict it."""
    options = asked()
    texts = pl.read_parquet(options.data / "text" / "webdirectory.parquet").select("text", "label")
    training = texts.sample(min(options.training_rows, texts.height), seed=0, shuffle=True)
    with tempfile.TemporaryDirectory() as folder:
        table, model, rows = (Path(folder) / name for name in ("table.parquet", "model", "rows.jsonl"))
        training.write_parquet(table)
        subprocess.run([*UNTWIN, "fit", table, "-o", model, "--preset", "fast"], check=True, stdout=subprocess.DEVNULL)
        n_rows = written(texts["text"].to_list(), options.gigabytes * 1e9, rows)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, peak = predicted(model, rows)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        figures = {
            "gigabytes": round(rows.stat().st_size / 1e9, 2),
            "rows": n_rows,
            "seconds": seconds,
            "rows_a_second": round(n_rows / seconds),
            "cpu_seconds": used,
            "rows_a_cpu_second": round(n_rows / used),
            "peak_mib": peak,
        }
    show([figures], as_json=options.json)


def predicted(model: Path, rows: Path) -> tuple[float, float]:
    """Run `predict` and throw its output away; return its seconds and its own peak memory in MiB."""
    start = time.perf_counter()
    command = subprocess.Popen([*UNTWIN, "predict", model, rows], stdout=subprocess.DEVNULL)
    peak = 0.0
    while command.poll() is None:
        status = Path(f"/proc/{command.pid}/status").read_text()
        found = [int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")]
        peak = max([peak, *found])
        time.sleep(0.2)
    if command.returncode:
        raise SystemExit(command.returncode)
    return time.perf_counter() - start, peak


if __name__ == "__main__":
    main()
