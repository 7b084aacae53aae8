"""The report at 48, 300 and 1,000 classes: seconds to write, bytes, milliseconds until something is seen.

Needs no data: texts are made, twelve rows a class, and naive Bayes stands for all candidates. Findings are
looked for before the clock starts, as `untwin fit` saves them with the model.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from tests.report.made import made_model

from bench._browser import chromium
from bench._measure import arguments, show
from untwin.report import Report, write_report

if TYPE_CHECKING:
    import argparse

    from playwright.sync_api import Browser

SIZES = (48, 300, 1_000)
BUDGET = {48: 3_000_000, 300: 3_000_000, 1_000: 8_000_000}
FIRST_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
READY = "() => performance.now()"


def row(n_classes: int, folder: Path, browser: Browser, repeats: int) -> dict[str, float]:
    """Make, write and open the report of one model."""
    model = made_model(n_classes)
    model.measure()
    start = perf_counter()
    report = Report.of(model)
    read = perf_counter()
    path = write_report(report, folder / f"{n_classes}.html")
    written = perf_counter()
    seen = [_seen(browser, path) for _ in range(repeats)]
    return {
        "classes": n_classes,
        "views s": read - start,
        "page s": written - read,
        "bytes": path.stat().st_size,
        "of budget": path.stat().st_size / BUDGET[n_classes],
        "first paint ms": median(paint for paint, _ in seen),
        "ready ms": median(ready for _, ready in seen),
    }


def _seen(browser: Browser, path: Path) -> tuple[float, float]:
    """Return when the first text was painted and when the page answered, in milliseconds."""
    tab = browser.new_page()
    tab.goto(path.as_uri(), wait_until="commit")
    tab.locator("html[data-ready]").wait_for(state="attached")
    ready = float(tab.evaluate(READY))
    tab.wait_for_timeout(100)
    paint = float(tab.evaluate(FIRST_PAINT))
    tab.close()
    return paint, ready


def main(options: argparse.Namespace) -> None:
    """Run all sizes."""
    with TemporaryDirectory() as folder, chromium() as browser:
        rows = [row(size, Path(folder), browser, options.repeats) for size in SIZES]
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main(arguments(__doc__))
