"""`untwin demo`, the installed command."""

import json
import subprocess
import sys
from pathlib import Path

UNTWIN = Path(sys.executable).with_name("untwin")


def test_demo_classifies_well_and_names_the_twins():
    done = subprocess.run([UNTWIN, "demo", "--json"], capture_output=True, text=True, timeout=300, check=True)
    result = json.loads(done.stdout)
    assert result["schema_version"] == 1
    assert result["texts"] > 4_000
    assert 0.7 < result["accuracy"] < 0.95
    assert len(result["confused"]) == 10
    assert {("polars.lazyframe", "polars.dataframe"), ("polars.dataframe", "polars.lazyframe")} & {
        (pair["true"], pair["predicted"]) for pair in result["confused"]
    }
    assert "gathering texts" in done.stderr
