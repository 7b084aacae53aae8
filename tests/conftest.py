"""What several tests share: the installed command, and the folder of real data sets where there is one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # tests measure no time: machines are busy
settings.load_profile("untimed")

COMMAND = Path(sys.executable).parent / "untwin"


def run_untwin(*arguments: object, cwd: Path | None = None, stdin: bytes = b"", **environment: str):
    """Run the installed command and return the finished process."""
    return subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=300,
        check=False,
        env={**os.environ, "POLARS_MAX_THREADS": "1", **environment},
    )


@pytest.fixture
def untwin():
    """The installed command, as a function of its arguments."""
    return run_untwin


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets."""
    folder = os.environ.get("UNTWIN_DATA")
    if folder is None:
        pytest.skip("set UNTWIN_DATA to the folder of the real data sets to run this test")
    return Path(folder)
