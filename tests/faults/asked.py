"""Ask models whatever one may ask, in a process of its own, since a model may be forged: `python asked.py`.

Reads lines of JSON, {"folder": ..., "rows": name in the zoo, "report": bool}, and writes one for each: {"said":
"refused", "answered" or "broken: ...", "seconds": of loading, "mebibytes": by which it raised the peak}.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import traceback
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from untwin._errors import UntwinError
from untwin.model import UntwinClassifier
from untwin.report import write_report
from untwin.store import ModelRefused


def main() -> None:
    rows = dict[str, Any]()
    warnings.simplefilter("ignore")  # strange numbers overflow
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        wanted = json.loads(line)
        if wanted["rows"] not in rows:
            rows[wanted["rows"]] = probes(wanted["rows"])
        out.write(json.dumps(asked(wanted["folder"], rows[wanted["rows"]], report=wanted["report"])) + "\n")
        out.flush()


def probes(kind: str) -> Any:
    sys.path[:0] = [str(Path(__file__).parent)]  # tests are no package
    from zoo import ROWS

    return ROWS[kind]()


def asked(folder: str, rows: Any, *, report: bool) -> dict[str, Any]:
    """Load a model and ask it; nothing but a refusal, or an error that tells the user what to do, may come of it."""
    Path("/proc/self/clear_refs").write_text("5")
    before, start = mebibytes("VmRSS"), time.process_time()
    cost = dict[str, float]()
    step = "load"
    try:
        try:
            model = UntwinClassifier.load(folder)
        finally:
            cost = {"seconds": time.process_time() - start, "mebibytes": mebibytes("VmHWM") - before}
        for now, ask in questions(model, rows, report=report):
            step = now
            with contextlib.suppress(UntwinError):
                ask()
    except ModelRefused as error:
        said = "refused" if step == "load" and error.exit_code == 3 else f"broken: {step}: {error}"
        return {"said": said, "why": str(error)[:200], **cost}
    except BaseException:
        return {"said": f"broken: {step}: {traceback.format_exc()[-700:]}", **cost}
    return {"said": "answered", **cost}


def questions(model: UntwinClassifier, rows: Any, *, report: bool) -> Any:
    some = rows[:8]
    labels = model.classes_[np.arange(8) % len(model.classes_)]
    yield "predict", lambda: check(model.predict_proba(some))
    yield "explain", lambda: model.explain(some[:2])
    yield "groups", lambda: model.predict_group(some)
    if report:
        with TemporaryDirectory() as name:
            yield "report", lambda: write_report(model, Path(name) / "report.html")
        yield "add", lambda: model.add(some, labels)


def check(chances: np.ndarray) -> None:
    if not np.isfinite(chances).all():
        raise AssertionError("probabilities that are no numbers")


def mebibytes(entry: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(entry)).split()[1]) / 1024


if __name__ == "__main__":
    main()
