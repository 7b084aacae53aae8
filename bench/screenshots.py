"""The two pictures of the README, taken from the report of the demo's texts."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench._browser import chromium
from bench._measure import parser
from untwin import UntwinClassifier
from untwin.data.demo import demo_texts
from untwin.report import write_report

IMAGES = Path(__file__).parent.parent / "docs" / "images"
LARGEST = 200_000
WIDE = {"width": 1280, "height": 800}


def main(preset: str) -> None:
    """Fit the demo, write its report, take the pictures."""
    texts = demo_texts()
    model = UntwinClassifier(preset=preset).fit(texts["text"].to_list(), np.array(texts["label"].to_list()))
    IMAGES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, chromium() as browser:
        page = write_report(model, Path(folder, "demo.html")).as_uri()
        tab = browser.new_page(viewport=WIDE, reduced_motion="reduce")  # type: ignore[arg-type]
        tab.goto(page)
        tab.locator("html[data-ready]").wait_for(state="attached")
        tab.screenshot(path=IMAGES / "report-summary.png")
        tab.locator("#matrix").screenshot(path=IMAGES / "report-matrix.png")
    for image in sorted(IMAGES.glob("report-*.png")):
        size = image.stat().st_size
        print(f"{image.relative_to(IMAGES.parent.parent)}: {size:,} bytes")
        if size > LARGEST:
            raise SystemExit(f"{image.name} must have at most {LARGEST:,} bytes. Got {size:,} instead.")


if __name__ == "__main__":
    options = parser(__doc__)
    options.add_argument("--preset", default="balanced", help="of the model that is shown")
    main(options.parse_args().preset)
