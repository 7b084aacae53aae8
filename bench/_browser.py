"""A real browser for benchmarks and screenshots: Debian's chromium, driven by playwright."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start chromium (`make browser` installs it, UNTWIN_CHROMIUM names another); containers need no sandbox."""
    path = os.environ.get("UNTWIN_CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("chromium must be installed: run `make browser`, or set UNTWIN_CHROMIUM.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
